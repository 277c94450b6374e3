#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lib/ribbon/solver.h"

namespace blocksieve::internal {

/// Finds a seed and a number of slots for the rows of one chunk, and eliminates them.
///
/// Rows that have no pivot yet are a queue: those that start in an octet join, and each column
/// serves one. As long as the queue neither runs empty, which wastes a slot, nor grows beyond what
/// the 64 coefficients of a row can bridge, elimination succeeds almost surely. So a histogram of
/// starts tells cheaply whether a seed will do. Whatever is accepted is decided by integers that
/// are the same on every kernel.
class RibbonChunkSolver {
 public:
  RibbonChunkSolver(const RibbonSolver& solver, uint32_t fingerprint_columns)
      : solver_(solver), fingerprint_columns_(fingerprint_columns) {}

  /// Solves the next chunk, which starts at virtual octet `first_octet`. `last`: no other follows,
  /// so all slots up to the end of the filter are the chunk's, and no row may be left over.
  /// Returns false, with nothing changed but the order of the hashes, if no seed and no width will
  /// do. Chunks of distinct hashes are always solved, unless there are thousands of hashes in them.
  /// Throws std::bad_alloc.
  bool Solve(std::span<uint64_t> hashes, uint64_t first_octet, bool last);

  /// The same where the slots of hash i shall give results[i] and not its fingerprint.
  /// REQUIRES: hashes differ
  bool Solve(std::span<const uint64_t> hashes, std::span<const uint32_t> results,
             uint64_t first_octet, bool last);

  // Of the chunk last solved:
  uint32_t seed() const noexcept { return seed_; }
  uint32_t num_octets() const noexcept { return num_octets_; }  ///< Virtual ones; 1 ... 4095.
  size_t num_columns() const noexcept { return num_columns_; }  ///< With a pivot each, if any.
  const uint64_t* pivots() const noexcept { return pivots_.data(); }
  const uint8_t* planes() const noexcept { return planes_.data(); }

  uint64_t seeds_tried() const noexcept { return seeds_tried_; }
  uint64_t eliminations() const noexcept { return eliminations_; }
  uint64_t widenings() const noexcept { return widenings_; }

 private:
  struct Place;

  /// No results: fingerprints.
  bool SolveAnyhow(std::span<const uint64_t> hashes, std::span<const uint32_t> results,
                   uint64_t first_octet, bool last);
  bool FitsQueue(const Place& place, uint32_t longest, uint32_t most_empty) const noexcept;
  void OrderRows(std::span<const uint64_t> hashes, std::span<const uint32_t> results,
                 const Place& place);
  bool Eliminate();

  const RibbonSolver& solver_;
  uint32_t fingerprint_columns_;
  RibbonCarried carried_;

  uint32_t seed_ = 0;
  uint32_t num_octets_ = 0;
  size_t num_columns_ = 0;
  std::vector<uint64_t> pivots_;
  std::vector<uint8_t> planes_;

  std::vector<uint64_t> mixed_;
  std::vector<uint32_t> starts_;
  std::vector<uint32_t> octet_counts_;
  std::vector<uint32_t> next_row_;
  std::vector<RibbonRow> rows_;

  uint64_t seeds_tried_ = 0;
  uint64_t eliminations_ = 0;
  uint64_t widenings_ = 0;
};

}  // namespace blocksieve::internal
