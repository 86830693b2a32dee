#include "executor/Feeds.h"

#include "executor/RunArrays.h"
#include "support/Types.h"

namespace sprt {

namespace {

/// One result that becomes an input.
struct Move {
  std::byte *target;
  const std::byte *source;
  int64_t bytes;
  bool isDone = false;
  bool isSaved = false;
  std::vector<std::byte> saved = {}; ///< what the source held
  size_t readers = 0; ///< moves to come that read what this one overwrites

  bool overwrites(const Move &other) const {
    return target < other.source + other.bytes && other.source < target + bytes;
  }
};

/// Moves whose results may lie where other inputs are: those that nobody needs
/// any more, and those that are results themselves. A move waits for all that
/// read what it overwrites; of moves that wait for each other one is saved.
///
///     w1' lies in w2, w2' elsewhere     w1' to w1, then w2' to w2
///     results are b and a               save b, a to b, what was saved to a
class Moves {
public:
  Moves(Rank &rank, std::vector<Move> moves)
      : rank(rank), moves(std::move(moves)) {}

  Status run() {
    for (Move &move : moves)
      for (const Move &other : moves)
        move.readers += move.overwrites(other);
    for (Move &move : moves)
      if (move.readers == 0)
        ready.push_back(&move);
    for (Move &move : moves) {
      if (Status failure = runReady())
        return failure;
      if (move.isDone)
        continue;
      if (Status failure = save(move))
        return failure;
    }
    return runReady();
  }

private:
  Status runReady() {
    while (!ready.empty()) {
      Move &move = *ready.back();
      ready.pop_back();
      if (Status failure =
              move.isSaved
                  ? rank.store(move.target, move.saved.data(), move.bytes)
                  : rank.copy(move.target, move.source, move.bytes))
        return failure;
      move.isDone = true;
      if (!move.isSaved)
        release(move);
      move.saved = {};
    }
    return Status::success();
  }

  Status save(Move &move) {
    const std::byte *data = nullptr;
    if (Status failure = rank.fetch(move.source, move.bytes, data))
      return failure;
    move.saved.assign(data, data + move.bytes);
    move.isSaved = true;
    release(move);
    return Status::success();
  }

  /// What a move read may be overwritten.
  void release(const Move &read) {
    for (Move &move : moves)
      if (!move.isDone && move.overwrites(read) && --move.readers == 0)
        ready.push_back(&move);
  }

  Rank &rank;
  std::vector<Move> moves;
  std::vector<Move *> ready;
};

std::string typeText(const ParameterInfo &info) {
  std::string text;
  for (int64_t size : info.shape)
    text += std::to_string(size) + "x";
  return text + sprt_dtype_name(info.dtype);
}

/// "[1000 by zigzag of 4, 64]": what each dimension is dealt by.
std::string dealtText(const Program &program, const ParameterInfo &info) {
  std::string text;
  for (const auto &dim : info.parameter->dims) {
    text += text.empty() ? "[" : ", ";
    for (const auto &atom : dim->atoms) {
      text +=
          (atom == dim->atoms.front() ? "" : "*") + std::to_string(atom->size);
      if (atom->layout < 0)
        continue;
      const plan::LayoutT &layout =
          *program.plan->layouts[static_cast<size_t>(atom->layout)];
      text += std::string(" by ") + plan::EnumNameLayoutKind(layout.kind) +
              " of " + std::to_string(layout.ranks * layout.split);
    }
  }
  return text.empty() ? "[]" : text + "]";
}

Status checkNumber(int64_t number, size_t count, const char *what) {
  if (number < 0 || number >= static_cast<int64_t>(count))
    return fail(SPRT_INVALID_ARGUMENT)
           << "expected one of " << count << " " << what << "s but got " << what
           << " " << number;
  return Status::success();
}

} // namespace

Feeds::Feeds(const Program &program)
    : program(program), results(program.inputs.size()) {
  for (std::atomic<int64_t> &each : results)
    each = -1;
}

Status Feeds::addDonated() {
  for (size_t i = 0; i < results.size(); ++i)
    if (int64_t result = program.inputs[i].parameter->donated_to; result >= 0)
      if (Status failure = add(result, static_cast<int64_t>(i)))
        return failure;
  return Status::success();
}

Status Feeds::add(int64_t result, int64_t input) {
  if (Status failure = checkNumber(result, program.results.size(), "result"))
    return failure;
  if (Status failure = checkNumber(input, program.inputs.size(), "input"))
    return failure;
  const ParameterInfo &from = program.results[static_cast<size_t>(result)];
  const ParameterInfo &to = program.inputs[static_cast<size_t>(input)];
  if (from.dtype != to.dtype || from.shape != to.shape)
    return fail(SPRT_INVALID_ARGUMENT)
           << "expected result \"" << from.parameter->name
           << "\" to feed an input of its type, " << typeText(from)
           << ", but \"" << to.parameter->name << "\" is " << typeText(to);
  if (isDealtByBatch(program, to))
    return fail(SPRT_INVALID_ARGUMENT)
           << "expected result \"" << from.parameter->name << "\" to feed an "
           << "input that ranks have alike in each step but \""
           << to.parameter->name << "\" is dealt by the documents of its step, "
           << dealtText(program, to);
  bool alike = false;
  if (Status failure = dealtAlike(program, from, to, alike))
    return failure;
  if (!alike)
    return fail(SPRT_INVALID_ARGUMENT)
           << "expected result \"" << from.parameter->name << "\" and input \""
           << to.parameter->name
           << "\", which it feeds, to be dealt to ranks alike but got "
           << dealtText(program, from) << " and " << dealtText(program, to)
           << "; the compiler deals what is donated alike";
  results[static_cast<size_t>(input)] = result;
  return Status::success();
}

int64_t Feeds::resultOf(int64_t input) const {
  bool known = input >= 0 && input < static_cast<int64_t>(results.size());
  return known ? results[static_cast<size_t>(input)].load() : -1;
}

Status Feeds::move(Rank &rank, const sprt_array *inputs) const {
  std::vector<Move> moves;
  for (size_t i = 0; i < program.inputs.size(); ++i) {
    if (inputs[i].data || results[i] < 0)
      continue;
    const ParameterInfo &to = program.inputs[i];
    std::byte *source = nullptr, *target = nullptr;
    if (Status failure = bufferOf(
            rank, program.results[static_cast<size_t>(results[i])], source))
      return failure;
    if (Status failure = bufferOf(rank, to, target))
      return failure;
    int64_t bytes = *elementCount(to.localShape) *
                    static_cast<int64_t>(sprt_dtype_size(to.dtype));
    if (bytes > 0 && source != target)
      moves.push_back({target, source, bytes});
  }
  return Moves(rank, std::move(moves)).run();
}

} // namespace sprt
