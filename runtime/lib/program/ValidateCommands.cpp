#include "program/Extent.h"
#include "program/Validate.h"
#include "sprt/types.h"

#include <set>

namespace sprt {

Status CommandValidator::check(const plan::LaunchT &launch) {
  const plan::SignatureT *signature = nullptr;
  if (Status failure = kernels.check(launch.kernel, plan::KernelKind::launch,
                                     launch.scratch_bytes, signature))
    return failure;
  if (Status failure = checkSize(launch.tiles, "tiles"))
    return failure;
  if (Status failure = checkSize(launch.flops, "FLOPs", 0, INT64_MAX))
    return failure;
  for (const auto &buffer : launch.buffers)
    if (Status failure =
            parts.checkView(buffer.get(), "a buffer", /*written=*/false))
      return failure;
  return signature ? checkOperands(launch, *signature, parts)
                   : Status::success();
}

Status CommandValidator::check(const plan::GemmT &gemm) {
  bool bf16 = gemm.type == plan::DType::bf16;
  if (!bf16 && gemm.type != plan::DType::f32)
    return fail(SPRT_UNSUPPORTED)
           << "a gemm of type " << int(gemm.type) << ", expected f32 or bf16";
  if (gemm.out_type != plan::DType::f32 &&
      !(bf16 && gemm.out_type == plan::DType::bf16))
    return fail(SPRT_UNSUPPORTED)
           << "a gemm with results of type " << int(gemm.out_type);
  for (int64_t size : {gemm.batch, gemm.m, gemm.n, gemm.k})
    if (Status failure = checkSize(size, "a size of a gemm", 1))
      return failure;
  struct Operand {
    const plan::ViewT *view;
    const std::vector<int64_t> &strides;
    int64_t rows, columns;
    plan::DType type;
    bool written;
  };
  for (const Operand &operand :
       {Operand{gemm.a.get(), gemm.a_strides, gemm.m, gemm.k, gemm.type, false},
        Operand{gemm.b.get(), gemm.b_strides, gemm.k, gemm.n, gemm.type, false},
        Operand{gemm.c.get(), gemm.c_strides, gemm.m, gemm.n, gemm.out_type,
                true}}) {
    if (Status failure = checkStrides(operand.strides, "a gemm"))
      return failure;
    auto element = static_cast<int64_t>(
        sprt_dtype_size(static_cast<sprt_dtype>(operand.type)));
    Extent extent{{gemm.batch, operand.rows, operand.columns, 1}, {}, element};
    for (size_t dim = 0; dim < 3; ++dim)
      extent.strides[dim] = operand.strides[dim] * element;
    if (Status failure =
            parts.checkView(operand.view, "a gemm operand", operand.written))
      return failure;
    // What is written is apart, and what is read but for the batch.
    if (Status failure = checkExtent(extent, operand.view->bytes,
                                     "a gemm operand", operand.written))
      return failure;
    extent.counts[0] = 1;
    if (Status failure =
            checkExtent(extent, operand.view->bytes, "a gemm operand"))
      return failure;
  }
  if (!isEnum(gemm.activation))
    return fail(SPRT_DAMAGED)
           << "unknown activation " << int(gemm.activation) << " of a gemm";
  if (gemm.onto && (gemm.bias || gemm.activation != plan::Activation::none ||
                    gemm.out_type != plan::DType::f32))
    return fail(SPRT_DAMAGED)
           << "a gemm that is added to what is there has "
              "results of type "
           << int(gemm.out_type)
           << ", a bias or an activation, expected f32 alone";
  if (!gemm.bias)
    return Status::success();
  int64_t element = static_cast<int64_t>(
      sprt_dtype_size(static_cast<sprt_dtype>(gemm.out_type)));
  return parts.checkView(gemm.bias.get(), "the bias of a gemm",
                         /*written=*/false, gemm.n * element);
}

Status CommandValidator::check(const plan::SendRecvT &transfer) {
  if (Status failure = parts.checkExpr(transfer.to.get(), "the receiving rank"))
    return failure;
  if (Status failure = parts.checkExpr(transfer.from.get(), "the sending rank"))
    return failure;
  for (const auto *blocks : {&transfer.sends, &transfer.receives})
    for (const auto &block : *blocks) {
      if (!block)
        return fail(SPRT_DAMAGED) << "an empty block";
      if (Status failure = parts.checkStrided(block->strided.get(), "a block",
                                              blocks == &transfer.receives))
        return failure;
      if (Status failure = parts.checkRows(block->rows.get(), "a block"))
        return failure;
      if (Status failure =
              parts.checkExpr(block->heads.get(), "the heads of a block"))
        return failure;
    }
  return transfer.needs ? checkNeeds(transfer) : Status::success();
}

Status CommandValidator::checkNeeds(const plan::SendRecvT &transfer) {
  const plan::NeedsT &needs = *transfer.needs;
  if (Status failure = parts.checkFactor(needs.factor))
    return failure;
  if (Status failure = parts.checkLayout(needs.queries, "a ring"))
    return failure;
  int64_t ranks = plan.factors[needs.factor]->size;
  if ((needs.step != 1 && needs.step != -1) || needs.stride < 1 ||
      needs.size < 1 || needs.size > ranks || ranks % needs.size != 0 ||
      ranks / needs.size % needs.stride != 0 || needs.hops < 0)
    return fail(SPRT_DAMAGED)
           << "a ring of " << ranks << " that turns by " << needs.step
           << " over " << needs.hops << " hops of " << needs.size
           << " ranks at stride " << needs.stride;
  std::vector<uint32_t> dealt = {needs.queries};
  for (const auto *blocks : {&transfer.sends, &transfer.receives})
    for (const auto &block : *blocks)
      dealt.push_back(block->rows->layout);
  for (uint32_t layout : dealt) {
    const plan::LayoutT &rows = *plan.layouts[layout];
    if (needs.straight && rows.kind == plan::LayoutKind::batch)
      return fail(SPRT_DAMAGED) << "rows of a batch that go straight";
    if (rows.ranks * rows.split != ranks)
      return fail(SPRT_DAMAGED)
             << "rows are dealt to " << rows.ranks * rows.split
             << " owners in a ring of " << ranks;
    if (rows.kind == plan::LayoutKind::batch &&
        (needs.stride != 1 || needs.size != ranks || rows.split != 1))
      return fail(SPRT_DAMAGED)
             << "rows of a batch, which go round among all that share them, in "
                "a ring of "
             << needs.size << " ranks at stride " << needs.stride;
  }
  for (size_t i = 1; i < dealt.size(); ++i)
    if (Status failure =
            parts.checkDocuments(needs.documents, needs.queries, dealt[i]))
      return failure;
  return checkBands(needs.bands);
}

Status CommandValidator::checkMoved(const plan::MovedT *moved, uint32_t factor,
                                    bool areParts, const char *what) {
  if (!moved)
    return fail(SPRT_DAMAGED) << "no value in " << what;
  if (Status failure = parts.checkLayout(moved->layout, what))
    return failure;
  int64_t group = plan.factors[factor]->size;
  const plan::LayoutT &rows = *plan.layouts[moved->layout];
  int64_t owners = areParts ? rows.split : rows.ranks * rows.split;
  if (owners != group)
    return fail(SPRT_DAMAGED) << "rows are dealt to " << owners
                              << " owners in a group of " << group;
  std::string of = std::string(" of ") + what;
  if (Status failure = parts.checkStrided(moved->source.get(),
                                          ("the source" + of).c_str(), false))
    return failure;
  if (Status failure = parts.checkStrided(moved->target.get(),
                                          ("the target" + of).c_str(), true))
    return failure;
  if (moved->source->batch != moved->target->batch ||
      moved->source->inner_bytes != moved->target->inner_bytes)
    return fail(SPRT_DAMAGED)
           << "source and target" << of << " differ in batch or element";
  return Status::success();
}

Status CommandValidator::check(const plan::ExchangeT &exchange) {
  if (Status failure = parts.checkFactor(exchange.factor))
    return failure;
  if (!isEnum(exchange.direction))
    return fail(SPRT_DAMAGED)
           << "unknown direction " << int(exchange.direction);
  if (exchange.values.empty())
    return fail(SPRT_DAMAGED) << "an exchange of nothing";
  for (const auto &moved : exchange.values)
    if (Status failure = checkMoved(moved.get(), exchange.factor,
                                    exchange.owner != nullptr, "an exchange"))
      return failure;
  int64_t group = plan.factors[exchange.factor]->size;
  if (exchange.owner)
    if (Status failure =
            parts.checkExpr(exchange.owner.get(), "the owner of an exchange"))
      return failure;
  for (int64_t heads : {exchange.heads_total, exchange.head_count})
    if (Status failure = checkSize(heads, "heads", 1, kMaxHeads))
      return failure;
  if (exchange.head_layout >= 0) {
    if (Status failure = parts.checkLayout(exchange.head_layout, "an exchange"))
      return failure;
    const plan::LayoutT &heads =
        *plan.layouts[static_cast<size_t>(exchange.head_layout)];
    if (heads.ranks * heads.split != group ||
        heads.kind != plan::LayoutKind::contiguous ||
        heads.length != exchange.heads_total)
      return fail(SPRT_DAMAGED) << "expected " << exchange.heads_total
                                << " heads dealt in contiguous parts to "
                                << group << " owners but got " << heads.length
                                << " to " << heads.ranks * heads.split;
  }
  bool isRedealt = exchange.direction == plan::Direction::rowsToRows;
  if (isRedealt != (exchange.onto >= 0) ||
      (isRedealt && (exchange.owner || exchange.head_layout >= 0)) ||
      exchange.by < -algebra::Layout::maxLength ||
      exchange.by > algebra::Layout::maxLength)
    return fail(SPRT_DAMAGED)
           << "an exchange " << plan::EnumNameDirection(exchange.direction)
           << " onto layout " << exchange.onto << " by " << exchange.by;
  if (isRedealt) {
    if (Status failure =
            parts.checkLayout(exchange.onto, "the target of an exchange"))
      return failure;
    const plan::LayoutT &onto =
        *plan.layouts[static_cast<size_t>(exchange.onto)];
    if (int64_t takers = onto.ranks * onto.split; takers != group && takers > 1)
      return fail(SPRT_DAMAGED) << "rows are dealt to " << takers
                                << " owners in a group of " << group;
  }
  return Status::success();
}

static Status checkReduction(plan::DType type, plan::Reduction kind) {
  if (!isEnum(type) || !isEnum(kind))
    return fail(SPRT_DAMAGED) << "unknown type or kind of reduction";
  bool logical = kind == plan::Reduction::land || kind == plan::Reduction::lor;
  bool complex = type == plan::DType::c64 || type == plan::DType::c128;
  if (logical != (type == plan::DType::i1) ||
      (complex && kind != plan::Reduction::sum))
    return fail(SPRT_UNSUPPORTED)
           << "a reduction by " << plan::EnumNameReduction(kind) << " of "
           << plan::EnumNameDType(type);
  return Status::success();
}

Status CommandValidator::check(const plan::AllReduceT &reduce) {
  for (uint32_t factor : reduce.factors)
    if (Status failure = parts.checkFactor(factor))
      return failure;
  // An axis and a part of it, or one twice, would count ranks twice.
  std::set<uint32_t> factors(reduce.factors.begin(), reduce.factors.end());
  bool hasPart = false;
  int64_t members = 1;
  for (uint32_t factor : factors) {
    hasPart |= plan.factors[factor]->is_part;
    members = std::min(members * plan.factors[factor]->size, plan.ranks + 1);
  }
  bool isOne = reduce.factors.size() == 1;
  if (factors.size() != reduce.factors.size() || factors.empty() ||
      (hasPart && !isOne))
    return fail(SPRT_DAMAGED)
           << "expected an all-reduce along different axes but got "
           << reduce.factors.size() << " factors, "
           << (hasPart ? "some of them parts of axes"
                       : "not all of them different");
  if (members > plan.ranks)
    return fail(SPRT_DAMAGED)
           << "an all-reduce of more than all " << plan.ranks << " ranks";
  if (Status failure = checkReduction(reduce.type, reduce.kind))
    return failure;
  if (reduce.views.empty())
    return fail(SPRT_DAMAGED) << "an all-reduce of nothing";
  int64_t element = static_cast<int64_t>(
      sprt_dtype_size(static_cast<sprt_dtype>(reduce.type)));
  for (const auto &view : reduce.views) {
    if (Status failure =
            parts.checkView(view.get(), "an all-reduce", /*written=*/true))
      return failure;
    if (view->bytes % element != 0)
      return fail(SPRT_DAMAGED)
             << "an all-reduce of " << view->bytes << " bytes, not of whole "
             << plan::EnumNameDType(reduce.type);
  }
  return Status::success();
}

Status CommandValidator::check(const plan::ReduceScatterT &reduce) {
  if (Status failure = parts.checkFactor(reduce.factor))
    return failure;
  if (Status failure = checkReduction(reduce.type, reduce.kind))
    return failure;
  if (reduce.values.empty())
    return fail(SPRT_DAMAGED) << "a reduce-scatter of nothing";
  auto element = static_cast<int64_t>(
      sprt_dtype_size(static_cast<sprt_dtype>(reduce.type)));
  for (const auto &moved : reduce.values) {
    if (Status failure = checkMoved(moved.get(), reduce.factor,
                                    /*areParts=*/false, "a reduce-scatter"))
      return failure;
    for (const plan::StridedT *rows :
         {moved->source.get(), moved->target.get()})
      for (int64_t bytes :
           {rows->inner_bytes, rows->batch_stride, rows->row_stride})
        if (bytes % element != 0)
          return fail(SPRT_DAMAGED)
                 << "a reduce-scatter of rows of " << rows->inner_bytes
                 << " bytes, " << rows->row_stride << " apart, not of whole "
                 << plan::EnumNameDType(reduce.type);
  }
  return Status::success();
}

Status CommandValidator::check(const plan::RowsTableT &table) {
  bool integer =
      table.type == plan::DType::i32 || table.type == plan::DType::i64 ||
      table.type == plan::DType::u32 || table.type == plan::DType::u64;
  if (!isEnum(table.query) || !integer)
    return fail(SPRT_UNSUPPORTED)
           << "a table of rows of type " << int(table.type)
           << ", expected an integer of 32 or 64 bits";
  if (Status failure = parts.checkRows(table.rows.get(), "a table of rows"))
    return failure;
  if (Status failure = checkSize(table.count, "rows"))
    return failure;
  int64_t element = static_cast<int64_t>(
      sprt_dtype_size(static_cast<sprt_dtype>(table.type)));
  int64_t count = table.query == plan::RowsQuery::count ? 1 : table.count;
  int64_t most = layouts[table.rows->layout].maxCount();
  if (table.query == plan::RowsQuery::positions && most > count)
    return fail(SPRT_DAMAGED)
           << "a table of " << count << " positions for " << most << " rows";
  int64_t bytes = 0;
  if (__builtin_mul_overflow(count, element, &bytes))
    return fail(SPRT_DAMAGED) << "the size of a table overflows";
  return parts.checkView(table.target.get(), "a table of rows",
                         /*written=*/true, bytes);
}

} // namespace sprt
