#pragma once  // SPDX-License-Identifier: Apache-2.0

#include "bench/skip/experiment.h"
#include "bench/support/database.h"
#include "blocksieve/rocksdb/skip_index.h"

namespace blocksieve::bench::skip {

/// The data block of the newest version of each row: with it, the fewest blocks a scan could read.
struct RowBlocks {
  std::vector<uint64_t> block_of_row;
  uint64_t num_blocks = 0;

  /// Number of distinct blocks that hold these rows.
  size_t Count(std::span<const uint32_t> rows) const;
};

/// Calls visit(row, block) for each entry, oldest files first; blocks count from 1. Returns their
/// number. Reads all files with readers of its own. REQUIRES: all keys of the files are in `rows`;
/// memtables are empty. Throws Failure, also if RocksDB recorded another number of blocks.
uint64_t ForEachEntry(rocksdb::DB& db, const Rows& rows,
                      const std::function<void(size_t row, uint64_t block)>& visit);
RowBlocks BlocksOf(rocksdb::DB& db, const Rows& rows);

/// The cost of one scan.
struct ScanCost {
  uint64_t data_blocks = 0;  ///< Read, not found in the block cache.
  double seconds = 0;
};

/// A RocksDB of a dataset's rows with a skip index. Reads: kColdOnce. Wrong answers throw Failure.
class ScanDatabase : public Database {
 public:
  /// Opens the database. Empty `index`: no skip index. `collector`, which may be null, is RocksDB's
  /// own. `dataset` must outlive this.
  ScanDatabase(const Dataset& dataset, std::filesystem::path path,
               const std::optional<SkipIndexOptions>& index, bool by_block = false,
               std::shared_ptr<rocksdb::TablePropertiesCollectorFactory> collector = nullptr);

  /// Writes all rows in the given order and compacts them into one level.
  void Fill(const std::vector<uint32_t>& order);

  /// Writes the rewritten rows again: half to level 1, half to four files on level 0. All of
  /// these files span the whole key range.
  void Rewrite();

  /// Scans, and compares the result with `query.rows`. Cold only after ForgetReads.
  ScanCost Scan(const Query& query, bool use_index);

  /// The same with an iterator of RocksDB that leaves out files (PruneReads).
  ScanCost ReadPruned(const Query& query);

  /// The same with an iterator by these options.
  ScanCost Read(const Query& query, const std::function<rocksdb::ReadOptions()>& make_options);

 private:
  template <class ReadAll>
  ScanCost Measure(const Query& query, ReadAll read_all);

  const Dataset& dataset_;
};

}  // namespace blocksieve::bench::skip
