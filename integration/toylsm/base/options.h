#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "blocksieve/column.h"
#include "blocksieve/filter_kind.h"
#include "integration/toylsm/base/env.h"

namespace blocksieve::toylsm {

inline constexpr int kNumLevels = 8;

/// The key filters of one level's files.
struct KeyFilterOptions {
  bool enabled = true;
  FilterKind kind = FilterKind::kRibbon;  ///< or kBlockedBloom
  double target_fpr = 0.01;

  /// They answer for ranges, too: share of short ranges without keys that they let through, 1e-5 to
  /// 0.3. 0: they do not.
  double range_fpr = 0;
};

struct Options {
  Env* env = Env::Posix();

  /// If false, a database that does not exist is an error.
  bool create_if_missing = true;

  // Shape of the tree.
  uint64_t memtable_bytes = 4 << 20;  ///< flushed when it has as many
  uint32_t level0_files = 4;          ///< as many files there start a compaction
  uint64_t level1_bytes = 16 << 20;   ///< most bytes of level 1
  double size_ratio = 10;             ///< each deeper level may have this many times more
  uint64_t file_bytes = 4 << 20;      ///< files of levels from 1 on are cut there

  // Shape of a file.
  uint64_t block_bytes = 4 << 10;  ///< of a data block, before compression
  int zstd_level = 1;

  /// Key filters by level; levels beyond the last one are like it. Empty: none at all.
  /// Levels near the top are small: precise filters cost little there, and save as many reads.
  std::vector<KeyFilterOptions> key_filters = {
      {.kind = FilterKind::kBlockedBloom, .target_fpr = 0.001}, {.target_fpr = 0.001}, {}};

  /// Instead of those target_fprs, at most one of: useless data-block reads per lookup of an absent
  /// key, over the whole tree, with the least memory that does (1e-6 to 100); or bits of filters
  /// per key, over the whole tree, with the fewest such reads (0.1 to 32). Each file gets the rate
  /// that is best for the sizes of all runs when it is written. Small filters, of few blocks, take
  /// a few percent more memory than that.
  std::optional<double> wasted_reads = std::nullopt;
  std::optional<double> bits_per_key = std::nullopt;

  /// Data blocks that share a key filter, which is read as a whole. 0: all of a file.
  uint32_t filter_granule_blocks = 8;

  /// Columns of the skip index. Empty: files get none.
  std::vector<Column> value_columns;
  /// Share of the granules without a value that are read for it. Low, since each costs a read, and
  /// most granules lack most values.
  double value_target_fpr = 0.001;
  uint32_t value_granule_blocks = 1;  ///< data blocks to a granule

  uint64_t cache_bytes = 32 << 20;  ///< for data and filter blocks
};

}  // namespace blocksieve::toylsm
