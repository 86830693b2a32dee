#include "executor/FarStore.h"

#include "executor/FarFile.h"
#include "executor/Region.h"

#include <cstring>

namespace sprt {

namespace {

class FarRegion : public FarStore {
public:
  Status open(int64_t bytes) { return region.map(bytes); }

  Status write(int64_t offset, const std::byte *data, int64_t bytes) override {
    std::memcpy(region.data() + offset, data, static_cast<size_t>(bytes));
    return Status::success();
  }
  Status read(std::byte *data, int64_t offset, int64_t bytes) override {
    std::memcpy(data, region.data() + offset, static_cast<size_t>(bytes));
    return Status::success();
  }
  std::byte *base() const override { return region.data(); }
  int64_t touchedBytes() const override { return region.residentBytes(); }

private:
  Region region;
};

} // namespace

Status openFarStore(int64_t bytes, const char *directory,
                    std::unique_ptr<FarStore> &out_store) {
  if (directory) {
    auto file = std::make_unique<FarFile>(bytes);
    if (Status failure = file->open(directory))
      return failure;
    out_store = std::move(file);
    return Status::success();
  }
  auto store = std::make_unique<FarRegion>();
  if (Status failure = store->open(bytes))
    return std::move(failure).within("far memory");
  out_store = std::move(store);
  return Status::success();
}

} // namespace sprt
