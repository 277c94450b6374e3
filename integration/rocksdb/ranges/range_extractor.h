#pragma once

#include <rocksdb/slice_transform.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "blocksieve/rocksdb/filter_policy.h"

namespace blocksieve::rocksdb_plugin {

/// The prefix extractor of column families with range filters. All keys have the same prefix, the
/// empty one, at the address of the key: so RocksDB never takes two keys for unlike, and asks the
/// filter of each file before it seeks in it.
///
/// RocksDB keeps raw pointers to extractors. Get() gives an object that lives as long as the
/// process; of those that RocksDB makes by name it is the owner.
class RangeExtractor final : public rocksdb::SliceTransform {
 public:
  static constexpr const char* kName = "blocksieve.range";

  /// The name that marked files have (MarkNextFile).
  static constexpr const char* kMarkedName = "blocksieve.range.file";

  /// `name` is one of both, and lives as long as the process.
  explicit RangeExtractor(const char* name) : name_(name) {}

  /// That of the plain name, for applications.
  static std::shared_ptr<const rocksdb::SliceTransform> Get();

  const char* Name() const override { return name_; }

  /// The name that RocksDB writes into OPTIONS, and into the file that it is writing. Both have the
  /// plain one, but for a marked file.
  std::string GetId() const override;

  rocksdb::Slice Transform(const rocksdb::Slice& key) const override;
  bool InDomain(const rocksdb::Slice&) const override { return true; }
  bool SameResultWhenAppended(const rocksdb::Slice&) const override { return true; }

 private:
  const char* const name_;
};

/// Marks the file of which this thread has just finished the filter: the next GetId() on it, which
/// is for the properties of that file, gives kMarkedName. RocksDB then takes the extractor for
/// changed, and for seeks with default ReadOptions, too, it looks whether key and bound have the
/// same prefix and asks the filter. Without a mark they are not asked, and nothing else is lost.
void MarkNextFile(bool mark) noexcept;

/// Whether RocksDB calls it by one of both names.
bool IsRangeExtractor(const rocksdb::SliceTransform* extractor);

// What a seek asks. Right before RocksDB asks the filter of a file whether it may have a prefix, it
// transforms the key of the seek, and then its upper bound, if it has one, to compare their
// prefixes. The transform leaves both here, and the filter takes them. All on one thread, without
// anything in between; where that is not so, the filter cannot tell.

/// [begin, end), for as long as RocksDB waits for the answer.
struct SeekRange {
  std::string_view begin;
  std::string_view end;
};

/// Leaves a key that RocksDB transforms.
void LeaveTransformed(std::string_view key) noexcept;

/// The range that belongs to the question for `prefix`, which is empty and points to where the
/// seek's key begins. Nothing if the last two keys left on this thread are not that key and another
/// one. What was left is used up.
std::optional<SeekRange> TakeSeekRange(std::string_view prefix) noexcept;

/// What became of one question to the filter of a file.
enum class RangeOutcome : uint8_t {
  kNo,
  kMayMatch,
  kBeyond,    // the range goes on behind the partition
  kNoFilter,  // the file has a filter for points only
  kNoBound,   // RocksDB gave no range: no upper bound, or ReadOptions that do not compare prefixes
  kEmptyBegin,  // the key "" looks like the prefix of all keys
  kUntrusted,   // RocksDB did not pass the self-test
};
inline constexpr int kNumRangeOutcomes = 7;

/// Counts it, for the process. Says once, in the log, if ranges are asked for in vain.
void CountRange(RangeOutcome outcome) noexcept;

/// All counts so far.
RangeFilterCounts CountedRanges() noexcept;

/// While one of these lives, what its thread asks is counted here, and not for the process.
class RangesCountedApart {
 public:
  RangesCountedApart() noexcept;
  RangesCountedApart(const RangesCountedApart&) = delete;
  RangesCountedApart& operator=(const RangesCountedApart&) = delete;
  ~RangesCountedApart();

  uint64_t count(RangeOutcome outcome) const noexcept {
    return counts_[static_cast<size_t>(outcome)];
  }

 private:
  friend void CountRange(RangeOutcome outcome) noexcept;

  std::array<uint64_t, kNumRangeOutcomes> counts_{};
};

}  // namespace blocksieve::rocksdb_plugin
