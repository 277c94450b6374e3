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
  /// Copies of a hash may be dropped. Returns false if no seed and no width will do. Chunks of
  /// distinct hashes are always solved, unless there are thousands of hashes in them.
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

  void TakeHashes(std::span<const uint64_t> hashes);
  /// The distinct ones; in their order, if they are as few as a chunk has. The others are lost.
  std::span<uint64_t> DropCopies(std::span<uint64_t> hashes);
  Place PlaceOf(size_t num_hashes, int64_t widening, uint64_t first_octet, bool last) const;
  /// Of all that may be tried, those from number `first_try` on, until one succeeds. No results:
  /// fingerprints. REQUIRES: TakeHashes(hashes)
  bool Try(std::span<const uint64_t> hashes, std::span<const uint32_t> results,
           uint64_t first_octet, bool last, size_t first_try, size_t end_try);
  bool FitsQueue(const Place& place, uint32_t longest, uint32_t most_empty) const noexcept;
  void OrderRows(std::span<const uint64_t> hashes, std::span<const uint32_t> results,
                 const Place& place);
  bool Eliminate();

  const RibbonSolver& solver_;
  uint32_t fingerprint_columns_;
  RibbonCarried carried_;
  uint64_t chunks_ = 0;
  bool expects_copies_ = false;  // because the chunk last looked at had some

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
  std::vector<uint64_t> seen_;

  uint64_t seeds_tried_ = 0;
  uint64_t eliminations_ = 0;
  uint64_t widenings_ = 0;
};

}  // namespace blocksieve::internal
