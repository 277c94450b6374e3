#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace blocksieve::bench::toy {

/// What the engine counted while it looked keys up, of one kind, beginning with nothing cached.
struct LookupCounts {
  uint64_t lookups = 0;
  uint64_t data_blocks_from_disk = 0;
  uint64_t data_blocks_from_cache = 0;
  uint64_t filter_blocks_from_disk = 0;
  uint64_t filter_blocks_from_cache = 0;
  uint64_t bytes_from_disk = 0;   ///< As stored, of everything.
  uint64_t bytes_from_cache = 0;  ///< Of blocks, uncompressed.
  uint64_t filter_negatives = 0;
  uint64_t false_positives = 0;
  uint64_t true_positives = 0;

  uint64_t data_blocks() const { return data_blocks_from_disk + data_blocks_from_cache; }
  double data_blocks_per_lookup() const { return PerLookup(data_blocks()); }
  uint64_t filter_blocks() const { return filter_blocks_from_disk + filter_blocks_from_cache; }
  double filter_blocks_per_lookup() const { return PerLookup(filter_blocks()); }
  double bytes_from_disk_per_lookup() const { return PerLookup(bytes_from_disk); }
  double bytes_from_cache_per_lookup() const { return PerLookup(bytes_from_cache); }
  double PerLookup(uint64_t count) const {
    return static_cast<double>(count) / static_cast<double>(lookups);
  }
};

/// Lookups with one set-up of key filters.
struct LookupResult {
  std::string filters;       ///< For the tables.
  double target_fpr = 0;     ///< The same on all levels; 0: no filters.
  bool per_granule = false;  ///< A filter per granule of data blocks, not per file.
  uint64_t runs = 0;  ///< Files of level 0 and levels below: data blocks that a key can be in.
  uint64_t filter_bytes = 0;         ///< In all files, uncompressed.
  uint64_t filter_memory_bytes = 0;  ///< Of the same as the cache counts them.
  uint64_t block_index_bytes = 0;    ///< Of the block indexes, read when files are opened.
  LookupCounts absent;
  LookupCounts present;

  /// After all keys in a contiguous hundredth of the keys were looked up, nothing cached before:
  /// bytes of filters in the cache. Mean of several hundredths.
  double resident_filter_bytes = 0;

  /// Data blocks read in vain per lookup of an absent key, against target FPR x runs.
  double against_target_fpr() const {
    return absent.PerLookup(absent.false_positives) / (target_fpr * static_cast<double>(runs));
  }
  double resident_share() const {
    return resident_filter_bytes / static_cast<double>(filter_memory_bytes);
  }
};

/// Scans for one value of a column, summed over different values, each with nothing cached.
struct ScanResult {
  std::string column;
  std::string state;  ///< Of the tree.
  uint64_t runs = 0;
  uint64_t queries = 0;
  uint64_t rows = 0;              ///< Returned; each answer was compared with the expected one.
  uint64_t data_blocks_read = 0;  ///< Data blocks read.
  uint64_t oracle_blocks = 0;     ///< Different data blocks that hold a row of the answer.
  uint64_t full_scan_blocks = 0;  ///< Read by one scan without the skip index.
  uint64_t skip_index_bytes = 0;  ///< Of all files, read once and then in memory.

  double against_oracle() const {
    return static_cast<double>(data_blocks_read) / static_cast<double>(oracle_blocks);
  }
  double data_blocks_per_query() const { return PerQuery(data_blocks_read); }
  double oracle_blocks_per_query() const { return PerQuery(oracle_blocks); }
  double PerQuery(uint64_t sum) const {
    return static_cast<double>(sum) / static_cast<double>(queries);
  }
};

/// A whole run.
struct Results {
  std::string input;  ///< Description of the rows.
  uint64_t num_rows = 0;
  uint64_t row_bytes = 0;    ///< Of keys and values.
  uint64_t cache_bytes = 0;  ///< Of the block cache during lookups.
  double seconds = 0;
  std::vector<LookupResult> lookups;
  std::vector<ScanResult> scans;
};

/// Writes toylsm.json into `dir`, created if missing. Throws Failure.
void WriteJson(const Results& results, const std::filesystem::path& dir);

}  // namespace blocksieve::bench::toy
