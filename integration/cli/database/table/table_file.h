#pragma once

#include <rocksdb/comparator.h>
#include <rocksdb/db.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/iterator.h>
#include <rocksdb/options.h>
#include <rocksdb/slice.h>
#include <rocksdb/sst_file_reader.h>
#include <rocksdb/table_properties.h>

#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "integration/rocksdb/maintenance/captured_filters.h"
#include "integration/rocksdb/maintenance/trees.h"

namespace blocksieve::cli {

using rocksdb_plugin::FilePlace;
using rocksdb_plugin::FileReport;
using rocksdb_plugin::FilterOrigin;
using rocksdb_plugin::FilterReport;
using rocksdb_plugin::IndexColumnReport;
using rocksdb_plugin::IndexReport;
using rocksdb_plugin::PartReport;

/// A database in memory with a single real table file, which is only read. Lookups choose and probe
/// filter partitions as in any database. Not thread-safe. Everything throws Failure.
class TableLookup {
 public:
  /// `options` has the comparator and prefix extractor of the file. `time`: as in ReadOptions.
  TableLookup(const std::string& path, uint64_t num_bytes, rocksdb::Options options,
              const rocksdb::TableProperties& properties, const rocksdb::Slice* time);
  ~TableLookup();

  /// Whether the filter that a lookup probes passes; nullopt if it probes none.
  std::optional<bool> Get(const rocksdb::Slice& key);

  /// The same for a seek within [begin, end), or without an end, with the prefix of the key.
  std::optional<bool> Seek(const rocksdb::Slice& begin,
                           const std::optional<rocksdb::Slice>& end = {});

 private:
  std::optional<bool> AnswerAfter(const rocksdb::Status& lookup);

  rocksdb_plugin::CapturedFilters captured_;
  const std::unique_ptr<rocksdb::Env> memory_;
  const std::unique_ptr<rocksdb::Env> env_;
  std::unique_ptr<rocksdb::DB> db_;
  rocksdb::ColumnFamilyHandle* family_ = nullptr;
  rocksdb::ReadOptions read_options_;
  rocksdb::Slice end_;                               // which the second of these refers to
  std::unique_ptr<rocksdb::Iterator> iterators_[2];  // without and with an end
};

/// An open table file, with the comparator and prefix extractor that it names. Its filters are
/// probed as lookups and seeks probe them. Not thread-safe. Everything throws Failure if the file
/// cannot be read.
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

  /// Whether a lookup of the key would read the file after probing the filters.
  bool MayMatch(std::string_view key);

  /// Whether the filters pass the range [begin, end) for a seek with an upper bound; nullopt
  /// without range filters and prefixes.
  std::optional<bool> MayMatchRange(std::string_view begin, std::string_view end);

  /// Whether the file has a key in [begin, end). REQUIRES: MayMatchRange has an answer.
  bool HasKeyIn(std::string_view begin, std::string_view end);

  /// An absent key close to `present`, whose prefix is absent, too, if the filters have only
  /// prefixes; nullopt if none was found.
  std::optional<std::string> AbsentKey(std::string_view present, std::mt19937_64* random);

 private:
  TableFile(const FilePlace& place, uint64_t num_bytes);
  void OpenTable();
  rocksdb::Status TryOpen(std::shared_ptr<const rocksdb::FilterPolicy> policy);
  bool is_block_based() const { return format_.empty() || format_ == "BlockBasedTable"; }
  const rocksdb::SliceTransform* extractor() const { return options_.prefix_extractor.get(); }

  // In table_report.cc.
  void Report(uint64_t num_bytes);
  FilterReport ReportFilters();
  void ExplainMissingFilters(FilterReport* report);
  std::string EntriesText(const FilterReport& report) const;

  rocksdb::ReadOptions ReadAll() const;
  std::string VisitKeys(const std::function<void(const rocksdb::Slice& key)>& visit);
  rocksdb::Iterator& Probe();  // over all keys. REQUIRES: why_no_keys_ is ""

  // Whether the filters pass a key or its prefix; nullopt if a lookup probes none, as for a key
  // after the last one.
  std::optional<bool> KeyMayMatch(const rocksdb::Slice& key);
  std::optional<bool> PrefixMayMatch(const rocksdb::Slice& key);
  // Whether the filters pass the key for lookups and for seeks.
  bool PassesFilters(const rocksdb::Slice& key);
  TableLookup& Lookup();
  std::optional<bool> AnswerOf(const rocksdb::Status& lookup);

  const std::string path_;
  const std::string format_;  // as OPTIONS files name it; "" if unknown
  rocksdb::Options options_;
  std::unique_ptr<rocksdb::SstFileReader> reader_;
  std::shared_ptr<const rocksdb::TableProperties> properties_;  // NoProperties() if it has none
  std::string why_no_keys_;  // why keys cannot be read in their order; "" if they can
  std::string last_time_;    // the latest timestamp; empty if keys have none
  rocksdb::Slice until_;     // last_time_, which ReadOptions refer to
  std::unique_ptr<rocksdb::Iterator> probe_;

  // Empty without filters, or if RocksDB cannot read them: a filter per block, as RocksDB before
  // 7.0 wrote, or damage, empty if unknown.
  rocksdb_plugin::CapturedFilters filters_;
  bool has_obsolete_filter_ = false;
  std::string filter_damage_;
  bool has_whole_keys_ = false;  // in the filters
  bool has_prefixes_ = false;
  std::unique_ptr<rocksdb::FilterBitsReader> only_filter_;  // null if there are several
  // If there are several, a TableLookup makes RocksDB choose the one to probe.
  rocksdb_plugin::CapturedFilters captured_;
  std::unique_ptr<TableLookup> lookup_;

  FileReport report_;
};

}  // namespace blocksieve::cli
