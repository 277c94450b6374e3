#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <rocksdb/slice_transform.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "blocksieve/rocksdb/prune_reads.h"

namespace blocksieve::rocksdb_plugin {

/// The prefix extractor of column families with range filters. All keys have the same prefix, the
/// empty one, each at another address (RANGES.md).
///
/// RocksDB keeps raw pointers to extractors. The object of Get() lives as long as the process;
/// RocksDB owns the objects that it makes by name.
class RangeExtractor final : public rocksdb::SliceTransform {
 public:
  static constexpr const char* kName = "blocksieve.range";

  /// The name in marked files (MarkNextFile).
  static constexpr const char* kMarkedName = "blocksieve.range.file";

  /// `name` is kName or kMarkedName, and lives as long as the process.
  explicit RangeExtractor(const char* name) : name_(name) {}

  /// The extractor named kName, for applications.
  static std::shared_ptr<const rocksdb::SliceTransform> Get();

  const char* Name() const override { return name_; }

  /// The name that RocksDB writes into the file that it is writing: kName, or kMarkedName for a
  /// marked file.
  std::string GetId() const override;

  rocksdb::Slice Transform(const rocksdb::Slice& key) const override;
  bool InDomain(const rocksdb::Slice&) const override { return true; }
  bool SameResultWhenAppended(const rocksdb::Slice&) const override { return true; }

  std::string SerializeOptions(const rocksdb::ConfigOptions& options,
                               const std::string& prefix) const override;

 private:
  const char* const name_;
};

/// The ids of RocksDB's extractors of one length, such as "rocksdb.CappedPrefix.4", without it.
inline constexpr const char* kSizedExtractors[] = {"rocksdb.FixedPrefix", "rocksdb.CappedPrefix"};

/// RocksDB's extractor of this id, for files that were written under it. From the length of its
/// prefixes, which this one does not tell, RocksDB concludes that a range has one prefix, although
/// it may have shorter keys (rocksdb/options.h, BUG of auto_prefix_mode). It does so for files of
/// an earlier extractor without auto_prefix_mode, too, so that seeks would miss these keys as soon
/// as the column family has the extractor of range filters. Null if the id has no length.
std::unique_ptr<const rocksdb::SliceTransform> NewEarlierExtractor(const std::string& id);

/// Marks the file whose last filter this thread has just finished, or takes a mark back: the
/// thread's next GetId(), which is for the properties of that file, returns kMarkedName, so that
/// seeks with default ReadOptions query the filter (RANGES.md). Call it only where the properties
/// follow.
void MarkNextFile(bool mark) noexcept;

/// Whether the extractor has one of both names. False for null.
bool IsRangeExtractor(const rocksdb::SliceTransform* extractor);

// How a filter learns the range of a seek (RANGES.md): RocksDB transforms the key of the seek and
// then its upper bound right before it queries the filter, on the same thread. Otherwise the filter
// answers "may match".

/// [begin, end). Valid while RocksDB waits for the answer.
struct SeekRange {
  std::string_view begin;
  std::string_view end;
};

/// Records a key that RocksDB transforms. Returns its prefix, which is empty; its address tells it
/// from others.
std::string_view RecordTransformedKey(std::string_view key) noexcept;

/// The range of the query for `prefix`. Nothing unless the last two keys recorded on this thread
/// are the one with this prefix and another one. Forgets the recorded keys.
std::optional<SeekRange> TakeSeekRange(std::string_view prefix) noexcept;

/// Result of one range query to the filter of a file: an index in kRangeResults.
enum class RangeOutcome : uint8_t {
  kNo,
  kMayMatch,
  kBeyondPartition,
  kNoRangeFilter,
  kNoBound,
  kEmptyBegin,  // the key "" cannot be told from the prefix of all keys
  kUntrusted,
};

/// The results of range queries by name.
inline constexpr std::pair<const char*, uint64_t RangeFilterCounts::*> kRangeResults[] = {
    {"no", &RangeFilterCounts::no},
    {"may_match", &RangeFilterCounts::may_match},
    {"beyond_partition", &RangeFilterCounts::beyond_partition},
    {"no_range_filter", &RangeFilterCounts::no_range_filter},
    {"no_bound", &RangeFilterCounts::no_bound},
    {"empty_begin", &RangeFilterCounts::empty_begin},
    {"untrusted", &RangeFilterCounts::untrusted},
};

/// Counts an outcome for the process. Warns once on stderr if no query ever has a range.
void CountRangeQuery(RangeOutcome outcome) noexcept;

/// While it lives, the queries of its thread are counted here instead of for the process.
class ScopedRangeCounts {
 public:
  ScopedRangeCounts() noexcept;
  ScopedRangeCounts(const ScopedRangeCounts&) = delete;
  ScopedRangeCounts& operator=(const ScopedRangeCounts&) = delete;
  ~ScopedRangeCounts();

  RangeFilterCounts counts;

 private:
  ScopedRangeCounts* const outer_;
};

}  // namespace blocksieve::rocksdb_plugin
