#include "program/ValidateParts.h"

#include "program/Space.h"

namespace sprt {

Status checkSize(int64_t value, const char *what, int64_t least, int64_t most) {
  if (value < least || value > most)
    return fail(SPRT_DAMAGED) << "expected " << what << " of " << least
                              << " to " << most << " but got " << value;
  return Status::success();
}

Status PartValidator::checkExpr(const plan::ExprT *expression,
                                const char *what) const {
  return checkExpression(
      expression, {plan.factors.size(), counters, plan.layouts.size()}, what);
}

Status PartValidator::checkDocuments(int32_t documents, uint32_t queries,
                                     uint32_t keys) const {
  if (documents == -1)
    return Status::success();
  if (documents < 0 || static_cast<size_t>(documents) >= plan.documents.size())
    return fail(SPRT_DAMAGED)
           << "documents " << documents << " of " << plan.documents.size();
  const plan::DocumentsT &of = *plan.documents[static_cast<size_t>(documents)];
  for (auto [numbers, layout] :
       {std::pair(of.queries, queries), std::pair(of.keys, keys)})
    if (int64_t length = plan.document_numbers[numbers]->length,
        positions = plan.layouts[layout]->length;
        length != positions)
      return fail(SPRT_DAMAGED)
             << "documents of " << length << " positions of " << positions;
  return Status::success();
}

Status PartValidator::checkLayout(int64_t layout, const char *what) const {
  if (layout < 0 || static_cast<size_t>(layout) >= plan.layouts.size())
    return fail(SPRT_DAMAGED) << what << " names layout " << layout << " of "
                              << plan.layouts.size();
  return Status::success();
}

Status PartValidator::checkFactor(uint32_t factor) const {
  if (factor >= plan.factors.size())
    return fail(SPRT_DAMAGED)
           << "mesh factor " << factor << " of " << plan.factors.size();
  return Status::success();
}

Status PartValidator::checkView(const plan::ViewT *view, const char *what,
                                bool written, int64_t leastBytes,
                                bool mayBeFar) const {
  if (!view || !isEnum(view->space))
    return fail(SPRT_DAMAGED) << "no buffer for " << what;
  if (written && view->space == plan::Space::constant)
    return fail(SPRT_DAMAGED) << what << " would be written to constant memory";
  if (view->space == plan::Space::far && !mayBeFar)
    return fail(SPRT_DAMAGED)
           << what << " lies in far memory, which only copies reach";
  int64_t space = bytesOf(plan, view->space);
  if (view->bytes < leastBytes || view->bytes > space)
    return fail(SPRT_DAMAGED)
           << "expected " << what << " of " << leastBytes << " to " << space
           << " bytes but got " << view->bytes;
  if (Status failure = checkExpr(view->offset.get(), what))
    return failure;
  // Of every rank and step alike: what runs would say at the command.
  int64_t offset = 0;
  if (!isConstant(*view->offset))
    return Status::success();
  if (Status failure = evaluate(*view->offset, Scope(), offset))
    return failure;
  if (offset < 0 || offset > space - view->bytes)
    return fail(SPRT_DAMAGED) << what << " from byte " << offset << " to "
                              << offset + view->bytes << " of " << space;
  return Status::success();
}

Status PartValidator::checkStrided(const plan::StridedT *strided,
                                   const char *what, bool written) const {
  if (!strided)
    return fail(SPRT_DAMAGED) << "no buffer for " << what;
  for (int64_t value : {strided->batch, strided->batch_stride,
                        strided->row_stride, strided->head_stride})
    if (Status failure = checkSize(value, what))
      return failure;
  if (Status failure = checkSize(strided->inner_bytes, what, 1))
    return failure;
  return checkView(strided->view.get(), what, written);
}

Status PartValidator::checkRows(const plan::RowsT *rows,
                                const char *what) const {
  if (!rows)
    return fail(SPRT_DAMAGED) << "no rows for " << what;
  if (Status failure = checkLayout(rows->layout, what))
    return failure;
  return checkExpr(rows->owner.get(), what);
}

} // namespace sprt
