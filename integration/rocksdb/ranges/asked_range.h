#pragma once

#include <optional>
#include <string_view>

// What a seek asks. Right before RocksDB asks the filter of a file whether it may have a prefix, it
// transforms the key of the seek, and then its upper bound, if it has one, to compare their
// prefixes. The transform leaves both here, and the filter takes them. All on one thread, without
// anything in between; where that is not so, the filter cannot tell.

namespace blocksieve::rocksdb_plugin {

/// [begin, end), for as long as RocksDB waits for the answer.
struct AskedRange {
  std::string_view begin;
  std::string_view end;
};

/// Leaves a key that RocksDB transforms.
void LeaveTransformed(std::string_view key) noexcept;

/// The range that belongs to the question for `prefix`, which is empty and points to where the
/// seek's key begins. Nothing if the last two keys left on this thread are not that key and another
/// one. What was left is used up.
std::optional<AskedRange> TakeAskedRange(std::string_view prefix) noexcept;

}  // namespace blocksieve::rocksdb_plugin
