#include "lib/granule/bit_slices.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <limits>

#include "lib/base/coding.h"
#include "lib/base/kernels.h"

namespace blocksieve::internal {
namespace {

// Words of each row that are ANDed at a time: as many as registers hold. Reading a row four cache
// lines at a time hides its latency.
constexpr size_t kTileWords = 32;

using Rows = std::array<const uint8_t*, kMaxIndexProbes>;

/// ANDs `kWords` words of each row into `candidates`, until none is left.
template <size_t kWords>
inline __attribute__((always_inline)) void AndTile(const Rows& rows, uint32_t num_rows,
                                                   size_t offset, uint64_t* candidates) noexcept {
  uint64_t left = 0;
  for (size_t i = 0; i < kWords; ++i) left |= candidates[i];
  if (left == 0) return;
  uint64_t tile[kWords];
  for (size_t i = 0; i < kWords; ++i) tile[i] = candidates[i];
  for (uint32_t j = 0; j < num_rows; ++j) {
    const uint8_t* row = rows[j] + offset;
    for (size_t i = 0; i < kWords; ++i) tile[i] &= LoadLittleEndian<uint64_t>(row + 8 * i);
  }
  for (size_t i = 0; i < kWords; ++i) candidates[i] = tile[i];
}

inline __attribute__((always_inline)) void AndRowsBody(const Rows& rows, uint32_t num_rows,
                                                       size_t num_words,
                                                       uint64_t* candidates) noexcept {
  size_t word = 0;
  for (; word + kTileWords <= num_words; word += kTileWords) {
    AndTile<kTileWords>(rows, num_rows, 8 * word, candidates + word);
  }
  for (; word + 4 <= num_words; word += 4) {
    AndTile<4>(rows, num_rows, 8 * word, candidates + word);
  }
  for (; word < num_words; ++word) AndTile<1>(rows, num_rows, 8 * word, candidates + word);
}

// One body for all processors: compilers vectorise it, and only the vector width differs.
void AndRows(const Rows& rows, uint32_t num_rows, size_t num_words, uint64_t* words) noexcept {
  AndRowsBody(rows, num_rows, num_words, words);
}
#if defined(__x86_64__)
__attribute__((target("avx2"))) void AndRowsAvx2(const Rows& rows, uint32_t num_rows,
                                                 size_t num_words, uint64_t* words) noexcept {
  AndRowsBody(rows, num_rows, num_words, words);
}
#endif

void AndRows(const Rows& rows, uint32_t num_rows, size_t num_words, uint64_t* words,
             [[maybe_unused]] Kernel kernel) noexcept {
#if defined(__x86_64__)
  // Wider vectors gain nothing: memory bandwidth is the limit.
  if (kernel != Kernel::kScalar) return AndRowsAvx2(rows, num_rows, num_words, words);
#endif
  AndRows(rows, num_rows, num_words, words);
}

void PruneByHash(const BitSlices& slices, uint64_t hash, uint64_t first_filter,
                 std::span<uint64_t> words, Kernel kernel) noexcept {
  const uint64_t stride = BitSlices::StrideBits(slices.num_filters);
  Positions positions(hash, slices.num_rows);
  const uint32_t num_probes = std::min(slices.num_probes, kMaxIndexProbes);
  if (slices.num_filters < BitSlices::kPackedBelow) {
    // No early exit: a mispredicted branch costs more than all rows.
    for (uint32_t j = 0; j < num_probes; ++j) {
      const uint64_t row = positions.Next() * stride + first_filter;
      for (size_t i = 0; i < words.size(); ++i) words[i] &= LoadBits64(slices.bytes, row + 64 * i);
    }
    return;
  }
  std::array<uint64_t, kMaxIndexProbes> starts;
  Rows rows;
  for (uint32_t j = 0; j < num_probes; ++j) {
    starts[j] = positions.Next() * stride + first_filter;
    rows[j] = slices.bytes.data() + starts[j] / 8;
  }
  // Reads words that are wholly inside the row without a bounds check.
  const size_t whole = std::min(words.size(), static_cast<size_t>((stride - first_filter) / 64));
  AndRows(rows, num_probes, whole, words.data(), kernel);
  for (size_t i = whole; i < words.size(); ++i) {
    for (uint32_t j = 0; j < num_probes; ++j)
      words[i] &= LoadBits64(slices.bytes, starts[j] + 64 * i);
  }
}

/// The same for several values, in pieces of candidates that stay in the cache. Candidates that one
/// value has matched are not probed for the next.
void PruneByHashes(const BitSlices& slices, std::span<const uint64_t> hashes,
                   std::span<uint64_t> candidates, Kernel kernel) noexcept {
  constexpr size_t kPieceWords = 64;
  std::array<uint64_t, kPieceWords> undecided;
  std::array<uint64_t, kPieceWords> found;
  for (size_t start = 0; start < candidates.size(); start += kPieceWords) {
    const size_t size = std::min(kPieceWords, candidates.size() - start);
    const std::span<uint64_t> piece = candidates.subspan(start, size);
    std::fill_n(found.begin(), size, 0);
    for (const uint64_t hash : hashes) {
      uint64_t any_undecided = 0;
      for (size_t i = 0; i < size; ++i) {
        undecided[i] = piece[i] & ~found[i];
        any_undecided |= undecided[i];
      }
      if (any_undecided == 0) break;
      PruneByHash(slices, hash, 64 * start, std::span(undecided).first(size), kernel);
      for (size_t i = 0; i < size; ++i) found[i] |= undecided[i];
    }
    std::copy_n(found.begin(), size, piece.begin());
  }
}

}  // namespace

uint64_t BitSlices::NumBytes(uint64_t num_rows, uint64_t num_filters) noexcept {
  const auto bits = static_cast<unsigned __int128>(num_rows) * StrideBits(num_filters);
  const auto bytes = (bits + 7) / 8;
  constexpr uint64_t kMax = std::numeric_limits<uint64_t>::max();
  return bytes > kMax ? kMax : static_cast<uint64_t>(bytes);
}

void BitSlices::PruneByAny(std::span<const uint64_t> hashes, std::span<uint64_t> candidates,
                           Kernel kernel) const noexcept {
  assert(bytes.size() == NumBytes(num_rows, num_filters));
  assert(64 * candidates.size() >= num_filters && IsAvailable(kernel));
  if (num_rows == 0 || hashes.empty()) {
    std::fill(candidates.begin(), candidates.end(), 0);
  } else if (hashes.size() == 1) {
    PruneByHash(*this, hashes.front(), 0, candidates, kernel);
  } else {
    PruneByHashes(*this, hashes, candidates, kernel);
  }
}

uint64_t DepositBits(uint64_t packed, uint64_t mask) noexcept {
  // Most filters answer "no", so `packed` has few ones, and the loop ends at the last.
  uint64_t deposited = 0;
  while (packed != 0 && mask != 0) {
    const uint64_t lowest = mask & (~mask + 1);
    if ((packed & 1) != 0) deposited |= lowest;
    packed >>= 1;
    mask ^= lowest;
  }
  return deposited;
}

}  // namespace blocksieve::internal
