#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <rocksdb/db.h>
#include <rocksdb/env.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/iterator.h>
#include <rocksdb/options.h>
#include <rocksdb/slice.h>
#include <rocksdb/table_properties.h>

#include <cstdarg>
#include <cstdio>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "integration/rocksdb/block_index/adapters.h"
#include "integration/rocksdb/maintenance/file_report.h"

namespace blocksieve::cli {

using rocksdb_plugin::FilePlace;
using rocksdb_plugin::FileReport;
using rocksdb_plugin::FilterOrigin;
using rocksdb_plugin::FilterReport;
using rocksdb_plugin::IndexReport;
using rocksdb_plugin::PartReport;

/// Passes each line that RocksDB logs on, instead of writing a file LOG.
class LineLog final : public rocksdb::Logger {
 public:
  using TakeLine = std::function<void(std::string_view line)>;
  explicit LineLog(TakeLine take = [](std::string_view) {}) : take_(std::move(take)) {}

  using rocksdb::Logger::Logv;
  void Logv(const char* format, va_list arguments) override {
    char line[1024];
    std::vsnprintf(line, sizeof(line), format, arguments);
    take_(line);
  }

 private:
  const TakeLine take_;
};

/// A status as text. RocksDB calls it corruption if a block with a right checksum has a compression
/// that it does not know, as variants of LevelDB have.
std::string TextOf(const rocksdb::Status& status);

/// An open table file, with the comparator and prefix extractor that it names. Its filters are
/// probed as lookups and seeks probe them; of several, each is probed for the keys of its
/// partition, which ForEachKey finds. Not thread-safe. Everything throws Failure if the file cannot
/// be read.
class TableFile {
 public:
  /// Null if the file no longer exists.
  static std::unique_ptr<TableFile> Open(const FilePlace& place);

  ~TableFile();

  /// Facts that need no data blocks.
  const FileReport& report() const { return report_; }

  /// Checks the checksums of blocks and filters. Returns the problems found.
  std::vector<std::string> FindDamage();

  /// Visits the key of every entry in order, including deletes and older versions, with whether the
  /// filters pass it, as they must. With merge operands, visits each existing key once instead.
  /// Returns why some entries were not visited, or "".
  using KeyVisitor = std::function<void(std::string_view key, bool may_match)>;
  std::string ForEachKey(const KeyVisitor& visit);

  /// Whether a lookup of the key would read the file after probing the filters. REQUIRES: as below
  bool MayMatch(std::string_view key);

  /// Whether the filters pass the range [begin, end) for a seek with an upper bound; nullopt
  /// without range filters and prefixes, or if a seek probes no filter, as after the last key.
  /// REQUIRES: ForEachKey has visited the keys before `end`.
  std::optional<bool> MayMatchRange(std::string_view begin, std::string_view end);

  /// Whether the file has a key in [begin, end). REQUIRES: MayMatchRange has an answer.
  bool HasKeyIn(std::string_view begin, std::string_view end);

  /// Whether the block index rules the key out of no range, and finds what RocksDB's index finds;
  /// true without a block index. REQUIRES: ForEachKey visits the key.
  bool IndexFinds(std::string_view key);

  /// An absent key close to `present`, whose prefix is absent, too, if the filters have only
  /// prefixes; nullopt if none was found.
  std::optional<std::string> AbsentKey(std::string_view present, std::mt19937_64* random);

 private:
  TableFile(const FilePlace& place, uint64_t num_bytes);
  void OpenTable();
  const rocksdb::Comparator* FindComparator();
  // OK if the table has meta blocks that RocksDB must not check. Others were checked when read.
  rocksdb::Status VerifyChecksum() const;
  bool is_block_based() const { return format_.empty() || format_ == "BlockBasedTable"; }
  const rocksdb::SliceTransform* extractor() const { return options_.prefix_extractor.get(); }

  void Report(uint64_t num_bytes);
  FilterReport ReportFilters();
  void ExplainMissingFilters(FilterReport* report) const;
  std::string EntriesText(const FilterReport& report) const;

  rocksdb::ReadOptions ReadAll() const;
  rocksdb::Status ReadKeys(const std::function<void(const rocksdb::Slice& key)>& add);
  std::string VisitKeys(const std::function<void(const rocksdb::Slice& key)>& visit);
  // The first key at `key` or later. REQUIRES: why_no_keys_ is ""
  std::optional<std::string> FindKey(const rocksdb::Slice& key);

  // The partition that lookups of the key probe: the first that ends there or later.
  size_t FindPartition(const rocksdb::Slice& key) const;
  // Whether the partition passes the key, or its prefix for seeks.
  bool PassesKey(size_t partition, const rocksdb::Slice& key);
  bool PassesPrefix(size_t partition, const rocksdb::Slice& key);
  bool PassesLookups(size_t partition, const rocksdb::Slice& key);

  const std::string path_;
  const std::string format_;  // as OPTIONS files name it; "" if unknown
  rocksdb::Options options_;
  rocksdb_plugin::OpenedTable table_;
  std::shared_ptr<const rocksdb::TableProperties> properties_;  // NoProperties() if it has none
  std::string unknown_meta_blocks_;                             // see UnknownMetaBlocks
  std::string why_no_keys_;  // why keys cannot be read in their order; "" if they can
  std::string last_time_;    // the latest timestamp; empty if keys have none
  rocksdb::Slice until_;     // last_time_, which ReadOptions refer to
  std::unique_ptr<rocksdb::Iterator> key_probe_;

  bool has_obsolete_filter_ = false;  // one per block, as RocksDB before 7.0 wrote
  bool has_whole_keys_ = false;       // in the filters
  bool has_prefixes_ = false;
  std::vector<std::unique_ptr<rocksdb::FilterBitsReader>> partitions_;  // may be null
  std::vector<std::string> ends_;  // the last key of each, as far as visited

  const rocksdb_plugin::BlockIndexChoice index_choice_ =
      rocksdb_plugin::NewBlockIndexChoice(nullptr);
  std::unique_ptr<rocksdb::Iterator> index_probe_;  // by the block index
  std::unique_ptr<rocksdb::Iterator> probe_;        // by RocksDB's
  bool has_entities_ = false;                       // among the keys visited, where types are known
  FileReport report_;
};

}  // namespace blocksieve::cli
