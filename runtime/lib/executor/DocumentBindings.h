/// What the masks of a program show, and how its layouts are dealt, once a
/// run's documents are known.
#ifndef SPRT_LIB_EXECUTOR_DOCUMENTBINDINGS_H
#define SPRT_LIB_EXECUTOR_DOCUMENTBINDINGS_H

#include "executor/Feeds.h"
#include "sprt/algebra/Documents.h"
#include "sprt/batch.h"

#include <optional>

namespace sprt {

class Session;

class DocumentBindings {
public:
  explicit DocumentBindings(const Program &program);
  ~DocumentBindings();

  /// Makes ready what computes numbers of documents, unless it `isStopped`.
  Status open(const sprt_session_options &options,
              const std::atomic<bool> &isStopped);
  /// Reads the inputs that say documents: those without data are as before,
  /// unless results feed them, which nobody knows yet.
  Status read(const sprt_array *inputs, const Feeds &feeds, bool &out_changed);
  /// Ends a read under way. Any thread may call it.
  void interrupt();

  const Bindings &bindings() const { return bound; }
  /// Tells documents, and how they are dealt, from others in any process.
  const std::string &identity() const { return hash; }
  /// Whether layouts follow documents, and these are known.
  bool areDealt() const { return hasDeal; }
  /// Documented at `sprt_session_pieces`.
  const std::vector<sprt_batch_piece> &pieces() const { return listed; }
  /// Of all rows of all numbers.
  int64_t count() const;
  /// Documented at `sprt_documents`.
  bool areSkipping() const { return isCut; }

private:
  /// A mask of more bands costs more than it saves.
  static constexpr size_t kMostBands = size_t(1) << 16;

  /// Takes numbers as data has them; whether they are others than before.
  bool take(size_t number, const void *data, const ParameterInfo &info);
  /// Nobody knows them.
  bool forget(size_t number);
  Status compute(const sprt_array *inputs, const Feeds &feeds,
                 bool &out_changed);
  /// Runs the documents program on what is kept; a result each.
  Status number(std::vector<std::vector<std::byte>> &out_numbers);
  void cut();
  /// By the documents of a row, or of all as one.
  void cut(Binding &binding, std::optional<size_t> row);
  /// Which owners have which documents, where layouts follow them; inputs that
  /// lie as others were dealt must come anew.
  Status deal(const sprt_array *inputs);
  Status deal(Binding &binding,
              const std::optional<algebra::Documents> &documents, size_t row,
              std::vector<int64_t> &loads);
  void digest();
  /// Lists what each rank has of documents that are dealt.
  Status list();

  const Program &program;
  /// By the plan's number; nothing is known of them before a run.
  std::vector<std::optional<algebra::Documents>> known;
  std::unique_ptr<Session> numbering; ///< of the documents program
  /// Its inputs as they were given last; nobody knows those that are fed.
  std::vector<std::optional<std::vector<std::byte>>> kept;
  const std::atomic<bool> *stopped = nullptr;
  Bindings bound;
  std::vector<Binding> dealt; ///< layouts of the last run, by row
  std::vector<sprt_batch_piece> listed;
  std::string hash;
  bool isCut = false, hasDeal = false;
};

} // namespace sprt

#endif // SPRT_LIB_EXECUTOR_DOCUMENTBINDINGS_H
