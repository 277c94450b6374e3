#pragma once

#include <rocksdb/comparator.h>
#include <rocksdb/options.h>
#include <rocksdb/sst_file_reader.h>
#include <rocksdb/table_properties.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "integration/rocksdb/maintenance/captured_filters.h"

namespace blocksieve::cli {

/// The latest timestamp in the order of RocksDB's comparators; empty if keys have none. Iterators
/// over keys with timestamps require a time.
std::string LastTime(const rocksdb::Comparator& comparator);

/// An open table, with the comparator and prefix extractor that it names, and its filters. Not
/// thread-safe.
class OpenedTable {
 public:
  /// `comparator`: that of the database for a table that names none; may be null. Throws Failure.
  OpenedTable(const std::string& path, const rocksdb::Comparator* comparator);

  /// NoProperties() if the table has none.
  const rocksdb::TableProperties& properties() const { return *shared_properties; }
  const rocksdb::SliceTransform* extractor() const { return options_.prefix_extractor.get(); }
  rocksdb::SstFileReader* reader() { return reader_.get(); }
  bool is_block_based() const { return format.empty() || format == "BlockBasedTable"; }

  /// The bytes of each filter; empty without filters, or if RocksDB cannot read them.
  const std::vector<std::string>& filters() const { return filters_.contents(); }

  /// The options to read this table with a filter policy.
  rocksdb::Options OptionsWith(std::shared_ptr<const rocksdb::FilterPolicy> policy) const;

  /// Visits the user key, without its timestamp, of every entry, including deletes and older
  /// versions. In a table with merge operands, visits each existing key once instead. Returns why
  /// some entries were not visited, or "". Throws Failure if the table cannot be read to its end.
  std::string ForEachKey(const std::function<void(const rocksdb::Slice& key)>& visit);

  /// An iterator over all keys. REQUIRES: why_no_keys is "".
  rocksdb::Iterator& probe();

 private:
  void TryOpen();
  rocksdb::Status TryOpenWith(std::shared_ptr<const rocksdb::FilterPolicy> policy);

 public:
  const std::string path;
  const std::string format;  ///< As OPTIONS files name it; "" if unknown.
  std::string why_no_keys;   ///< Why the keys cannot be read in their order; "" if they can.
  std::shared_ptr<const rocksdb::TableProperties> shared_properties;

  /// Whether the filters have whole keys, prefixes, or both.
  bool has_whole_keys = false;
  bool has_prefixes = false;

  /// Why filters() is empty although the table has filters: a filter per block, as RocksDB
  /// before 7.0 wrote, or damage, empty if unknown.
  bool has_obsolete_filter = false;
  std::string filter_damage;

 private:
  rocksdb::Options options_;
  std::unique_ptr<rocksdb::SstFileReader> reader_;
  rocksdb_plugin::CapturedFilters filters_;
  std::string last_time_;
  rocksdb::Slice until_;  // last_time_, which probe_ refers to
  std::unique_ptr<rocksdb::Iterator> probe_;
};

}  // namespace blocksieve::cli
