#include "integration/rocksdb/ranges/asked_range.h"

namespace blocksieve::rocksdb_plugin {
namespace {

struct Transformed {
  std::string_view last;
  std::string_view before_last;
};
thread_local Transformed transformed;

}  // namespace

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
