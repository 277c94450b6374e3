#pragma once

#include <rocksdb/cache.h>
#include <rocksdb/db.h>
#include <rocksdb/statistics.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "bench/support/dataset.h"
#include "blocksieve/rocksdb/skip_index.h"

namespace blocksieve::bench::skip {

/// What is in the block cache when a scan begins.
enum class Temperature {
  kCold,  ///< Nothing. If the database was opened so, reads go past the page cache as well.
  kWarm,  ///< What earlier scans read.
};

/// What one scan took.
struct ScanCost {
  uint64_t data_blocks = 0;  ///< Read, not found in the block cache (BLOCK_CACHE_DATA_MISS).
  double seconds = 0;
  ScanExplanation explanation;
};

/// A RocksDB of a dataset's rows with a skip index. Every error of RocksDB and every wrong answer
/// throws Failure.
class Database {
 public:
  /// Creates it in `path`, which must not exist. `index`: none if empty. `dataset` must outlive
  /// this.
  Database(const Dataset& dataset, std::filesystem::path path,
           const std::optional<SkipIndexOptions>& index, bool direct_reads);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  /// Writes all rows, in the order given, and compacts them into one level.
  void Fill(const std::vector<uint32_t>& order);

  /// Writes the dataset's rewritten rows: half of them into level 1, half into four files of level
  /// 0. All of these files span all keys.
  void Rewrite();

  /// Compares the answer with `query.rows` of `values`.
  ScanCost Scan(const Query& query, const std::vector<std::string_view>& values,
                Temperature temperature, bool use_index);

  rocksdb::DB& db() { return *db_; }
  SkipIndexSummary Indexes();

 private:
  void Check(const rocksdb::Status& status, std::string_view what) const;

  const Dataset& dataset_;
  const std::filesystem::path path_;
  const std::shared_ptr<rocksdb::Cache> cache_;
  const std::shared_ptr<rocksdb::Statistics> statistics_;
  std::unique_ptr<rocksdb::DB> db_;
};

}  // namespace blocksieve::bench::skip
