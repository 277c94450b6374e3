#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "blocksieve/column.h"
#include "integration/toylsm/base/env.h"
#include "lib/block/filter_info.h"

namespace blocksieve::toylsm {

inline constexpr int kNumLevels = 8;

/// The key filters of one level's files.
struct KeyFilterOptions {
  bool enabled = true;
  FilterKind kind = FilterKind::kRibbon;  ///< or kBlockedBloom
  double target_fpr = 0.01;

  /// Filters answer range queries, too, with this FPR for short empty ranges: 1e-5 to 0.3.
  bool ranges = false;
  double range_fpr = 0.011;
};

/// The skip index of each file, whose granules are the data blocks.
struct SkipIndexOptions {
  ColumnList columns = {};  ///< Empty: no skip index.

  /// FPR of the filters: of the granules that lack a value, the share that may match it.
  double target_fpr = 0.001;
};

struct Options {
  Env* env = Env::Posix();

  // Shape of the tree.
  uint64_t memtable_bytes = 4 << 20;  ///< a larger memtable is flushed
  uint32_t level0_files = 4;          ///< this many files of level 0 start a compaction
  uint64_t level1_bytes = 16 << 20;   ///< limit of level 1
  double size_ratio = 10;             ///< ratio of the limits of adjacent levels, 2 or more
  uint64_t file_bytes = 4 << 20;      ///< target size of files from level 1 on

  // Shape of a file.
  uint64_t block_bytes = 4 << 10;  ///< target size of data blocks, before compression
  int zstd_level = 1;

  /// Key filters by level; deeper levels are like the last one. Empty: no key filters. Upper levels
  /// are small: low FPRs cost little memory there, and save as many reads.
  std::vector<KeyFilterOptions> key_filters = {
      {.kind = FilterKind::kBlockedBloom, .target_fpr = 0.001}, {.target_fpr = 0.001}, {}};

  /// At most one of these two replaces the target_fprs above. Each new file then gets the best FPR
  /// for the sizes of all runs.
  /// @{
  /// Wasted data-block reads per lookup of an absent key, with the least memory: 1e-6 to 100.
  std::optional<double> wasted_reads = std::nullopt;
  /// Bits of filters per key, with the fewest wasted reads: 0.1 to 32.
  std::optional<double> bits_per_key = std::nullopt;
  /// @}

  /// Data blocks per key filter. 0: one filter for the file.
  uint32_t filter_granule_blocks = 8;

  SkipIndexOptions skip_index = {};

  uint64_t cache_bytes = 32 << 20;  ///< for data and filter blocks
};

}  // namespace blocksieve::toylsm
