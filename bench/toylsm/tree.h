#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <vector>

#include "bench/support/dataset.h"
#include "bench/support/job.h"
#include "bench/support/rows.h"
#include "integration/toylsm/db.h"

namespace blocksieve::bench::toy {

/// Options of a tree of several levels for any number of rows. No key filters, no skip index.
toylsm::Options TreeOptions(const Rows& rows);

/// Opens a database. Throws Failure, like all functions here.
std::unique_ptr<toylsm::Db> OpenDb(const toylsm::Options& options,
                                   const std::filesystem::path& path);

/// Writes the rows in random order and flushes. Equal rows, options and seeds make equal trees.
void WriteRows(toylsm::Db& db, const Rows& rows, uint64_t seed);

/// Empties the cache and resets all counters.
void ForgetReads(toylsm::Db& db);

void Check(const Status& status, const char* what);

/// The data block of the newest version of each row: with it, the fewest blocks a scan could read.
class RowBlocks {
 public:
  /// Reads everything. REQUIRES: `db` has exactly these keys, none in its memtable. Throws Failure.
  RowBlocks(toylsm::Db& db, const Rows& rows);

  /// Number of distinct blocks that hold these rows.
  size_t Count(std::span<const uint32_t> rows) const;

  uint64_t num_blocks() const { return num_blocks_; }

 private:
  std::vector<uint64_t> block_of_row_;
  uint64_t num_blocks_ = 0;
};

/// Amount of measuring.
struct Effort {
  uint64_t lookups = 200'000;  ///< Lookups of absent keys, and as many of present ones.
  size_t queries = 100;        ///< Scans of each column, each for one value.
};

/// Writes the rows once per configuration of key filters and looks up keys. Throws Failure on any
/// error, any wrong answer, and if the engine's counts do not add up.
void MeasureLookups(const Dataset& dataset, const Effort& effort, Job& job);

/// Scans for values of each column, with the skip index and without: of a tree of several levels,
/// after its compaction, and after a fifth of the rows was rewritten. Throws Failure on any error
/// and any wrong answer.
void MeasureScans(const Dataset& dataset, const Effort& effort, Job& job);

}  // namespace blocksieve::bench::toy
