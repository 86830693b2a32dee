#include "Programs.h"

#include "sprt/algebra/Layout.h"

namespace sprt::test {

namespace {

/// buffers: block, sum. A tile is one row.
void addRows(void *const *buffers, const int64_t *, int64_t first, int64_t last,
             void *) {
  const float *block = static_cast<const float *>(buffers[0]);
  float *sum = static_cast<float *>(buffers[1]);
  for (int64_t i = first * kRingWidth; i < last * kRingWidth; ++i)
    sum[i] += block[i];
}

} // namespace

PlanBuilder ringSum(int64_t ranks, int64_t length, plan::LayoutKind kind) {
  PlanBuilder builder(ranks);
  uint32_t dealt = builder.layout(kind, length, ranks);
  int64_t most = (length + ranks - 1) / ranks;
  constexpr int64_t rowBytes = kRingWidth * 4;
  int64_t bytes = most * rowBytes;
  int64_t x = builder.arena(bytes);
  int64_t buffers = builder.arena(2 * bytes);
  int64_t sum = builder.arena(bytes);
  builder.input("x", plan::DType::f32,
                {{length, static_cast<int>(dealt)}, {kRingWidth}}, x);
  builder.result("sum", plan::DType::f32,
                 {{length, static_cast<int>(dealt)}, {kRingWidth}}, sum);
  uint32_t arrived = builder.event();
  uint32_t computed = builder.event();
  uint32_t started = builder.event();
  uint32_t add = builder.kernel<addRows>("add_rows");

  plan::FillT clear;
  clear.target = view(sum, bytes);
  builder.add(std::move(clear));
  plan::CopyT own;
  own.source = view(x, bytes);
  own.target = view(buffers, bytes);
  builder.add(std::move(own)).records = static_cast<int32_t>(started);

  // Step t adds the block of rank (r - t) while step t + 1's block arrives.
  Expr t = Expr::counter(0);
  Expr r = Expr::coordinate(0);
  Expr here = Expr(buffers) + t % 2 * bytes;
  Expr next = Expr(buffers) + (t + 1) % 2 * bytes;
  Expr owner = (r + t * -1 + ranks) % ranks;
  Expr ownerNext = (r + t * -1 + (ranks - 1)) % ranks;
  plan::LoopT loop;
  loop.lower = Expr(0).build();
  loop.upper = Expr(ranks).build();
  plan::SendRecvT shift;
  shift.to = ((r + 1) % ranks).build();
  shift.from = ((r + (ranks - 1)) % ranks).build();
  shift.sends.push_back(
      block(rowsOf(here, bytes, rowBytes), rows(dealt, owner)));
  shift.receives.push_back(
      block(rowsOf(next, bytes, rowBytes), rows(dealt, ownerNext)));
  // Padding is added as well, so what an earlier block left there must go.
  plan::FillT clearNext;
  clearNext.target = view(next, bytes);
  plan::CommandT &clean = builder.add(std::move(clearNext), &loop.body);
  clean.stream = plan::Stream::comm;
  clean.when = (t < ranks - 1).build();
  clean.waits = {started, computed};
  plan::CommandT &send = builder.add(std::move(shift), &loop.body);
  send.name = "shift";
  send.stream = plan::Stream::comm;
  send.when = (t < ranks - 1).build();
  send.records = static_cast<int32_t>(arrived);
  plan::LaunchT launch;
  launch.kernel = add;
  launch.buffers.push_back(view(here, bytes));
  launch.buffers.push_back(view(sum, bytes));
  launch.tiles = most;
  plan::CommandT &compute = builder.add(std::move(launch), &loop.body);
  compute.name = "add";
  compute.records = static_cast<int32_t>(computed);
  plan::SyncT sync;
  plan::CommandT &wait = builder.add(sync, &loop.body);
  wait.waits = {arrived};
  builder.add(std::move(loop)).name = "ring";
  return builder;
}

std::vector<float> ringSumReference(int64_t ranks, int64_t length,
                                    plan::LayoutKind kind,
                                    const std::vector<float> &x) {
  algebra::Layout layout(static_cast<algebra::LayoutKind>(kind), length, ranks);
  std::vector<float> result(x.size(), 0.0F);
  for (int64_t rank = 0; rank < ranks; ++rank)
    for (int64_t row = 0; row < layout.count(rank); ++row)
      for (int64_t peer = 0; peer < ranks; ++peer)
        for (int64_t i = 0; row < layout.count(peer) && i < kRingWidth; ++i)
          result[static_cast<size_t>(layout.toGlobal(rank, row) * kRingWidth +
                                     i)] +=
              x[static_cast<size_t>(layout.toGlobal(peer, row) * kRingWidth +
                                    i)];
  return result;
}

PlanBuilder throughFar(int64_t ranks) {
  PlanBuilder builder(ranks);
  constexpr int64_t bytes = 4 * kFarWidth, page = 4096;
  int64_t x = builder.arena(kFarRows * bytes),
          y = builder.arena(kFarRows * bytes), place = builder.arena(4096);
  builder.input("x", plan::DType::f32, {{kFarRows}, {kFarWidth}}, x);
  builder.result("y", plan::DType::f32, {{kFarRows}, {kFarWidth}}, y);
  builder.plan.far_bytes = kFarRows * page;
  uint32_t ready = builder.event(), done = builder.event();
  Expr t = Expr::counter(0);
  auto copy = [](std::unique_ptr<plan::ViewT> from,
                 std::unique_ptr<plan::ViewT> to) {
    plan::CopyT copy;
    copy.source = std::move(from);
    copy.target = std::move(to);
    return copy;
  };
  for (bool fetches : {false, true}) {
    plan::LoopT loop;
    loop.lower = Expr(0).build();
    loop.upper = Expr(kFarRows).build();
    Expr row = fetches ? t : Expr(kFarRows - 1) + t * -1;
    auto near = [&] { return view(place, bytes); };
    auto far = [&] { return view(row * page, bytes, plan::Space::far); };
    if (!fetches)
      builder.add(copy(view(Expr(x) + t * bytes, bytes), near()), &loop.body);
    builder.add(plan::SyncT(), &loop.body).records =
        static_cast<int32_t>(ready);
    plan::CommandT &moved = builder.add(
        fetches ? copy(far(), near()) : copy(near(), far()), &loop.body);
    moved.stream = fetches ? plan::Stream::in : plan::Stream::out;
    moved.waits = {ready};
    uint32_t event = fetches ? builder.event() : done;
    moved.records = static_cast<int32_t>(event);
    builder.add(plan::SyncT(), &loop.body).waits = {event};
    if (fetches)
      builder.add(copy(near(), view(Expr(y) + t * bytes, bytes)), &loop.body);
    builder.add(std::move(loop));
  }
  return builder;
}

std::vector<float> farReference(const std::vector<float> &x) {
  std::vector<float> y(x.size());
  for (int64_t t = 0; t < kFarRows; ++t)
    std::copy_n(x.begin() + t * kFarWidth, kFarWidth,
                y.begin() + (kFarRows - 1 - t) * kFarWidth);
  return y;
}

std::vector<float> ramp(size_t count) {
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i)
    values[i] = static_cast<float>(i % 1013) - 500.0F;
  return values;
}

} // namespace sprt::test
