#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

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
  std::string policy;
  Measurement measured;
};

/// A contestant with all of its settings.
struct Curve {
  std::string name;
  std::vector<Point> points;
};

/// One shape of tree, with all contestants.
struct TreeResults {
  std::string name;
  double size_ratio = 0;
  bool dynamic_levels = false;
  std::vector<Curve> contestants;
  Measurement after_reopening;  ///< the same tree, closed, opened, and some flushes later
  int flushes_after_reopening = 0;

  Point asked_for_reads;  ///< by level, asked for the wasted reads of that stock Bloom filter
};

struct Results {
  uint64_t keys = 0;
  uint64_t lookups = 0;
  double seconds = 0;
  std::vector<TreeResults> trees;
};

/// Writes levels.json into `dir`. Throws Failure.
void WriteJson(const Results& results, const std::filesystem::path& dir);

}  // namespace blocksieve::bench::levels
