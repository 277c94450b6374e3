// SPDX-License-Identifier: Apache-2.0
#include "lib/ribbon/chunk.h"

#include <algorithm>
#include <bit>
#include <iterator>
#include <utility>

namespace blocksieve::internal {
namespace {

// Number of rows that a chunk carries to the next, by design: the middle of the queue's range.
constexpr int64_t kCarriedTarget = 28;

// Slots of a filter in addition to one per key. With 1, builds of 100 keys need twice the seeds;
// more than 2 are wasted.
constexpr int64_t kSpareSlots = 2;

// Limits for the queue of a seed; if none of the 16 seeds meets the first, the second, loose ones.
// Queues succeed up to a length of a few less than 64; empty columns enlarge the filter.
constexpr uint32_t kMaxQueue[] = {56, 62};
constexpr uint32_t kMaxEmpty[] = {2, 1000};

// Slots added if no seed succeeds.
constexpr int64_t kWidenings[] = {0, 8, 16, 32, 64, 128, 256};

// The tries of a chunk: each widening with each of the limits with each seed.
constexpr size_t kTriesPerWidth = std::size(kMaxQueue) * kRibbonSeeds;
constexpr size_t kMaxTries = std::size(kWidenings) * kTriesPerWidth;

// Copies of a hash take slots and queue up in one place, so that tries and elimination take 1.5
// times as long. Searching for copies takes a tenth of the time, so it is done in every sixteenth
// chunk, after a chunk that had copies, and in chunks that are not solved within
// kTriesBeforeLooking tries, which are one in a hundred without copies.
constexpr uint64_t kChunksPerSample = 16;
constexpr size_t kTriesBeforeLooking = 4;

// Far more than chance puts in a chunk: more cannot be hashes.
constexpr size_t kMaxChunkRows = 8192;

}  // namespace

/// The slots and columns of a chunk. Columns count from the first without a pivot.
struct RibbonChunkSolver::Place {
  uint32_t fold;        // number of virtual slots that become column 0
  uint32_t num_slots;   // number of virtual slots
  size_t num_columns;   // number of columns to eliminate
  size_t start_octets;  // octets of columns in which rows may start
  bool last;
};

bool RibbonChunkSolver::Solve(std::span<uint64_t> hashes, std::span<const uint32_t> results,
                              uint64_t first_octet, bool last) {
  const bool is_only_chunk = first_octet == 0 && last;
  const bool is_sample = chunks_++ % kChunksPerSample == 0 && !is_only_chunk;
  const bool looks = expects_copies_ || is_sample || hashes.size() > kMaxChunkRows;
  if (looks && results.empty()) hashes = DropCopies(hashes);
  if (hashes.size() > kMaxChunkRows) return false;
  TakeHashes(hashes);
  if (looks || !results.empty()) return Try(hashes, results, first_octet, last, 0, kMaxTries);

  if (Try(hashes, {}, first_octet, last, 0, kTriesBeforeLooking)) return true;
  const std::span<uint64_t> distinct = DropCopies(hashes);
  const bool has_copies = distinct.size() < hashes.size();
  if (has_copies) TakeHashes(distinct);
  return Try(distinct, {}, first_octet, last, has_copies ? 0 : kTriesBeforeLooking, kMaxTries);
}

void RibbonChunkSolver::TakeHashes(std::span<const uint64_t> hashes) {
  mixed_.resize(hashes.size());
  starts_.resize(hashes.size());
  for (size_t i = 0; i < hashes.size(); ++i) mixed_[i] = RibbonMix(hashes[i]);
}

std::span<uint64_t> RibbonChunkSolver::DropCopies(std::span<uint64_t> hashes) {
  size_t distinct = 0;
  if (hashes.size() > kMaxChunkRows) {
    std::sort(hashes.begin(), hashes.end());
    const auto end = std::unique(hashes.begin(), hashes.end());
    distinct = static_cast<size_t>(end - hashes.begin());
  } else {
    // A hash table that is at most half full. 0 marks an empty place, so hash 0 is not stored.
    const size_t mask = std::bit_ceil(2 * hashes.size() + 2) - 1;
    const size_t shift = 64 - static_cast<size_t>(std::bit_width(mask));
    seen_.assign(mask + 1, 0);
    bool has_zero = false;
    for (const uint64_t hash : hashes) {
      if (hash == 0) [[unlikely]] {
        if (!std::exchange(has_zero, true)) hashes[distinct++] = hash;
        continue;
      }
      // The hashes of a chunk share high bits; those of the product depend on the whole hash.
      auto at = static_cast<size_t>(RibbonMix(hash) >> shift);
      while (seen_[at] != 0 && seen_[at] != hash) at = (at + 1) & mask;
      if (seen_[at] == hash) continue;
      seen_[at] = hash;
      hashes[distinct++] = hash;
    }
  }
  expects_copies_ = distinct < hashes.size();
  return hashes.first(distinct);
}

RibbonChunkSolver::Place RibbonChunkSolver::FindPlace(size_t num_hashes, int64_t widening,
                                                      uint64_t first_octet, bool last) const {
  const uint32_t fold = first_octet == 0 ? kRibbonFold : 0;
  const auto num_rows = static_cast<int64_t>(num_hashes + carried_.count);
  // The virtual slots of a later chunk start kRibbonFold after its first column.
  Place place{.fold = fold, .num_slots = 0, .num_columns = 0, .start_octets = 0, .last = last};
  if (last) {
    const int64_t columns = (num_rows + kSpareSlots + widening + 7) / 8 * 8;
    const int64_t min_columns = fold == 0 ? kRibbonFold + kRibbonOctet : kRibbonFold;
    place.num_columns = static_cast<size_t>(std::max(columns, min_columns));
    place.num_slots = static_cast<uint32_t>(place.num_columns - (fold == 0 ? kRibbonFold : 0));
    place.start_octets = std::max<size_t>(1, (place.num_columns - kRibbonFold) / kRibbonOctet);
  } else {
    const int64_t columns = (num_rows - kCarriedTarget + 4) / 8 * 8 + widening;
    place.num_columns = static_cast<size_t>(std::max<int64_t>(columns, kRibbonOctet));
    place.num_slots = static_cast<uint32_t>(place.num_columns + fold);
    place.start_octets = place.num_columns / kRibbonOctet;
  }
  return place;
}

bool RibbonChunkSolver::Try(std::span<const uint64_t> hashes, std::span<const uint32_t> results,
                            uint64_t first_octet, bool last, size_t first_try, size_t end_try) {
  Place place{};
  for (size_t i = first_try; i < end_try; ++i) {
    if (i % kTriesPerWidth == 0 || i == first_try) {
      place = FindPlace(hashes.size(), kWidenings[i / kTriesPerWidth], first_octet, last);
      if (place.num_slots / kRibbonOctet > kRibbonEntryMask) return false;
    }
    // Seed 0 comes last, because in the first chunk it is multiplier 0.
    const auto seed = static_cast<uint32_t>((i + 1) % kRibbonSeeds);
    solver_.find_starts(mixed_.data(), mixed_.size(), RibbonMultiplier(seed, first_octet),
                        place.num_slots / kRibbonOctet, place.fold, starts_.data());
    octet_counts_.assign(place.num_columns / kRibbonOctet, 0);
    for (const uint32_t start : starts_) ++octet_counts_[start / kRibbonOctet];
    octet_counts_[0] += carried_.count;
    if (!FitsQueue(place, /*is_loose=*/i / kRibbonSeeds % 2 != 0)) continue;
    num_columns_ = place.num_columns;
    OrderRows(hashes, results, place);
    if (!Eliminate()) continue;
    seed_ = seed;
    num_octets_ = place.num_slots / kRibbonOctet;
    return true;
  }
  return false;
}

bool RibbonChunkSolver::FitsQueue(const Place& place, bool is_loose) const noexcept {
  uint32_t queue = 0;
  uint32_t empty = 0;
  for (size_t octet = 0; octet < place.start_octets; ++octet) {
    queue += octet_counts_[octet];
    if (queue > kMaxQueue[is_loose]) return false;
    const uint32_t served = std::min(queue, kRibbonOctet);
    queue -= served;
    empty += kRibbonOctet - served;
  }
  const auto columns_left =
      static_cast<uint32_t>(place.num_columns - place.start_octets * kRibbonOctet);
  return empty <= kMaxEmpty[is_loose] && (!place.last || queue <= columns_left);
}

void RibbonChunkSolver::OrderRows(std::span<const uint64_t> hashes,
                                  std::span<const uint32_t> results, const Place& place) {
  rows_.resize(hashes.size() + carried_.count);
  next_row_.resize(octet_counts_.size());
  uint32_t sum = 0;
  for (size_t octet = 0; octet < octet_counts_.size(); ++octet) {
    next_row_[octet] = sum;
    sum += octet_counts_[octet];
  }
  // Clears coefficients of slots past the end of the filter.
  const auto within = [&](uint64_t coefficients, size_t column) {
    const size_t left = place.num_columns - column;
    return place.last && left < kRibbonWidth ? coefficients & ((uint64_t{1} << left) - 1)
                                             : coefficients;
  };
  for (uint32_t i = 0; i < carried_.count; ++i) {
    rows_[i] = {within(carried_.coefficients[i], 0), static_cast<uint64_t>(carried_.fingerprints[i])
                                                         << 8};
  }
  next_row_[0] = carried_.count;
  const uint64_t fingerprint_mask = (uint64_t{1} << fingerprint_columns_) - 1;
  for (size_t i = 0; i < hashes.size(); ++i) {
    const uint32_t start = starts_[i];
    const uint32_t row = next_row_[start / kRibbonOctet]++;
    const uint32_t result = results.empty() ? RibbonFingerprint(hashes[i]) : results[i];
    rows_[row] = {within(RibbonCoefficients(mixed_[i]), start),
                  start % 32 | (result & fingerprint_mask) << 8};
  }
}

bool RibbonChunkSolver::Eliminate() {
  const size_t num_octets = num_columns_ / kRibbonOctet;
  pivots_.resize(num_columns_);
  planes_.resize(num_octets * 8 * RibbonPlaneGroups(fingerprint_columns_));
  RibbonSystem system{rows_.data(), rows_.size(),   octet_counts_.data(),
                      num_octets,   pivots_.data(), planes_.data()};
  if (!solver_.eliminate(fingerprint_columns_, &system)) return false;
  carried_ = system.carried;
  return true;
}

}  // namespace blocksieve::internal
