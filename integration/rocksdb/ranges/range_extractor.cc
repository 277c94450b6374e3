#include "integration/rocksdb/ranges/range_extractor.h"

#include <string_view>
#include <utility>

#include "integration/rocksdb/ranges/asked_range.h"

namespace blocksieve::rocksdb_plugin {
namespace {

thread_local bool mark_next_file = false;

}  // namespace

std::shared_ptr<const rocksdb::SliceTransform> RangeExtractor::Get() {
  static const auto& plain = *new RangeExtractor(kName);
  return {std::shared_ptr<void>(), &plain};
}

std::string RangeExtractor::GetId() const {
  return std::exchange(mark_next_file, false) ? kMarkedName : kName;
}

rocksdb::Slice RangeExtractor::Transform(const rocksdb::Slice& key) const {
  LeaveTransformed({key.data(), key.size()});
  return {key.data(), 0};
}

void MarkNextFile(bool mark) noexcept { mark_next_file = mark; }

bool IsRangeExtractor(const rocksdb::SliceTransform* extractor) {
  if (extractor == nullptr) return false;
  const std::string_view name = extractor->Name();
  return name == RangeExtractor::kName || name == RangeExtractor::kMarkedName;
}

}  // namespace blocksieve::rocksdb_plugin
