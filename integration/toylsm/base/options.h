#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <optional>
#include <vector>

#include "blocksieve/filter.h"
#include "blocksieve/skip_index.h"
#include "integration/toylsm/base/env.h"

namespace blocksieve::toylsm {

inline constexpr int kNumLevels = 8;

struct Options {
  Env* env = Env::Posix();

  // Shape of the tree.
  uint64_t memtable_bytes = 4 << 20;  ///< a larger memtable is flushed
  uint32_t level0_files = 4;          ///< this many files of level 0 start a compaction
  uint64_t level1_bytes = 16 << 20;   ///< limit of level 1
  double size_ratio = 10;             ///< ratio of the limits of adjacent levels, 2 to 1e9
  uint64_t file_bytes = 4 << 20;      ///< target size of files from level 1 on

  // Shape of a file.
  uint64_t block_bytes = 4 << 10;  ///< target size of data blocks, from 1

  /// Key filters by level; deeper levels are like the last one. Empty: no key filters. Upper levels
  /// are small: low FPRs cost little memory there, and save as many reads.
  std::vector<FilterOptions> key_filters = {{.target_fpr = 0.001},
                                            {.kind = FilterKind::kRibbon, .target_fpr = 0.001},
                                            {.kind = FilterKind::kRibbon}};

  /// At most one of these two replaces the target_fprs above. Each new file then gets the best FPR
  /// for the sizes of all runs.

  /// Wasted data-block reads per lookup of an absent key, with the least memory: 1e-6 to 100.
  std::optional<double> wasted_reads = std::nullopt;
  /// Bits of filters per key, with the fewest wasted reads: 0.1 to 32.
  std::optional<double> bits_per_key = std::nullopt;

  /// Data blocks per key filter. 0: one filter for the file.
  uint32_t filter_granule_blocks = 8;

  /// The skip index of each file; without columns, none. Its granules are the data blocks.
  SkipIndexOptions skip_index = {};

  uint64_t cache_bytes = 32 << 20;  ///< for data and filter blocks
};

}  // namespace blocksieve::toylsm
