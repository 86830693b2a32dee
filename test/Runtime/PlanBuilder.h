/// Plans built by hand, and programs made of them, for tests.
#ifndef SP_TEST_RUNTIME_PLANBUILDER_H
#define SP_TEST_RUNTIME_PLANBUILDER_H

#include "sprt/cuda/Emulated.h"
#include "sprt/plan_generated.h"
#include "sprt/sprt.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace sprt::test {

/// A postfix expression under construction.
struct Expr {
  std::vector<plan::Term> terms;

  Expr(int64_t value) : Expr(plan::ExprOp::constant, value) {}
  Expr(plan::ExprOp op, int64_t value) : terms{plan::Term(op, value)} {}

  static Expr coordinate(int64_t factor) {
    return {plan::ExprOp::coordinate, factor};
  }
  static Expr counter(int64_t depth) { return {plan::ExprOp::counter, depth}; }
  Expr rows(int64_t layout) const;
  Expr apply(plan::ExprOp op, const Expr &other) const;
  Expr operator+(const Expr &other) const {
    return apply(plan::ExprOp::add, other);
  }
  Expr operator*(const Expr &other) const {
    return apply(plan::ExprOp::mul, other);
  }
  Expr operator%(const Expr &other) const {
    return apply(plan::ExprOp::mod, other);
  }
  Expr operator<(const Expr &other) const {
    return apply(plan::ExprOp::lt, other);
  }
  std::unique_ptr<plan::ExprT> build() const;
};

std::unique_ptr<plan::ViewT> view(const Expr &offset, int64_t bytes,
                                  plan::Space space = plan::Space::arena);
/// Rows of `rowBytes`, one batch, one head.
std::unique_ptr<plan::StridedT> rowsOf(const Expr &offset, int64_t bytes,
                                       int64_t rowBytes);
std::unique_ptr<plan::RowsT> rows(uint32_t layout, const Expr &owner);
std::unique_ptr<plan::MovedT> moved(uint32_t layout,
                                    std::unique_ptr<plan::StridedT> source,
                                    std::unique_ptr<plan::StridedT> target);
std::unique_ptr<plan::BlockT> block(std::unique_ptr<plan::StridedT> strided,
                                    std::unique_ptr<plan::RowsT> rows,
                                    const Expr &heads = 1);

/// A plan and the kernels it calls.
class PlanBuilder {
public:
  explicit PlanBuilder(int64_t ranks);

  using Commands = std::vector<std::unique_ptr<plan::CommandT>>;

  /// Adds an operation to `into` (default: the program) and returns its
  /// command.
  template <typename Operation>
  plan::CommandT &add(Operation operation, Commands *into = nullptr) {
    auto command = std::make_unique<plan::CommandT>();
    command->operation.Set(std::move(operation));
    Commands &list = into ? *into : plan.commands;
    list.push_back(std::move(command));
    return *list.back();
  }

  uint32_t kernel(const std::string &symbol, sprt_kernel function);
  /// A kernel for both targets.
  template <sprt_kernel function> uint32_t kernel(const std::string &symbol) {
    onGrid[symbol] = [](void *const *arguments, sprt_grid_thread *thread) {
      if (thread->thread == 0)
        function(arguments, nullptr, thread->block, thread->block + 1, nullptr);
    };
    return kernel(symbol, function);
  }
  /// Makes the plan one for a target. Of one for GPUs, the kernels are those of
  /// its emulation, attention by `emulateAttention`.
  PlanBuilder &target(plan::Target target);
  void emulateAttention(const std::string &symbol,
                        sprt_emulated_kernel function);
  uint32_t layout(plan::LayoutKind kind, int64_t length, int64_t ranks,
                  int64_t split = 1);
  uint32_t event() { return plan.events++; }
  /// Reserves 64-byte aligned arena bytes.
  int64_t arena(int64_t bytes);

  /// A parameter; each dimension is {size} or {size, layout} owned by
  /// coordinate 0.
  struct Dim {
    int64_t size;
    int layout = -1;
  };
  void input(const std::string &name, plan::DType type,
             const std::vector<Dim> &dims, int64_t offset);
  void result(const std::string &name, plan::DType type,
              const std::vector<Dim> &dims, int64_t offset);

  std::vector<uint8_t> bytes() const;
  /// Loads the plan; the status's text when that fails.
  std::string load(sprt_program **out_program) const;

  plan::PlanT plan;
  std::map<std::string, sprt_kernel> kernels;

private:
  std::map<std::string, sprt_emulated_thread> onGrid;
  std::unique_ptr<plan::ParameterT> parameter(const std::string &name,
                                              plan::DType type,
                                              const std::vector<Dim> &dims,
                                              int64_t offset);
};

/// The text of a status, which is freed; empty for success.
std::string take(sprt_status *status);

/// What programs are for: GPUs are emulated here.
inline constexpr plan::Target kTargets[] = {plan::Target::cpu,
                                            plan::Target::cuda};

/// A loaded program with one session; of a program for GPUs on the emulated
/// device.
class Runner {
public:
  explicit Runner(const PlanBuilder &builder, int threads = 1,
                  double timeout = 20);
  ~Runner();

  /// Creates the session, with what tests change in its options.
  std::string open(const sprt_session_options &options);
  /// Runs on f32 inputs, results in `results`. The status's text.
  std::string run(const std::vector<std::vector<float>> &inputs);
  sprt_rank_statistics statistics(int64_t rank) const;

  sprt_session_options options;
  sprt_program *program = nullptr;
  sprt_session *session = nullptr;
  std::vector<std::vector<float>> results;
};

} // namespace sprt::test

/// Expects that a text contains another.
#define EXPECT_THAT_CONTAINS(text, part)                                       \
  EXPECT_PRED2(                                                                \
      [](const std::string &whole, const std::string &piece) {                 \
        return whole.find(piece) != std::string::npos;                         \
      },                                                                       \
      text, part)

#endif // SP_TEST_RUNTIME_PLANBUILDER_H
