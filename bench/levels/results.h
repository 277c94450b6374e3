#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/support/results.h"

namespace blocksieve::bench::levels {

/// A sorted run as the database has it: a file of level 0, or a deeper level.
struct Run {
  int level = 0;
  uint64_t keys = 0;
  uint64_t filter_bytes = 0;
};

/// A tree with its filters, and what they let through.
struct Measurement {
  std::vector<Run> runs = {};
  uint64_t lookups = 0;             ///< of absent keys
  uint64_t wasted_data_blocks = 0;  ///< that they read

  uint64_t keys() const;
  uint64_t filter_bytes() const;
  double bits_per_key() const;
  double wasted_reads() const;
  /// The fewest wasted reads of ribbons in as many bytes: computed from the sizes of these runs, as
  /// if every lookup asked all of them. A level that has just begun is asked for a part of the keys
  /// only, so that what is measured may come out below.
  double optimum() const;
};

/// The setting of the stock Bloom filter that everything else is held against: RocksDB's usual one.
inline constexpr double kComparedBits = 10;

/// One contestant with one setting.
struct Point {
  double asked_bits = 0;
  Measurement measured;
};

/// A contestant with all of its settings.
struct Curve {
  std::string name;
  std::vector<Point> points;  ///< by ascending bits
};

// Names of contestants that others are compared with.
inline constexpr const char* kStockBloom = "stock Bloom";
inline constexpr const char* kStockRibbon = "stock Ribbon";
inline constexpr const char* kStockMixed = "stock Ribbon, Bloom on level 0";
inline constexpr const char* kSameRate = "blocksieve ribbon, same rate on all levels";
inline constexpr const char* kByLevel = "blocksieve ribbon, by level";
inline constexpr const char* kAutoByLevel = "blocksieve auto, by level";

/// One shape of tree, with all contestants.
struct TreeResults {
  std::string name;
  std::vector<Curve> contestants;
  Measurement after_reopening;  ///< the same tree, closed, opened, and some flushes later
  Measurement asked_for_reads;  ///< by level, asked for the wasted reads of that stock Bloom filter
};

/// Rows of the curves, of the runs of each tree, and of the ratios that have targets.
void AddRows(const TreeResults& tree, Results& results);

}  // namespace blocksieve::bench::levels
