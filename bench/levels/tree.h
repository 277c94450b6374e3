#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "bench/support/database.h"

namespace blocksieve::bench::levels {

/// Sizes of a tree. Level 1, or with dynamic level sizes the smallest one that is used, has the
/// keys of about four flushes, as many as start a compaction.
struct Sizes {
  double size_ratio = 10;
  bool has_dynamic_levels = false;
  uint64_t keys_per_flush = 0;
};

/// A sorted run as the database has it: a file of level 0, or a deeper level.
struct Run {
  int level = 0;
  uint64_t keys = 0;
  uint64_t filter_bytes = 0;

  double bits_per_key() const {
    return 8 * static_cast<double>(filter_bytes) / static_cast<double>(keys);
  }
};

/// A tree with its filters, and what they let through.
struct Measurement {
  std::vector<Run> runs = {};
  double bits_per_key = 0;
  double wasted_reads = 0;  ///< Data blocks read per lookup of an absent key.

  /// The fewest wasted reads of ribbons in as many bytes: computed from the sizes of these runs, as
  /// if every lookup asked all of them. A level that has just begun is asked for a part of the keys
  /// only, so that what is measured may come out below.
  double optimum() const;
};

/// A database that is filled in random order of the keys, flush by flush. Between two flushes it is
/// left alone until there is nothing more to compact, so that the tree depends on nothing but its
/// sizes and the keys: all contestants have the same one. It lies in memory: blocks are counted,
/// and no times are measured.
class Tree : public Database {
 public:
  /// `policy`: of filters, as in an option string. `path`: a directory that exists.
  Tree(const Sizes& sizes, const std::string& policy, std::filesystem::path path);

  void Flushes(int count);

  /// Looks absent keys up, spread over all keys. The same ones for all trees.
  Measurement Measure(uint64_t lookups);

 private:
  void WaitForCompactions();
  std::vector<Run> Runs();

  const uint64_t keys_per_flush_;
  uint64_t next_key_ = 0;
};

}  // namespace blocksieve::bench::levels
