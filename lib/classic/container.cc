// SPDX-License-Identifier: Apache-2.0
#include "lib/classic/container.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <string>
#include <string_view>

#include "blocksieve/sizing.h"
#include "lib/base/block_memory.h"
#include "lib/base/coding.h"
#include "lib/base/errors.h"

namespace blocksieve::internal {
namespace {

constexpr std::string_view kMagic = "BSC";
constexpr uint8_t kVersion = 1;
constexpr size_t kHeaderBytes = 30;
constexpr size_t kChecksumBytes = sizeof(uint32_t);

static_assert(kHeaderBytes + CellBytes(kMaxBloomBits, 1) + kChecksumBytes < uint64_t{1} << 32,
              "RocksDB's limit for a value, such as a filter of the URL sieve");

Status Damaged(const std::string& what) { return Status::Corruption("Bloom filter: " + what); }

}  // namespace

Status CheckCounters(const BloomLayout& layout, uint32_t counter_bits) {
  BLOCKSIEVE_RETURN_IF_ERROR(layout.Check());
  const std::string bits = std::to_string(counter_bits);
  if (counter_bits != 2 && counter_bits != 4 && counter_bits != 8 && counter_bits != 16) {
    return Status::InvalidArgument("counter_bits is " + bits + "; allowed: 2, 4, 8 or 16");
  }
  const uint64_t max_counters = kMaxBloomBits / counter_bits;
  if (layout.num_bits <= max_counters) return Status::Ok();
  return Status::InvalidArgument("num_bits is " + std::to_string(layout.num_bits) +
                                 "; allowed: 1 to " + std::to_string(max_counters) +
                                 " for counters of " + bits + " bits");
}

Result<OwnedBytes> AllocateCells(const BloomLayout& layout, uint32_t cell_bits) {
  const uint64_t size = CellBytes(layout.num_bits, cell_bits);
  OwnedBytes cells = AllocateBlock(size, 0);
  if (cells.memory == nullptr) {
    return Status::ResourceExhausted("out of memory for a filter of " + std::to_string(size) +
                                     " bytes");
  }
  return cells;
}

Result<OwnedBytes> WriteContainer(const BloomLayout& layout, uint32_t cell_bits,
                                  ByteView cells) try {
  BLOCKSIEVE_RETURN_IF_ERROR(layout.Check());
  std::string header(kMagic);
  AppendLittleEndian(&header, kVersion);
  AppendLittleEndian(&header, static_cast<uint8_t>(cell_bits));
  AppendLittleEndian(&header, static_cast<uint8_t>(layout.num_probes));
  AppendLittleEndian(&header, layout.num_bits);
  AppendLittleEndian(&header, layout.design_keys);
  AppendLittleEndian(&header, layout.hash_seed);
  assert(header.size() == kHeaderBytes);
  OwnedBytes written = AllocateBlock(kHeaderBytes + cells.size() + kChecksumBytes, 0);
  if (written.memory == nullptr) return OutOfMemory();
  std::copy(header.begin(), header.end(), written.data());
  std::copy(cells.begin(), cells.end(), written.data() + kHeaderBytes);
  const size_t checksum_at = written.size - kChecksumBytes;
  StoreLittleEndian(written.data() + checksum_at, Checksum(written.view().first(checksum_at)));
  return written;
}
BLOCKSIEVE_CATCH_BAD_ALLOC

Result<BloomContainer> ReadContainer(bool has_counters, ByteView bytes) {
  Decoder header(bytes);
  if (AsText(header.Bytes(kMagic.size())) != kMagic) {
    return Damaged("first bytes are not \"BSC\"; another format?");
  }
  const auto version = header.Fixed<uint8_t>();
  if (header.ok() && version != kVersion) {
    return Status::NotSupported("Bloom filter: format version is " + std::to_string(version) +
                                "; this library reads " + std::to_string(kVersion));
  }
  BloomContainer read;
  read.cell_bits = header.Fixed<uint8_t>();
  read.layout.num_probes = header.Fixed<uint8_t>();
  read.layout.num_bits = header.Fixed<uint64_t>();
  read.layout.design_keys = header.Fixed<uint64_t>();
  read.layout.hash_seed = header.Fixed<uint64_t>();
  if (!header.ok() || header.rest().size() < kChecksumBytes) return Damaged("it is truncated");
  const size_t checksum_at = bytes.size() - kChecksumBytes;
  if (LoadLittleEndian<uint32_t>(bytes.data() + checksum_at) !=
      Checksum(bytes.first(checksum_at))) {
    return Damaged("checksum mismatch");
  }
  const bool are_bits = read.cell_bits == 1;
  if (has_counters == are_bits) {
    return Status::NotSupported(are_bits ? "Bloom filter: cells are bits; allowed: counters"
                                         : "Bloom filter: cells are counters; allowed: bits");
  }
  const Status valid = are_bits ? read.layout.Check() : CheckCounters(read.layout, read.cell_bits);
  if (!valid.ok()) return Damaged(valid.message());
  const ByteView cells = header.rest().first(header.rest().size() - kChecksumBytes);
  const std::string count = std::to_string(read.layout.num_bits) + " cells";
  if (cells.size() != CellBytes(read.layout.num_bits, read.cell_bits)) {
    return Damaged("cells take " + std::to_string(cells.size()) + " bytes; the header says " +
                   count + " of " + std::to_string(read.cell_bits) + " bits");
  }
  const uint64_t last_bits = read.layout.num_bits * read.cell_bits % 8;
  if (last_bits != 0 && cells.back() >> last_bits != 0) {
    return Damaged("bits are set after the last of " + count);
  }
  BLOCKSIEVE_ASSIGN_OR_RETURN(read.cells, AllocateCells(read.layout, read.cell_bits));
  std::copy(cells.begin(), cells.end(), read.cells.data());
  return read;
}

double ClassicBloomFpr(double bits_per_key, uint32_t num_probes) noexcept {
  assert(bits_per_key > 0 && num_probes >= 1);
  return std::pow(-std::expm1(-(num_probes / bits_per_key)), num_probes);
}

}  // namespace blocksieve::internal

namespace blocksieve {

using internal::CheckRange;

Result<BloomLayout> BloomLayout::ForKeys(uint64_t num_keys, double target_fpr,
                                         uint64_t hash_seed) try {
  BLOCKSIEVE_RETURN_IF_ERROR(CheckRange("target_fpr", target_fpr, kMinTargetFpr, kMaxTargetFpr));
  // The number of probes with which filters are smallest.
  uint32_t num_probes = 0;
  double bits_per_key = std::numeric_limits<double>::infinity();
  for (uint32_t k = 1; k <= kMaxBloomProbes; ++k) {
    // ClassicBloomFpr solved for bits per key.
    const double bits = -1.0 * k / std::log1p(-std::pow(target_fpr, 1.0 / k));
    if (bits >= bits_per_key) break;  // convex in k
    num_probes = k;
    bits_per_key = bits;
  }
  // Small filters have a higher FPR than the asymptotic formula. These bits compensate for it at
  // any number of keys; a test compares with the exact model.
  const double extra_bits = 0.5 + 0.25 * num_probes;
  // One bit less, so that rounding does not exceed the maximum.
  const double max_bits = static_cast<double>(kMaxBloomBits - 1) - extra_bits;
  const auto max_keys = static_cast<uint64_t>(max_bits / bits_per_key);
  BLOCKSIEVE_RETURN_IF_ERROR(CheckRange("num_keys", num_keys, 1, max_keys));
  const double num_bits = std::ceil(static_cast<double>(num_keys) * bits_per_key + extra_bits);
  return BloomLayout{.num_bits = static_cast<uint64_t>(num_bits),
                     .num_probes = num_probes,
                     .hash_seed = hash_seed,
                     .design_keys = num_keys};
}
BLOCKSIEVE_CATCH_BAD_ALLOC

Result<BloomLayout> BloomLayout::ForBits(uint64_t num_bits, uint32_t num_probes,
                                         uint64_t hash_seed) {
  BloomLayout layout{.num_bits = num_bits, .num_probes = num_probes, .hash_seed = hash_seed};
  layout.design_keys = 1;  // valid, so that Check() looks at the other fields
  BLOCKSIEVE_RETURN_IF_ERROR(layout.Check());
  const double keys = static_cast<double>(num_bits) * std::numbers::ln2 / num_probes;
  layout.design_keys = std::max(uint64_t{1}, static_cast<uint64_t>(std::llround(keys)));
  return layout;
}

Result<BloomLayout> BloomLayout::ForBytes(uint64_t num_bytes, uint32_t num_probes,
                                          uint64_t hash_seed) {
  BLOCKSIEVE_RETURN_IF_ERROR(CheckRange("num_bytes", num_bytes, 1, kMaxBloomBits / 8));
  return ForBits(8 * num_bytes, num_probes, hash_seed);
}

Status BloomLayout::Check() const {
  BLOCKSIEVE_RETURN_IF_ERROR(CheckRange("num_bits", num_bits, 1, kMaxBloomBits));
  BLOCKSIEVE_RETURN_IF_ERROR(CheckRange("num_probes", num_probes, 1, kMaxBloomProbes));
  return CheckRange("design_keys", design_keys, 1, std::numeric_limits<uint64_t>::max());
}

// ClickHouse looks up whole bits per key and a number of hash functions in a table of classic Bloom
// FPRs with three digits. This function keeps the rule: the smallest row that meets the target,
// with the fewest hash functions that do. It also keeps the three digits, although a filter may
// miss its target by half a percent: 0.001 gives (15, 7), whose FPR is 0.001003. Differences:
//
// * Targets in [0.283, 0.400): ClickHouse gives (2, 2), whose FPR is 0.400; here (3, 1), or (2, 1)
//   from 0.393 on. From 0.400 on, (2, 2) remains, although (2, 1) meets the target.
// * Targets in [0.221, 0.237): ClickHouse gives (19, 13), because its search for fewer hash
//   functions runs off the row; here (4, 1).
// * Row 20: unreachable in ClickHouse; here for targets that no other row meets: 1e-4 gives
//   (20, 10), and the most accurate answer is (20, 14), 6.71e-5.
// * Targets below all rows: ClickHouse silently gives (19, 13); here errors, like targets above 1.
// * Entry (5, 3) has two digits in ClickHouse, 0.092, where the formula gives 0.0918; targets
//   between the two get (6, 2) there.

namespace {

constexpr uint32_t kMinBitsPerKey = 2;
constexpr uint32_t kMaxBitsPerKey = 20;
constexpr ClickHouseLayout kSmallest{2, 2};
constexpr ClickHouseLayout kLowestFpr{20, 14};

/// The FPR with three digits, as in the table.
double Entry(const ClickHouseLayout& layout) noexcept {
  const double fpr = internal::ClassicBloomFpr(layout.bits_per_key, layout.num_probes);
  double scale = 1000;  // powers of ten are exact, so that entries equal decimal literals
  while (fpr * scale < 100) scale *= 10;
  return std::round(fpr * scale) / scale;
}

}  // namespace

Result<ClickHouseLayout> clickhouse_best_practice(double target_fpr) {
  BLOCKSIEVE_RETURN_IF_ERROR(internal::CheckRange("target_fpr", target_fpr, Entry(kLowestFpr), 1));
  if (target_fpr >= Entry(kSmallest)) return kSmallest;
  for (uint32_t bits = kMinBitsPerKey; bits <= kMaxBitsPerKey; ++bits) {
    for (uint32_t probes = 1; probes <= bits; ++probes) {
      if (Entry({bits, probes}) <= target_fpr) return ClickHouseLayout{bits, probes};
    }
  }
  return kLowestFpr;
}

}  // namespace blocksieve
