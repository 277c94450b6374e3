#include "integration/rocksdb/ranges/range_extractor.h"

#include <string_view>
#include <utility>

namespace blocksieve::rocksdb_plugin {
namespace {

thread_local bool mark_next_file = false;

struct Transformed {
  std::string_view last;
  std::string_view before_last;
};
thread_local Transformed transformed;

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

void LeaveTransformed(std::string_view key) noexcept {
  transformed.before_last = transformed.last;
  transformed.last = key;
}

std::optional<AskedRange> TakeAskedRange(std::string_view prefix) noexcept {
  const Transformed taken = transformed;
  transformed = {};
  // The last two alone would pair the key of this seek with that of one before it.
  if (taken.before_last.data() == nullptr || taken.before_last.data() != prefix.data() ||
      taken.last.data() == prefix.data()) {
    return std::nullopt;
  }
  return AskedRange{taken.before_last, taken.last};
}

}  // namespace blocksieve::rocksdb_plugin
