/// Asynchronous matrix products of one emulated warpgroup.
///
/// A product is issued by all 128 threads, in the same order, and computed
/// once, at a random moment after the last of them has issued it. Until a
/// thread's wait its sums read as NaN; its factors in registers and everything
/// in shared memory are read when the product is computed. So a missing wait, a
/// release that comes too early and a register that changes too early all
/// become wrong numbers.
#ifndef SPRT_CUDA_EMULATION_PRODUCTS_H
#define SPRT_CUDA_EMULATION_PRODUCTS_H

#include "sprt/cuda/emulation/Fibers.h"
#include "sprt/cuda/emulation/Fragments.h"

#include <deque>

namespace sprt::cuda::emulation {

class Products {
public:
  static constexpr int kThreads = Factors::kThreads;

  Products(SharedMemory &memory, Fibers &fibers, int firstThread)
      : memory(memory), fibers(fibers), firstThread(firstThread) {}

  void fence() { mine().isFenced = true; }

  /// The next product begins these sums.
  void begin(float *sum, int columns) {
    for (const Busy &busy : mine().busy)
      if (busy.registers == sum)
        fibers.fault("sums begin anew while products are added to them");
    std::fill_n(sum, columns / 2, 0.f);
  }

  /// a: a descriptor, or four registers of every thread.
  template <class Element>
  void add(float *sum, int columns, uint64_t aDescriptor, const uint32_t *a,
           uint64_t b, bool bInColumns) {
    Thread &thread = mine();
    if (!thread.isFenced)
      fibers.fault("a product is issued without a fence before it");
    if (thread.issued == first + static_cast<int>(pending.size()))
      pending.push_back({&multiply<Element>,
                         columns,
                         {aDescriptor, b, bInColumns, a != nullptr, {}},
                         0,
                         nullptr});
    Product &product = pending.at(static_cast<size_t>(thread.issued - first));
    if (product.columns != columns || product.factors.b != b ||
        product.factors.aDescriptor != aDescriptor)
      fibers.fault("threads of a warpgroup issue different products");
    product.factors.registers[static_cast<size_t>(lane())] = a;
    attach(product, sum, thread.issued);
    ++thread.issued;
    ++product.threads;
  }

  void commit() { mine().groups.push_back(mine().issued); }

  void wait(int pendingGroups) {
    Thread &thread = mine();
    size_t done = thread.groups.size() > static_cast<size_t>(pendingGroups)
                      ? thread.groups.size() - pendingGroups
                      : 0;
    if (done == 0)
      return;
    int last = thread.groups[done - 1];
    fibers.await("products of the warpgroup", [&] { return first >= last; });
    thread.groups.erase(thread.groups.begin(),
                        thread.groups.begin() + static_cast<long>(done));
    deliver(thread, last);
    thread.isFenced = false;
  }

  /// Computes the next product if all threads have issued it; whether it did.
  bool advance() {
    if (pending.empty() || pending.front().threads != kThreads)
      return false;
    if (fibers.random() & 1)
      computeNext();
    return true;
  }

private:
  /// Sums of the whole warpgroup, row-major, while products are added to them.
  struct Sums {
    std::vector<float> values;
    int columns;
  };
  struct Product {
    void (*compute)(const SharedMemory &, const Factors &, int, float *);
    int columns;
    Factors factors;
    int threads; ///< that have issued it
    std::shared_ptr<Sums> sums;
  };
  /// Registers of a thread to which a product is being added.
  struct Busy {
    float *registers;
    std::shared_ptr<Sums> sums;
    int last; ///< number of the product behind the last one
  };
  struct Thread {
    bool isFenced = false;
    int issued = 0;
    std::vector<int> groups; ///< products issued before each commit
    std::vector<Busy> busy;
  };

  int lane() const { return fibers.current() - firstThread; }
  Thread &mine() { return threads[static_cast<size_t>(lane())]; }

  void attach(Product &product, float *registers, int number) {
    Thread &thread = mine();
    for (Busy &busy : thread.busy)
      if (busy.registers == registers) {
        if (product.sums && product.sums != busy.sums)
          fibers.fault("threads of a warpgroup add to different sums");
        product.sums = busy.sums;
        busy.last = number + 1;
        return;
      }
    if (!product.sums) {
      size_t count = static_cast<size_t>(Factors::kRows * product.columns);
      product.sums = std::make_shared<Sums>(
          Sums{std::vector<float>(count), product.columns});
    }
    for (int i = 0; i < product.columns / 2; ++i) {
      product.sums->values[placeOfSum(lane(), i, product.columns)] =
          registers[i];
      std::memset(&registers[i], 0xff, sizeof(float));
    }
    thread.busy.push_back({registers, product.sums, number + 1});
  }

  void deliver(Thread &thread, int last) {
    std::vector<Busy> rest;
    for (Busy &busy : thread.busy) {
      if (busy.last > last) {
        rest.push_back(busy);
        continue;
      }
      int columns = busy.sums->columns;
      for (int i = 0; i < columns / 2; ++i)
        busy.registers[i] = busy.sums->values[placeOfSum(lane(), i, columns)];
    }
    thread.busy = std::move(rest);
  }

  void computeNext() {
    const Product &next = pending.front();
    next.compute(memory, next.factors, next.columns, next.sums->values.data());
    pending.pop_front();
    ++first;
  }

  SharedMemory &memory;
  Fibers &fibers;
  int firstThread;
  std::array<Thread, kThreads> threads;
  std::deque<Product> pending;
  int first = 0; ///< number of pending.front()
};

} // namespace sprt::cuda::emulation

#endif // SPRT_CUDA_EMULATION_PRODUCTS_H
