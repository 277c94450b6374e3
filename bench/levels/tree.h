#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bench/support/database.h"
#include "bench/support/job.h"

namespace blocksieve::bench::levels {

/// Sizes of a tree. Level 1, or with dynamic level sizes the smallest one in use, has the keys of
/// about four flushes, the number that triggers a compaction.
struct Sizes {
  double size_ratio = 10;
  bool has_dynamic_levels = false;
  uint64_t keys_per_flush = 0;
};

/// A sorted run of the database: a file on level 0, or a deeper level.
struct Run {
  int level = 0;
  uint64_t keys = 0;
};

/// The runs of a tree, the size of its filters, and its wasted reads.
struct Measurement {
  std::vector<Run> runs = {};
  double bits_per_key = 0;
  double wasted_reads = 0;  ///< Data blocks read per lookup of an absent key.
  double blocks_read = 0;   ///< The same of blocks of all kinds, without those in the block cache.

  /// The fewest wasted reads possible with ribbons of the same total size: computed from the sizes
  /// of these runs, as if every lookup probed all of them. Only some lookups probe a partially
  /// filled level, so the measured figure may be lower.
  double optimum() const;
};

/// A database that is filled flush by flush, in random key order. Each flush waits until nothing is
/// left to compact, so that the tree depends on its sizes and keys only: all contestants have the
/// same one. It is in memory: blocks are counted, times are not measured.
class Tree : public Database {
 public:
  /// `path`: an existing directory. `set_up`: changes the options; may be empty.
  Tree(const Sizes& sizes, const std::shared_ptr<const rocksdb::FilterPolicy>& policy,
       std::filesystem::path path, const std::function<void(rocksdb::Options&)>& set_up = {});

  void Flushes(int count);
  void RewriteFilters();

  /// Looks up absent keys, spread over the whole key range, and the same for all trees.
  Measurement Measure(uint64_t lookups);

 private:
  void WaitForCompactions();
  std::vector<Run> Runs();

  const uint64_t keys_per_flush_;
  uint64_t next_key_ = 0;
};

}  // namespace blocksieve::bench::levels
