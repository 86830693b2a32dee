/// Far memory in a file, past the system's cache where that can be.
#ifndef SPRT_LIB_EXECUTOR_FARFILE_H
#define SPRT_LIB_EXECUTOR_FARFILE_H

#include "executor/FarStore.h"
#include "walk/TouchedMemory.h"

#include <mutex>
#include <string>

namespace sprt {

class FarFile : public FarStore {
public:
  explicit FarFile(int64_t bytes) : size(bytes), touched(bytes) {}
  FarFile(const FarFile &) = delete;
  FarFile &operator=(const FarFile &) = delete;
  ~FarFile() override;

  /// Reserves a file of the store's size in a directory, which has no name
  /// there and is gone with the store.
  Status open(const std::string &directory);

  std::byte *base() const override {
    return reinterpret_cast<std::byte *>(uintptr_t(1) << 61);
  }
  Status write(int64_t offset, const std::byte *data, int64_t bytes) override;
  Status read(std::byte *data, int64_t offset, int64_t bytes) override;
  int64_t touchedBytes() const override;

private:
  /// What goes through it lies on whole pages, as direct transfers ask.
  class Stage {
  public:
    Status open();
    ~Stage();
    std::byte *data = nullptr;
    std::mutex mutex;
  };

  void create(const char *directory, int flags);
  void touch(int64_t offset, int64_t bytes);
  /// Whole pages, to or from the file.
  Status transfer(bool writes, std::byte *page, int64_t offset, int64_t bytes);

  const int64_t size;
  int file = -1;
  std::string where;
  Stage in, out;
  mutable std::mutex mutex; ///< of `touched`
  TouchedMemory touched;
};

} // namespace sprt

#endif // SPRT_LIB_EXECUTOR_FARFILE_H
