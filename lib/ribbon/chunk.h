#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <span>
#include <vector>

#include "lib/ribbon/solver.h"

namespace blocksieve::internal {

/// Finds a seed and a number of slots for the rows of one chunk, and eliminates them.
///
/// Rows without a pivot form a queue: the rows that start in an octet join it, and each column
/// serves one. Elimination succeeds almost surely if the queue never grows beyond the 64
/// coefficients of a row; an empty queue wastes a slot. So a histogram of starts shows cheaply
/// whether a seed will succeed. All decisions are made in integer arithmetic, which is the same on
/// every kernel.
class RibbonChunkSolver {
 public:
  RibbonChunkSolver(const RibbonSolver& solver, uint32_t fingerprint_columns)
      : solver_(solver), fingerprint_columns_(fingerprint_columns) {}

  /// Solves the next chunk, which starts at virtual octet `first_octet`. The `last` chunk gets all
  /// slots up to the end of the filter and must carry no row. Copies of a hash may be dropped,
  /// unless there are `results`, which take the place of fingerprints; hashes must then be
  /// distinct. False if no seed and width succeeds; chunks of distinct hashes always succeed unless
  /// they have thousands. Throws std::bad_alloc.
  bool Solve(std::span<uint64_t> hashes, std::span<const uint32_t> results, uint64_t first_octet,
             bool last);

  // Results of the chunk last solved.
  uint32_t seed() const noexcept { return seed_; }
  uint32_t num_octets() const noexcept { return num_octets_; }  ///< Virtual octets, 1 to 4095.
  size_t num_columns() const noexcept { return num_columns_; }  ///< Each has at most one pivot.
  const uint64_t* pivots() const noexcept { return pivots_.data(); }
  const uint8_t* planes() const noexcept { return planes_.data(); }

 private:
  struct Place;

  void TakeHashes(std::span<const uint64_t> hashes);
  /// Moves the distinct hashes to the front and returns them; in their order, unless there are more
  /// than kMaxChunkRows.
  std::span<uint64_t> DropCopies(std::span<uint64_t> hashes);
  Place FindPlace(size_t num_hashes, int64_t widening, uint64_t first_octet, bool last) const;
  /// Makes tries `first_try` to `end_try` until one succeeds. Empty `results` stand for
  /// fingerprints. REQUIRES: TakeHashes(hashes)
  bool Try(std::span<const uint64_t> hashes, std::span<const uint32_t> results,
           uint64_t first_octet, bool last, size_t first_try, size_t end_try);
  bool FitsQueue(const Place& place, bool is_loose) const noexcept;
  void OrderRows(std::span<const uint64_t> hashes, std::span<const uint32_t> results,
                 const Place& place);
  bool Eliminate();

  const RibbonSolver& solver_;
  uint32_t fingerprint_columns_;
  RibbonCarried carried_;
  uint64_t chunks_ = 0;
  bool expects_copies_ = false;  // the last chunk that was searched had copies

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
};

}  // namespace blocksieve::internal
