/// Threads of one emulated block: fibers that one CPU thread switches between,
/// in a random order that a seed repeats.
#ifndef SPRT_CUDA_EMULATION_FIBERS_H
#define SPRT_CUDA_EMULATION_FIBERS_H

#include <algorithm>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <ucontext.h>
#include <vector>

namespace sprt::cuda::emulation {

/// A kernel did what a GPU does not define: the text says which thread and
/// what.
class Fault : public std::runtime_error {
  using runtime_error::runtime_error;
};

class Fibers {
public:
  static constexpr int kWarp = 32;

  Fibers(int count, uint64_t seed)
      : random(seed), fibers(static_cast<size_t>(count)) {
    for (Fiber &fiber : fibers) {
      fiber.stack.reset(new char[kStackBytes]);
      order.push_back(static_cast<int>(order.size()));
    }
  }

  /// Runs body() on every fiber until all have returned. `advance` moves what
  /// works beside the fibers and says whether it has more to do. A Fault where
  /// nobody can go on; an exception of a fiber ends the run.
  void run(const std::function<void()> &work,
           const std::function<bool()> &advance) {
    body = &work;
    for (Fiber &fiber : fibers) {
      getcontext(&fiber.context);
      fiber.context.uc_stack.ss_sp = fiber.stack.get();
      fiber.context.uc_stack.ss_size = kStackBytes;
      fiber.context.uc_link = &scheduler;
      makecontext(&fiber.context, &enter, 0);
    }
    beginStall(); // one comes late
    for (size_t alive = fibers.size(); alive > 0;) {
      bool stalls = stall();
      bool moved = advance() || stalls;
      std::shuffle(order.begin(), order.end(), random);
      for (int number : order) {
        Fiber &fiber = fibers[static_cast<size_t>(number)];
        if (fiber.isDone || number / kWarp == stalledWarp ||
            (fiber.blocked && !(*fiber.blocked)()))
          continue;
        moved = true;
        fiber.blocked = nullptr;
        resume(number);
        if (failure)
          std::rethrow_exception(failure);
        alive -= fiber.isDone;
      }
      if (!moved)
        throw Fault(stuck());
    }
  }

  int current() const { return self; }

  /// Goes on when `ready` holds; `what` says what for, should that never be.
  template <class Description, class Predicate>
  void await(Description what, Predicate ready) {
    if (ready())
      return;
    std::function<bool()> test = std::ref(ready);
    std::function<std::string()> description = std::ref(what);
    Fiber &fiber = fibers[static_cast<size_t>(self)];
    fiber.blocked = &test;
    fiber.what = &description;
    swapcontext(&fiber.context, &scheduler);
  }

  template <class Predicate> void await(const char *what, Predicate ready) {
    await([what] { return std::string(what); }, ready);
  }

  [[noreturn]] void fault(const std::string &what) const {
    throw Fault("thread " + std::to_string(self) + ": " + what);
  }

  std::mt19937_64 random;

private:
  static constexpr size_t kStackBytes = 128 << 10;

  struct Fiber {
    ucontext_t context;
    std::unique_ptr<char[]> stack;
    const std::function<bool()> *blocked = nullptr;
    const std::function<std::string()> *what = nullptr;
    bool isDone = false;
  };

  static Fibers *&active() {
    static thread_local Fibers *fibers = nullptr;
    return fibers;
  }

  static void enter() {
    Fibers &fibers = *active();
    try {
      (*fibers.body)();
    } catch (...) {
      fibers.failure = std::current_exception();
    }
    fibers.fibers[static_cast<size_t>(fibers.self)].isDone = true;
  }

  /// The last one may have fewer threads.
  size_t warps() const { return (fibers.size() + kWarp - 1) / kWarp; }

  /// Now and then a warp stands still for a while, so that others get ahead of
  /// it; whether one does.
  bool stall() {
    if (stallLeft > 0)
      --stallLeft;
    if (stallLeft == 0)
      stalledWarp = -1;
    if (stallLeft == 0 && random() % 8 == 0)
      beginStall();
    return stallLeft > 0;
  }
  void beginStall() {
    stalledWarp = static_cast<int>(random() % warps());
    stallLeft = 1 + static_cast<int>(random() % 64);
  }

  void resume(int number) {
    self = number;
    active() = this;
    swapcontext(&scheduler, &fibers[static_cast<size_t>(number)].context);
  }

  /// What each warp that has not returned waits for, as its first thread says.
  std::string stuck() const {
    std::vector<std::string> waits(warps());
    for (size_t number = fibers.size(); number-- > 0;)
      if (!fibers[number].isDone)
        waits[number / kWarp] = (*fibers[number].what)();
    std::string text = "the kernel waits for ever:";
    for (size_t first = 0, end = 0; first < waits.size(); first = end) {
      while (end < waits.size() && waits[end] == waits[first])
        ++end;
      if (waits[first].empty())
        continue;
      text += (text.back() == ':' ? " warp" : "; warp") +
              std::string(end - first > 1 ? "s " : " ") +
              std::to_string(first) +
              (end - first > 1 ? " to " + std::to_string(end - 1) : "") +
              " for " + waits[first];
    }
    return text;
  }

  const std::function<void()> *body = nullptr;
  int stalledWarp = -1, stallLeft = 0;
  std::vector<Fiber> fibers;
  std::vector<int> order;
  ucontext_t scheduler;
  int self = 0;
  std::exception_ptr failure;
};

} // namespace sprt::cuda::emulation

#endif // SPRT_CUDA_EMULATION_FIBERS_H
