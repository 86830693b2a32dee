#include "executor/RunArrays.h"

#include "support/Types.h"

#include <cstdlib>
#include <cstring>

namespace sprt {

namespace {

bool sameShape(const sprt_array &array, const std::vector<int64_t> &shape) {
  return static_cast<size_t>(array.dimensions) == shape.size() &&
         std::equal(shape.begin(), shape.end(), array.shape);
}

Status mismatch(const ParameterInfo &info, const char *what,
                const std::string &expected, const std::string &got) {
  return fail(SPRT_INVALID_ARGUMENT)
         << "expected " << what << " " << expected << " for \""
         << info.parameter->name << "\" but got " << got;
}

Status checkArray(const ParameterInfo &info, const sprt_array &array) {
  if (array.size != sizeof(sprt_array))
    return fail(SPRT_INVALID_ARGUMENT)
           << "expected arrays of " << sizeof(sprt_array) << " bytes for \""
           << info.parameter->name << "\" but got " << array.size;
  if (!sprt_dtype_accepts(info.dtype, array.dtype))
    return mismatch(info, "elements of type", sprt_dtype_name(info.dtype),
                    sprt_dtype_name(array.dtype));
  if (array.dimensions < 0 || (array.dimensions > 0 && !array.shape) ||
      !sameShape(array, info.shape))
    return mismatch(info, "shape", shapeText(info.shape), shapeText(array));
  return Status::success();
}

int64_t globalBytes(const ParameterInfo &info) {
  return *elementCount(info.shape) *
         static_cast<int64_t>(sprt_dtype_size(info.dtype));
}

} // namespace

Status RunArrays::open(bool areProcesses, int64_t rank) {
  isDistributed = areProcesses;
  speaker = rank;
  for (const ParameterInfo &result : program.results)
    if (Status failure = firstHolders(program, result, holders.emplace_back()))
      return failure;
  return Status::success();
}

Status RunArrays::checkInputs(const sprt_array *inputs, int64_t count,
                              bool mayKeep) const {
  if (count != static_cast<int64_t>(program.inputs.size()))
    return fail(SPRT_INVALID_ARGUMENT) << "expected " << program.inputs.size()
                                       << " inputs but got " << count;
  for (int64_t i = 0; i < count; ++i) {
    const ParameterInfo &info = program.inputs[static_cast<size_t>(i)];
    if (mayKeep && !inputs[i].data)
      continue;
    if (!inputs[i].data && globalBytes(info) > 0)
      return fail(SPRT_INVALID_ARGUMENT)
             << "no data for \"" << info.parameter->name << "\"";
    if (Status failure = checkArray(info, inputs[i]))
      return failure;
  }
  return Status::success();
}

Status RunArrays::prepareResults(sprt_array *results, int64_t count) const {
  if (count != static_cast<int64_t>(program.results.size()))
    return fail(SPRT_INVALID_ARGUMENT) << "expected " << program.results.size()
                                       << " results but got " << count;
  for (int64_t i = 0; i < count; ++i) {
    const ParameterInfo &info = program.results[static_cast<size_t>(i)];
    if (results[i].data) {
      if (Status failure = checkArray(info, results[i]))
        return failure;
      continue;
    }
    if (results[i].size != sizeof(sprt_array))
      return fail(SPRT_INVALID_ARGUMENT)
             << "expected arrays of " << sizeof(sprt_array) << " bytes but got "
             << results[i].size;
    results[i].dtype = info.dtype;
    results[i].dimensions = static_cast<int32_t>(info.shape.size());
    results[i].shape = info.shape.data();
    if (speaker != 0)
      continue;
    results[i].data = std::calloc(
        1, static_cast<size_t>(std::max<int64_t>(1, globalBytes(info))));
    if (!results[i].data)
      return fail(SPRT_FAILED) << "no memory for \"" << info.parameter->name
                               << "\" of " << globalBytes(info) << " bytes";
  }
  return Status::success();
}

Status RunArrays::checkResults(const sprt_array *results, int64_t count) const {
  if (count != static_cast<int64_t>(program.results.size()))
    return fail(SPRT_INVALID_ARGUMENT) << "expected " << program.results.size()
                                       << " results but got " << count;
  for (int64_t i = 0; i < count; ++i)
    if (results[i].data)
      if (Status failure =
              checkArray(program.results[static_cast<size_t>(i)], results[i]))
        return failure;
  return Status::success();
}

Status bufferOf(const Rank &rank, const ParameterInfo &info,
                std::byte *&out_data) {
  std::vector<int64_t> counters;
  Scope scope{&rank.coordinates, &counters, &rank.bindings->whole.layouts};
  return rank.resolve(*info.parameter->view, scope, out_data)
      .within("\"" + info.parameter->name + "\"");
}

/// Where a rank has its part of an array, and which part that is.
static Status locate(const Rank &rank, const ParameterInfo &info,
                     Placement &out_placement, std::byte *&out_data) {
  if (Status failure = bufferOf(rank, info, out_data))
    return failure;
  return Placement::create(rank.program, *rank.bindings, info, rank.number,
                           out_placement);
}

Status RunArrays::place(Rank &rank, const sprt_array *inputs) const {
  for (size_t i = 0; i < program.inputs.size(); ++i) {
    const ParameterInfo &info = program.inputs[i];
    if (!inputs[i].data)
      continue;
    std::byte *local = nullptr;
    Placement placement;
    if (Status failure = locate(rank, info, placement, local))
      return failure;
    if (Status failure = rank.place(
            placement, static_cast<const std::byte *>(inputs[i].data), local))
      return failure;
  }
  return Status::success();
}

Status RunArrays::collect(Rank &rank, const sprt_array *results,
                          const std::vector<bool> &wanted) const {
  for (size_t i = 0; i < program.results.size(); ++i) {
    if (!wanted[i])
      continue;
    const ParameterInfo &info = program.results[i];
    std::byte *local = nullptr;
    Placement placement;
    if (Status failure = locate(rank, info, placement, local))
      return failure;
    bool holds = holders[i][static_cast<size_t>(rank.number)];
    std::byte *global = static_cast<std::byte *>(results[i].data);
    bool keeps = !isDistributed || rank.number == 0;
    if (holds && keeps)
      if (Status failure = rank.collect(placement, local, global))
        return failure;
    if (!isDistributed)
      continue;
    if (Status failure = keeps
                             ? receive(rank, i, global)
                             : send(rank, holds, local, placement.localBytes()))
      return failure;
  }
  return Status::success();
}

Status RunArrays::send(Rank &rank, bool holds, const std::byte *local,
                       int64_t bytes) const {
  if (!holds || bytes == 0)
    return Status::success();
  const std::byte *data = nullptr;
  if (Status failure = rank.fetch(local, bytes, data))
    return failure;
  RequestPtr request;
  if (Status failure = rank.communicator->send(
          0, kControlChannel,
          denseMessage(const_cast<std::byte *>(data), bytes), request))
    return failure;
  return rank.communicator->wait(*request);
}

Status RunArrays::receive(Rank &rank, size_t result, std::byte *global) const {
  const ParameterInfo &info = program.results[result];
  std::vector<std::byte> staging;
  for (int64_t peer = 1; peer < program.ranks(); ++peer) {
    Placement placement;
    if (!holders[result][static_cast<size_t>(peer)])
      continue;
    if (Status failure =
            Placement::create(program, *rank.bindings, info, peer, placement))
      return failure;
    if (placement.localBytes() == 0)
      continue;
    staging.resize(static_cast<size_t>(placement.localBytes()));
    RequestPtr request;
    Message message = denseMessage(staging.data(), placement.localBytes());
    if (Status failure =
            rank.communicator->receive(peer, kControlChannel, message, request))
      return failure;
    if (Status failure = rank.communicator->wait(*request))
      return failure;
    placement.gather(staging.data(), 0, placement.localBytes(), global);
  }
  return Status::success();
}

} // namespace sprt
