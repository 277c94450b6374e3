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

#include "integration/cli/database/table/captured_filters.h"
#include "integration/cli/database/table/file_report.h"
#include "integration/cli/database/table/opened_table.h"
#include "integration/cli/database/table/table_lookup.h"

namespace blocksieve::cli {

/// An open table file of a RocksDB, whose filters are asked as lookups and seeks ask them. Not
/// thread-safe. Everything throws Failure if the file cannot be read.
class TableFile {
 public:
  /// Null if the file no longer exists.
  static std::unique_ptr<TableFile> Open(const FilePlace& place);

  ~TableFile();

  /// What can be said of it without reading its data.
  const FileReport& report() const { return report_; }

  /// Checks all checksums, and whatever else can be wrong apart from the answers of the filters.
  /// Empty: nothing is wrong.
  std::vector<std::string> FindDamage();

  /// Visits the key of every entry in the order of the file, and says whether the filters let it
  /// through, as they must. Returns why some entries were not seen, or "".
  using KeyVisitor = std::function<void(std::string_view key, bool may_match)>;
  std::string ForEachKey(const KeyVisitor& visit);

  /// Whether a lookup of the key would go on after asking the filters.
  bool MayMatch(std::string_view key);

  /// What seeks with an upper bound get to hear from the filters of the range [begin, end); nothing
  /// if they are not asked for ranges.
  std::optional<bool> MayMatchRange(std::string_view begin, std::string_view end);

  /// Whether the file has a key in [begin, end). Only where MayMatchRange gives answers.
  bool HasKeyIn(std::string_view begin, std::string_view end);

  /// A key next to `present` that the file does not have, nor its prefix if the filters are of
  /// prefixes; nothing if none was found.
  std::optional<std::string> AbsentKey(std::string_view present, std::mt19937_64* random);

  /// An estimate, from reading one data block, of the share of its entries that are before the key,
  /// 0 to 1.
  double ShareBefore(std::string_view key);

 private:
  TableFile(const FilePlace& place, uint64_t num_bytes);
  bool HasPrefix(const rocksdb::Slice& prefix);

  // Whether the filters let a key or its prefix through; nothing if a lookup asks none, as for a
  // key after the last one.
  std::optional<bool> KeyMayMatch(const rocksdb::Slice& key);
  std::optional<bool> PrefixMayMatch(const rocksdb::Slice& key);
  // Whether every lookup and seek that can find the key would go on.
  bool PassesFilters(const rocksdb::Slice& key);
  TableLookup& Lookup();
  std::optional<bool> AnswerOf(const rocksdb::Status& lookup);

  OpenedTable table_;
  const FileReport report_;
  std::unique_ptr<rocksdb::FilterBitsReader> only_filter_;  // null if there are several
  // Where there are several, RocksDB chooses the one to ask.
  CapturedFilters captured_;
  std::unique_ptr<TableLookup> lookup_;
};

/// A key that sorts after `present`, and exists with a chance of 2^-64.
std::string RandomExtension(std::string_view present, std::mt19937_64* random);

}  // namespace blocksieve::cli
