// SPDX-License-Identifier: Apache-2.0
#include "integration/rocksdb/compat/stock_filters.h"

#include <rocksdb/convenience.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "integration/rocksdb/compat/option_type.h"
#include "lib/base/c_locale.h"
#include "lib/base/coding.h"

namespace blocksieve::rocksdb_plugin {
namespace {

thread_local bool is_making_stock_policy = false;

struct MakingStockPolicy {
  ~MakingStockPolicy() { is_making_stock_policy = before; }
  const bool before = std::exchange(is_making_stock_policy, true);
};

// FPR of a Bloom filter in a table with a format_version below 5: RocksDB's own estimate, in
// LegacyBloomImpl. It is 0 to 15 % too high from 5 to 24 bits per key, and up to 1.7 times in
// filters of a few lines. The positions of a key follow from one 32-bit hash, so keys share more of
// them than if they were independent (rocksdb#4120).
double LegacyBloomFpr(double data_bits, double num_keys, uint32_t num_probes) {
  if (data_bits == 0) return 1;
  const double keys = std::max(num_keys, 1.0);
  const double bits_per_key = data_bits / keys;
  const double dependent = 0.1 / (bits_per_key * 0.75 + 22);
  const double same_hash = -std::expm1(-keys * std::exp2(-32));
  constexpr uint32_t kMaxProbes = 30;  // RocksDB's
  const double fpr =
      BlockedBloomFpr(bits_per_key, std::clamp(num_probes, 1U, kMaxProbes)) + dependent;
  return std::min(1.0, fpr + same_hash - fpr * same_hash);
}

}  // namespace

// The trailer's first byte is the kind (number of probes for legacy Bloom):
//   -1 (Bloom)         0, probes (low 5 bits) and log2 of lines of 64 bytes (high 3), 2 bytes
//   -2 (Ribbon)        seed, number of blocks of 128 slots (24 bits)
//   >0 (legacy Bloom)  number of lines (32 bits)
StockFilter DescribeStockFilter(ByteView contents, double bits_per_entry) {
  constexpr int8_t kBloomMarker = -1;
  constexpr int8_t kRibbonMarker = -2;
  if (contents.size() <= kStockTrailerBytes) return {.problem = "too short"};
  const ByteView trailer = contents.last(kStockTrailerBytes);
  const uint64_t data_bits = 8 * (contents.size() - kStockTrailerBytes);
  const auto marker = static_cast<int8_t>(trailer[0]);
  if (marker == kBloomMarker && trailer[1] == 0) {
    return {.kind = FilterKind::kStockBloom,
            .fpr = BlockedBloomFpr(bits_per_entry, std::max(trailer[2] & 31u, 1u)),
            .marker = marker};
  }
  if (marker == kRibbonMarker) {
    const uint64_t num_slots = 128 * uint64_t{LoadLittleEndian<uint32_t>(trailer.data() + 1) >> 8};
    if (num_slots == 0) return {.problem = "stock Ribbon filter without slots"};
    const double columns = static_cast<double>(data_bits) / static_cast<double>(num_slots);
    return {.kind = FilterKind::kStockRibbon, .fpr = StockRibbonFpr(columns), .marker = marker};
  }
  if (marker <= 0) return {.marker = marker};
  const uint64_t num_lines = LoadLittleEndian<uint32_t>(trailer.data() + 1);
  const uint64_t line_bits = num_lines == 0 ? 0 : data_bits / num_lines;
  // The cache lines of RocksDB's machines: 64 bytes, or 128 or 256 on some.
  const bool is_line = line_bits == 512 || line_bits == 1024 || line_bits == 2048;
  if (!is_line || num_lines * line_bits != data_bits) {
    return {.problem = "legacy Bloom filter of no whole lines"};
  }
  const double num_keys = std::floor(8 * static_cast<double>(contents.size()) / bits_per_entry);
  return {.is_legacy_bloom = true,
          .fpr = LegacyBloomFpr(static_cast<double>(data_bits), num_keys,
                                static_cast<uint32_t>(marker)),
          .marker = marker};
}

// From an option string, which every generation of the interface has.
std::shared_ptr<const rocksdb::FilterPolicy> NewStockPolicy(FilterKind kind, double bits_per_key) {
  const internal::CLocale c_locale;  // RocksDB parses numbers in the current locale
  const MakingStockPolicy making;
  const std::string bits = ToText(std::round(bits_per_key * 1000) / 1000);
  // -1: Ribbon filters on every level, in files of flushes, too.
  const std::string text = kind == FilterKind::kStockBloom ? "bloomfilter:" + bits + ":false"
                                                           : "ribbonfilter:" + bits + ":-1";
  std::shared_ptr<const rocksdb::FilterPolicy> policy;
  const rocksdb::Status status = rocksdb::FilterPolicy::CreateFromString(Strict(), text, &policy);
  return status.ok() ? policy : nullptr;
}

const rocksdb::FilterPolicy* StockPolicies::ForLayout(const Layout& layout) {
  const std::lock_guard lock(mutex_);
  auto& policy = by_rate_[{layout.kind, layout.predicted_fpr}];
  if (policy == nullptr) {
    policy = NewStockPolicy(layout.kind, StockBitsPerKey(layout.kind, layout.predicted_fpr));
  }
  return policy.get();
}

const rocksdb::FilterPolicy* StockReader() {
  static const auto& policy = *new auto(NewStockPolicy(FilterKind::kStockBloom, 10));
  return policy.get();
}

bool IsMakingStockPolicy() noexcept { return is_making_stock_policy; }

}  // namespace blocksieve::rocksdb_plugin
