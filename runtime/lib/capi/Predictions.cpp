// What runs of a plan do, counted without running them.

#include "capi/SessionCall.h"
#include "sprt/documents.h"
#include "walk/Prediction.h"

using namespace sprt;

namespace {

/// Room for one prediction a rank, whose sizes the caller has set.
Status checkRoom(const sprt::Program &program, int64_t ranks,
                 const sprt_prediction *predictions) {
  if (!predictions)
    return nullArgument("out_predictions");
  if (ranks != program.ranks())
    return fail(SPRT_INVALID_ARGUMENT)
           << "expected room for " << program.ranks() << " predictions but got "
           << ranks;
  for (int64_t rank = 0; rank < ranks; ++rank)
    if (predictions[rank].size != sizeof *predictions)
      return wrongSize("sprt_prediction", sizeof *predictions,
                       predictions[rank].size);
  return Status::success();
}

/// Whether documents of a run may spare messages.
bool maySendLess(const sprt::Program &program) {
  return std::any_of(
      program.stepOf.begin(), program.stepOf.end(), [](const Step *step) {
        const plan::SendRecvT *transfer = step->command->operation.AsSendRecv();
        return transfer && transfer->needs && transfer->needs->documents >= 0;
      });
}

void give(const sprt::Program &program,
          const std::vector<Prediction> &predictions,
          sprt_prediction *out_predictions) {
  const plan::PlanT &plan = *program.plan;
  for (const Prediction &each : predictions) {
    int64_t arena =
        program.isForDevice() ? plan.arena_bytes : each.touchedBytes;
    *out_predictions++ = {sizeof *out_predictions,
                          each.bytesSent,
                          each.flops,
                          each.touchedBytes,
                          each.isExact,
                          each.farTouchedBytes,
                          each.farRead,
                          each.farWritten,
                          arena + plan.scratch_bytes + plan.constant_bytes};
  }
}

} // namespace

sprt_status *sprt_plan_predict(const void *plan, size_t planBytes,
                               const void *signatures, size_t signatureBytes,
                               int64_t ranks,
                               sprt_prediction *out_predictions) {
  return guarded([&]() -> Status {
    if (!plan)
      return nullArgument("plan");
    std::unique_ptr<sprt::Signatures> known;
    if (signatures) {
      known = std::make_unique<sprt::Signatures>();
      if (Status failure = known->read(signatures, signatureBytes))
        return failure;
    }
    sprt::Program program;
    if (Status failure = program.read(plan, planBytes, std::move(known)))
      return failure;
    if (Status failure = checkRoom(program, ranks, out_predictions))
      return failure;
    std::vector<Prediction> predictions;
    if (Status failure = predict(program, predictions))
      return failure;
    for (Prediction &each : predictions)
      each.isExact &= !maySendLess(program);
    give(program, predictions, out_predictions);
    return Status::success();
  });
}

sprt_status *sprt_session_predict(const sprt_session *session, int64_t ranks,
                                  sprt_prediction *out_predictions) {
  return alone(session, [&](auto &) -> Status {
    if (Status failure = checkRoom(session->program, ranks, out_predictions))
      return failure;
    std::vector<Prediction> predictions;
    if (Status failure = predict(session->program,
                                 session->documents.bindings(), predictions))
      return failure;
    give(session->program, predictions, out_predictions);
    return Status::success();
  });
}

sprt_status *sprt_session_documents(const sprt_session *session,
                                    sprt_documents *out_documents) {
  return alone(session, [&](auto &) -> Status {
    if (!out_documents)
      return nullArgument("out_documents");
    if (out_documents->size != sizeof *out_documents)
      return wrongSize("sprt_documents", sizeof *out_documents,
                       out_documents->size);
    out_documents->count = session->documents.count();
    out_documents->skipped = session->documents.areSkipping();
    out_documents->dealt = session->documents.areDealt();
    return Status::success();
  });
}

sprt_status *sprt_session_pieces(const sprt_session *session,
                                 const sprt_batch_piece **out_pieces,
                                 int64_t *out_count) {
  return alone(session, [&](auto &) -> Status {
    if (!out_pieces || !out_count)
      return nullArgument(out_pieces ? "out_count" : "out_pieces");
    const std::vector<sprt_batch_piece> &pieces = session->documents.pieces();
    *out_pieces = pieces.data();
    *out_count = static_cast<int64_t>(pieces.size());
    return Status::success();
  });
}
