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

  /// Filters answer for ranges, too, and let this share of short empty ones through: 1e-5 to 0.3.
  bool ranges = false;
  double range_fpr = 0.011;
};

/// The skip index of each file, whose granules are the data blocks.
struct SkipIndexOptions {
  ColumnList columns = {};  ///< Empty: no skip index.

  /// Share of the granules without a value that are read for it.
  double target_fpr = 0.001;
};

struct Options {
  Env* env = Env::Posix();

  // Shape of the tree.
  uint64_t memtable_bytes = 4 << 20;  ///< a larger memtable is flushed
  uint32_t level0_files = 4;          ///< this many files of level 0 start a compaction
  uint64_t level1_bytes = 16 << 20;   ///< limit of level 1
  double size_ratio = 10;             ///< of the limits of a level and the one above, 2 or more
  uint64_t file_bytes = 4 << 20;      ///< size at which files of level 1 and below are cut

  // Shape of a file.
  uint64_t block_bytes = 4 << 10;  ///< size at which data blocks are cut, before compression
  int zstd_level = 1;

  /// Key filters by level; levels beyond the last one are like it. Empty: no key filters.
  /// Levels near the top are small: precise filters cost little there, and save as many reads.
  std::vector<KeyFilterOptions> key_filters = {
      {.kind = FilterKind::kBlockedBloom, .target_fpr = 0.001}, {.target_fpr = 0.001}, {}};

  /// At most one of these two replaces the target_fprs above. Each new file then gets the rate that
  /// is best for the sizes of all runs.
  /// @{
  /// Useless data-block reads per lookup of an absent key, with the least memory: 1e-6 to 100.
  std::optional<double> wasted_reads = std::nullopt;
  /// Bits of filters per key, with the fewest such reads: 0.1 to 32.
  std::optional<double> bits_per_key = std::nullopt;
  /// @}

  /// Data blocks that share a key filter, which is read as a whole. 0: one filter for the file.
  uint32_t filter_granule_blocks = 8;

  SkipIndexOptions skip_index = {};

  uint64_t cache_bytes = 32 << 20;  ///< for data and filter blocks
};

}  // namespace blocksieve::toylsm
