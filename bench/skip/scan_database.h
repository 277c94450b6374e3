#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>
#include <vector>

#include "bench/support/database.h"
#include "bench/support/dataset.h"
#include "blocksieve/rocksdb/skip_index.h"

namespace blocksieve::bench::skip {

/// Sets blocksieve's filters and, unless it is empty, a skip index. Throws Failure.
void SetUp(const std::optional<SkipIndexOptions>& index, rocksdb::Options& options);

/// What one scan took.
struct ScanCost {
  uint64_t data_blocks = 0;  ///< Read, not found in the block cache.
  double seconds = 0;
  ScanExplanation explanation;
};

/// A RocksDB of a dataset's rows with a skip index. Reads are cold once. Every wrong answer throws
/// Failure.
class ScanDatabase : public Database {
 public:
  /// Opens it. `index`: none if empty. `dataset` must outlive this.
  ScanDatabase(const Dataset& dataset, std::filesystem::path path,
               const std::optional<SkipIndexOptions>& index);

  /// Writes all rows, in the order given, and compacts them into one level.
  void Fill(const std::vector<uint32_t>& order);

  /// Writes the dataset's rewritten rows: half of them into level 1, half into four files of level
  /// 0. All of these files span all keys.
  void Rewrite();

  /// Compares the answer with `query.rows` of `values`. Call ForgetReads before for a cold scan.
  ScanCost Scan(const Query& query, const std::vector<std::string_view>& values, bool use_index);

 private:
  const Dataset& dataset_;
};

}  // namespace blocksieve::bench::skip
