#pragma once

#include <rocksdb/filter_policy.h>
#include <rocksdb/slice.h>

#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "integration/cli/database/table/opened_table.h"
#include "integration/cli/database/table/table_lookup.h"
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

/// An open table file whose filters are probed as lookups and seeks probe them. Not thread-safe.
/// Everything throws Failure if the file cannot be read.
class TableFile {
 public:
  /// Null if the file no longer exists.
  static std::unique_ptr<TableFile> Open(const FilePlace& place);

  ~TableFile();

  /// Facts that need no data blocks.
  const FileReport& report() const { return report_; }

  /// Checks the checksums of blocks and filters. Returns the problems found.
  std::vector<std::string> FindDamage();

  /// Visits the key of every entry in order, with whether the filters pass it, as they must.
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
  bool HasPrefix(const rocksdb::Slice& prefix);

  // Whether the filters pass a key or its prefix; nullopt if a lookup probes none, as for a key
  // after the last one.
  std::optional<bool> KeyMayMatch(const rocksdb::Slice& key);
  std::optional<bool> PrefixMayMatch(const rocksdb::Slice& key);
  // Whether the filters pass the key for lookups and for seeks.
  bool PassesFilters(const rocksdb::Slice& key);
  TableLookup& Lookup();
  std::optional<bool> AnswerOf(const rocksdb::Status& lookup);

  OpenedTable table_;
  const FileReport report_;
  std::unique_ptr<rocksdb::FilterBitsReader> only_filter_;  // null if there are several
  // If there are several, a TableLookup makes RocksDB choose the one to probe.
  rocksdb_plugin::CapturedFilters captured_;
  std::unique_ptr<TableLookup> lookup_;
};

}  // namespace blocksieve::cli
