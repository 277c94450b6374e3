#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <vector>

#include "bench/support/rows.h"
#include "integration/toylsm/db.h"

namespace blocksieve::bench::toy {

/// Options of a tree that these rows give several levels, whatever their number, with nothing but
/// data in it: no key filters, no skip index.
toylsm::Options TreeOptions(const Rows& rows);

/// Opens a database. Throws Failure, as everything here does.
std::unique_ptr<toylsm::Db> OpenDb(const toylsm::Options& options,
                                   const std::filesystem::path& path);

/// Writes the rows in random order and flushes them. The same rows, options and seed make the same
/// tree.
void WriteRows(toylsm::Db& db, const Rows& rows, uint64_t seed);

/// Forgets what was read: empties the cache and sets all counters to zero.
void ForgetReads(toylsm::Db& db);

void Check(const Status& status, const char* what);

/// Which data block holds the newest version of each row: the measure of the least that a scan
/// could read.
class RowBlocks {
 public:
  /// Reads everything. The database must have just these keys, and its memtable must be empty.
  /// Throws Failure.
  RowBlocks(toylsm::Db& db, const Rows& rows);

  /// Different blocks that hold these rows.
  size_t Count(std::span<const uint32_t> rows) const;

  uint64_t num_blocks() const { return num_blocks_; }

 private:
  std::vector<uint64_t> block_of_row_;
  uint64_t num_blocks_ = 0;
};

}  // namespace blocksieve::bench::toy
