/// A walk through a plan: loops, decisions, and what commands mean for one rank
/// at one step, in shapes, places, peers and messages. What is done at a
/// command is for those who walk; nothing here needs memory, a thread or a
/// communicator.
#ifndef SPRT_LIB_WALK_WALK_H
#define SPRT_LIB_WALK_WALK_H

#include "sprt/algebra/Heads.h"
#include "sprt/kernel.h"
#include "sprt/types.h"
#include "support/Message.h"
#include "walk/RankView.h"
#include "walk/RowOfBatch.h"

namespace sprt {

/// Bytes of an element.
inline int64_t sizeOf(plan::DType type) {
  return static_cast<int64_t>(sprt_dtype_size(static_cast<sprt_dtype>(type)));
}

/// The numbers of one step of attention or of its gradients.
struct AttendShape {
  int64_t batch = 0, heads = 0, headFirst = 0, kvFirst = 0;
  int64_t kvHeads = 0; ///< from kvFirst on
  int64_t queryOwner = 0, keyOwner = 0;
  int64_t queries = 0, keys = 0; ///< valid local rows
  int64_t blocks = 0;            ///< of queries

  int64_t pairs() const { return batch * heads; }
};

/// How many multiplications and additions each pair has: of scores and sums.
inline int64_t productsOf(const plan::AttendT &attend) {
  return attend.head_size + attend.value_size;
}
/// Of scores and of dQ and dK; of dP and of dV.
inline int64_t productsOf(const plan::AttendBackwardT &backward) {
  return 3 * backward.head_size + 2 * backward.value_size;
}

/// Memory that something of a command has to itself.
struct Taken {
  const char *name;
  std::byte *begin;
  int64_t bytes;

  bool overlaps(const Taken &other) const {
    return begin < other.begin + other.bytes && other.begin < begin + bytes;
  }
};

/// A SendRecv of one rank at one step.
struct Transfer {
  int64_t to = 0, from = 0;
  Message outgoing, incoming;
};

/// A collective's messages: one for each member of the group, or one for all.
struct GroupMessages {
  Group group;
  std::vector<Message> outgoing, incoming;

  /// Without what a member keeps for itself.
  int64_t bytesToOthers() const {
    int64_t bytes = 0;
    for (int64_t member = 0; member < group.size(); ++member)
      if (member != group.index)
        bytes += messageBytes(outgoing[static_cast<size_t>(member)]);
    return bytes;
  }
};

/// What its messages come to: bytes to others, and what is read and written.
struct GroupSums {
  int64_t bytes = 0;
  Message touched;
};

/// What the command at hand moves among ranks.
class GroupWalk {
protected:
  explicit GroupWalk(RankView &self)
      : self(self), program(self.program), here(*self.bindings),
        scope{&self.coordinates, &counters, &here.bound().layouts} {}

  Status resolve(const plan::ExchangeT &exchange,
                 GroupMessages &out_messages) const;
  /// Of an exchange no messages yet, and what one value adds to them.
  GroupMessages messagesOf(const plan::ExchangeT &exchange) const;
  Status resolve(const plan::ExchangeT &exchange, const plan::MovedT &moved,
                 GroupMessages &messages) const;
  /// Without a message for each member, where that can be.
  Status sum(const plan::ExchangeT &exchange, GroupSums &out_sums);
  Status sum(const plan::ReduceScatterT &reduce, GroupSums &out_sums);
  /// To other ranks: as a reduce-scatter of everybody's parts and an all-gather
  /// of one's own.
  int64_t bytesSent(const plan::AllReduceT &reduce) const;
  /// One piece a value.
  Status resolve(const plan::AllReduceT &reduce, Message &out_data);
  /// `incoming` is one message, the targets.
  Status resolve(const plan::ReduceScatterT &reduce,
                 GroupMessages &out_messages);

  /// So many rows and heads of a block.
  Status strided(const plan::StridedT &strided, int64_t rows, int64_t heads,
                 Piece &out_piece) const;

  RankView &self;
  const Program &program;
  std::vector<int64_t> counters;
  /// Where the command at hand is.
  RowOfBatch here;
  Scope scope;

private:
  /// Adds what members send and receive of one value of an exchange, from rows
  /// to rows or else.
  Status redealt(const plan::ExchangeT &exchange, const plan::MovedT &moved,
                 GroupMessages &messages) const;
  Status exchanged(const plan::ExchangeT &exchange, const plan::MovedT &moved,
                   GroupMessages &messages) const;
  /// Adds the first rows of source and target.
  Status touchRows(const plan::MovedT &moved, int64_t read, int64_t written,
                   int64_t heads, Message &touched) const;
};

class Walk : protected GroupWalk {
public:
  virtual ~Walk() = default;

protected:
  explicit Walk(RankView &self) : GroupWalk(self) {}
  using GroupWalk::resolve;

  /// What is to be done at a command, in the program's order.
  virtual Status visit(const Step &step) = 0;
  /// The value in `view` on which the rest of `step` depends.
  virtual Status decide(const Step &step, const plan::ViewT &view,
                        plan::DType type, int64_t &out_value) = 0;
  /// Before the turns of a Loop, which are so many, and after each turn of any
  /// loop: a failure ends it.
  virtual Status turning(int64_t) { return Status::success(); }
  virtual Status turned(const Step &) { return Status::success(); }

  Status walk(const std::vector<Step> &steps);
  /// Walks into a Loop, While or Case.
  virtual Status control(const Step &step);

  /// Whether `when` lets the command run.
  Status enabled(const plan::CommandT &command, bool &out_enabled) const;
  /// Adds rank, command and step to a failure that has none.
  Status located(Status failure, const Step &step) const {
    return located(std::move(failure), step, counters);
  }
  Status located(Status failure, const Step &step,
                 const std::vector<int64_t> &at) const;

  /// A kernel's buffer.
  Status aligned(const plan::ViewT &view, std::byte *&out_data) const;
  Status shapeOf(const plan::AttendT &attend, AttendShape &out_shape) const;
  Status shapeOf(const plan::AttendBackwardT &backward,
                 AttendShape &out_shape) const;
  /// The first buffers of the kernel, in their order: each holds its rows and
  /// heads, and what is written overlaps with none.
  Status resolve(const plan::AttendBackwardT &backward,
                 const AttendShape &shape,
                 std::vector<void *> &out_buffers) const;
  /// A rank that is its own peer receives as much as it sends.
  Status resolve(const Step &step, const plan::SendRecvT &transfer,
                 Transfer &out_transfer);

private:
  Status loop(const Step &step, const plan::LoopT &loop);
  Status whileLoop(const Step &step, const plan::WhileT &loop);
  Status choose(const Step &step, const plan::CaseT &choice);

  /// The blocks that travel from `sender`, who is this rank, to `receiver`, or
  /// the other way round, as one message.
  Status blocks(const Step &step, const plan::SendRecvT &transfer,
                const std::vector<std::unique_ptr<plan::BlockT>> &list,
                int64_t sender, int64_t receiver, Message &out_message);
};

} // namespace sprt

#endif // SPRT_LIB_WALK_WALK_H
