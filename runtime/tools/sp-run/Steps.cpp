#include "Steps.h"

#include "Units.h"

#include "sprt/documents.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <set>

namespace {

using sprt::tools::bytesText;

bool isScalar(const sprt_array &array) {
  bool isFloat = array.dtype == SPRT_F64 || array.dtype == SPRT_F32 ||
                 array.dtype == SPRT_F16 || array.dtype == SPRT_BF16;
  return isFloat && array.dimensions == 0;
}

/// The result that says how a step went, or -1: the loss, not what is counted
/// on from step to step.
int64_t findValue(const sprt_program *program, const sprt_session *session,
                  const std::vector<sprt_array> &results) {
  std::set<int64_t> feeding;
  for (int64_t i = 0; i < sprt_program_input_count(program); ++i)
    feeding.insert(sprt_session_fed_by(session, i));
  int64_t first = -1;
  for (size_t i = results.size(); i-- > 0;) {
    int64_t number = static_cast<int64_t>(i);
    if (!isScalar(results[i]))
      continue;
    bool better = first < 0 || !feeding.count(number) || feeding.count(first);
    first = better ? number : first;
  }
  return first;
}

/// Tokens of a step: elements of the largest batch of integers, as ids and
/// labels are, else rows of the largest one; 0 without any.
int64_t countTokens(const sprt_program *program, const sprt_session *session) {
  int64_t ids = 0, rows = 0;
  for (int64_t i = 0; i < sprt_program_input_count(program); ++i) {
    sprt_parameter input = inputOf(program, i);
    if (input.dimensions == 0 || sprt_session_fed_by(session, i) >= 0)
      continue;
    bool isInteger = input.dtype >= SPRT_I64 && input.dtype <= SPRT_U8;
    int64_t count = 1;
    for (int32_t d = 0; d < input.dimensions - (isInteger ? 0 : 1); ++d)
      count *= input.shape[d];
    int64_t &most = isInteger ? ids : rows;
    if (isInteger || input.dimensions > 1)
      most = std::max(most, count);
  }
  return ids > 0 ? ids : rows;
}

/// "step 3: 0.69314718   81920 tokens/s   1.21 GiB a rank".
void printStep(const sprt_program *program, const sprt_session *session,
               int64_t step, sprt_dtype dtype, const Timings &timings) {
  std::printf("step %" PRId64 ": %.*g", step, dtype == SPRT_F64 ? 16 : 8,
              timings.values.back());
  if (timings.tokens > 0)
    std::printf("   %.0f tokens/s",
                static_cast<double>(timings.tokens) / timings.seconds.back());
  std::printf("   %s a rank\n", bytesText(peakBytes(program, session)).c_str());
  std::fflush(stdout);
}

/// The part of an input that a step reads; without data where it `isKept`, or
/// fed, from the step before.
sprt_array partOf(const sprt_array &input, int32_t dimensions, int64_t step,
                  bool isKept) {
  sprt_array part = input;
  if (input.dimensions == dimensions) {
    part.data = step == 0 || !isKept ? input.data : nullptr;
    return part;
  }
  part.dimensions = dimensions;
  part.shape = input.shape + 1;
  size_t bytes = sprt_dtype_size(input.dtype);
  for (int32_t d = 0; d < dimensions; ++d)
    bytes *= static_cast<size_t>(part.shape[d]);
  part.data =
      static_cast<char *>(input.data) + bytes * static_cast<size_t>(step);
  return part;
}

/// Batches for an input that a result feeds would never be read.
bool checkBatches(const sprt_program *program, const sprt_session *session,
                  const std::vector<sprt_array> &inputs) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    int64_t number = static_cast<int64_t>(i);
    sprt_parameter parameter = inputOf(program, number);
    int64_t result = sprt_session_fed_by(session, number);
    if (inputs[i].dimensions == parameter.dimensions || result < 0)
      continue;
    printError("expected \"arg" + std::to_string(i) + "\" once, as result" +
               std::to_string(result) +
               " feeds it from step 2 on, but got a batch for each step");
    return false;
  }
  return true;
}

} // namespace

bool applyFeeds(const sprt_program *program, sprt_session *session,
                const Options &options) {
  std::set<int64_t> fed;
  for (const Feed &feed : options.feeds)
    for (int64_t i = 0; i < feed.count; ++i) {
      if (failed(sprt_session_feed(session, feed.result + i, feed.input + i)))
        return false;
      if (fed.insert(feed.input + i).second)
        continue;
      printError("--feed names arg" + std::to_string(feed.input + i) +
                 " twice");
      return false;
    }
  bool any = false;
  for (int64_t i = 0; i < sprt_program_input_count(program); ++i)
    any |= sprt_session_fed_by(session, i) >= 0;
  if (!any && sprt_session_rank(session) == 0)
    std::fprintf(stderr, "sp-run: note: no result feeds an input, so no step "
                         "sees what another did; donate inputs, or say "
                         "--feed=result1:arg0\n");
  return true;
}

bool runSteps(const sprt_program *program, sprt_session *session,
              const Options &options, const std::vector<sprt_array> &inputs,
              std::vector<sprt_array> &results, Timings &timings) {
  if (!checkBatches(program, session, inputs))
    return false;
  int64_t value = findValue(program, session, results);
  timings.tokens = countTokens(program, session);
  std::vector<sprt_array> parts(inputs.size()), wanted = results;
  for (size_t i = 0; i < results.size(); ++i)
    if (static_cast<int64_t>(i) != value)
      wanted[i].data = nullptr;
  for (int64_t step = 0; step < options.steps; ++step) {
    // Where a step has other documents ranks have other parts of inputs.
    sprt_documents documents = {sizeof documents, 0, 0, 0};
    if (step > 0 && failed(sprt_session_documents(session, &documents)))
      return false;
    for (size_t i = 0; i < inputs.size(); ++i) {
      auto number = static_cast<int64_t>(i);
      bool isKept =
          documents.count == 0 || sprt_session_fed_by(session, number) >= 0;
      parts[i] =
          partOf(inputs[i], inputOf(program, number).dimensions, step, isKept);
    }
    if (step + 1 == options.steps)
      wanted = results;
    if (failed(sprt_session_step(
            session, parts.data(), static_cast<int64_t>(parts.size()),
            wanted.data(), static_cast<int64_t>(wanted.size()))))
      return false;
    if (!timings.add(program, session))
      return false;
    if (value < 0 || sprt_session_rank(session) != 0)
      continue;
    const sprt_array &array = results[static_cast<size_t>(value)];
    timings.values.push_back(sprt_array_element(array.dtype, array.data, 0));
    printStep(program, session, step + 1, array.dtype, timings);
  }
  return true;
}
