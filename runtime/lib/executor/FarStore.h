/// Far memory of a rank on the CPU: what waits long lies there, and only copies
/// touch it.
#ifndef SPRT_LIB_EXECUTOR_FARSTORE_H
#define SPRT_LIB_EXECUTOR_FARSTORE_H

#include "support/Status.h"

#include <cstddef>
#include <memory>

namespace sprt {

class FarStore {
public:
  virtual ~FarStore() = default;

  /// An address that stands for the first byte, which nobody may follow.
  virtual std::byte *base() const = 0;
  /// Different ranges may be written and read at once.
  virtual Status write(int64_t offset, const std::byte *data,
                       int64_t bytes) = 0;
  virtual Status read(std::byte *data, int64_t offset, int64_t bytes) = 0;
  /// In whole pages, of what has been written or read.
  virtual int64_t touchedBytes() const = 0;
};

/// Of so many bytes: memory beside the arena, or a file in `directory` if that
/// is not null.
Status openFarStore(int64_t bytes, const char *directory,
                    std::unique_ptr<FarStore> &out_store);

} // namespace sprt

#endif // SPRT_LIB_EXECUTOR_FARSTORE_H
