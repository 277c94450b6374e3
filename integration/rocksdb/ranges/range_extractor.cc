// SPDX-License-Identifier: Apache-2.0
#include "integration/rocksdb/ranges/range_extractor.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>

#include "integration/rocksdb/compat/log.h"

namespace blocksieve {
namespace rocksdb_plugin {
namespace {

thread_local bool mark_next_file = false;

// The last key that this thread transformed as the end, the one before as the begin. Prefixes point
// into `addresses`, each to another byte than those before it, so that a query names the transform
// that made its prefix. A key's own address would not: another extractor's empty prefixes have it,
// too, and memory is used again.
thread_local struct {
  SeekRange keys;
  uint8_t next = 0;
  std::array<char, 256> addresses;
} transformed;

// Threads count in separate cache lines, so that they do not wait for each other.
constexpr size_t kStripes = 16;
struct alignas(64) Stripe {
  std::array<std::atomic<uint64_t>, std::size(kRangeResults)> counts{};
};
std::array<Stripe, kStripes> stripes;

thread_local ScopedRangeCounts* scoped_counts = nullptr;

Stripe& OwnStripe() noexcept {
  static std::atomic<size_t> next = 0;
  thread_local Stripe& own = stripes[next.fetch_add(1, std::memory_order_relaxed) % kStripes];
  return own;
}

// This many queries without a range are no accident.
constexpr uint64_t kUnboundedQueriesBeforeWarning = 1000;

void WarnOnce() noexcept {
  static std::atomic<bool> warned = false;
  const RangeFilterCounts counts = GetRangeFilterCounts();
  if (counts.no + counts.may_match + counts.beyond_partition != 0) return;
  if (warned.exchange(true)) return;
  LogLoudly(nullptr,
            "no seek has an upper bound, so range filters rule no file out; set "
            "iterate_upper_bound and auto_prefix_mode=true in ReadOptions (PrepareRangeRead sets "
            "both)");
}

class WithoutLength final : public rocksdb::SliceTransform {
 public:
  WithoutLength(std::string id, size_t length)
      : is_capped_(id.starts_with(kSizedExtractors[1])), id_(std::move(id)), length_(length) {}

  const char* Name() const override { return kSizedExtractors[is_capped_]; }
  std::string GetId() const override { return id_; }
  rocksdb::Slice Transform(const rocksdb::Slice& key) const override {
    return {key.data(), std::min(key.size(), length_)};
  }
  bool InDomain(const rocksdb::Slice& key) const override {
    return is_capped_ || key.size() >= length_;
  }
  bool SameResultWhenAppended(const rocksdb::Slice& prefix) const override {
    return prefix.size() >= length_;
  }

 private:
  const bool is_capped_;
  const std::string id_;
  const size_t length_;
};

}  // namespace

std::unique_ptr<const rocksdb::SliceTransform> NewEarlierExtractor(const std::string& id) {
  size_t length = 0;
  const char* const end = id.data() + id.size();
  const auto parsed = std::from_chars(id.data() + id.find_last_of('.') + 1, end, length);
  if (parsed.ec != std::errc() || parsed.ptr != end) return nullptr;
  return std::make_unique<WithoutLength>(id, length);
}

std::shared_ptr<const rocksdb::SliceTransform> RangeExtractor::Get() {
  static const auto& plain = *new RangeExtractor(kName);
  return {std::shared_ptr<void>(), &plain};
}

std::string RangeExtractor::GetId() const {
  return std::exchange(mark_next_file, false) ? kMarkedName : kName;
}

rocksdb::Slice RangeExtractor::Transform(const rocksdb::Slice& key) const {
  return {RecordTransformedKey({key.data(), key.size()}).data(), 0};
}

// RocksDB writes OPTIONS by this function, and the properties of files by GetId. Without it, the
// mark of a file that failed before its properties would end up in OPTIONS that the thread writes.
std::string RangeExtractor::SerializeOptions(const rocksdb::ConfigOptions&,
                                             const std::string&) const {
  mark_next_file = false;
  return kName;
}

void MarkNextFile(bool mark) noexcept { mark_next_file = mark; }

bool IsRangeExtractor(const rocksdb::SliceTransform* extractor) {
  if (extractor == nullptr) return false;
  const std::string_view name = extractor->Name();
  return name == RangeExtractor::kName || name == RangeExtractor::kMarkedName;
}

std::string_view RecordTransformedKey(std::string_view key) noexcept {
  transformed.keys = {transformed.keys.end, key};
  return {&transformed.addresses[transformed.next++], 0};
}

std::optional<SeekRange> TakeSeekRange(std::string_view prefix) noexcept {
  const SeekRange taken = std::exchange(transformed.keys, {});
  // Without this check, a seek's key would be paired with the key of an earlier seek.
  const auto last_but_one = static_cast<uint8_t>(transformed.next - 2);
  const bool is_of_seek = taken.begin.data() != nullptr && taken.end.data() != nullptr &&
                          prefix.data() == &transformed.addresses[last_but_one] &&
                          taken.begin.data() != taken.end.data();
  return is_of_seek ? std::optional(taken) : std::nullopt;
}

void CountRangeQuery(RangeOutcome outcome) noexcept {
  const auto at = static_cast<size_t>(outcome);
  if (scoped_counts != nullptr) [[unlikely]] {
    ++(scoped_counts->counts.*kRangeResults[at].second);
    return;
  }
  const uint64_t before = OwnStripe().counts[at].fetch_add(1, std::memory_order_relaxed);
  if (outcome == RangeOutcome::kNoBound && before + 1 == kUnboundedQueriesBeforeWarning) WarnOnce();
}

ScopedRangeCounts::ScopedRangeCounts() noexcept : outer_(std::exchange(scoped_counts, this)) {}

ScopedRangeCounts::~ScopedRangeCounts() { scoped_counts = outer_; }

}  // namespace rocksdb_plugin

void PrepareRangeRead(const rocksdb::Slice* upper_bound, rocksdb::ReadOptions* read_options) {
  if (read_options == nullptr) return;
  read_options->iterate_upper_bound = upper_bound;
  read_options->auto_prefix_mode = true;
}

RangeFilterCounts GetRangeFilterCounts() {
  RangeFilterCounts counts;
  for (const rocksdb_plugin::Stripe& stripe : rocksdb_plugin::stripes) {
    for (size_t i = 0; i < stripe.counts.size(); ++i) {
      counts.*rocksdb_plugin::kRangeResults[i].second +=
          stripe.counts[i].load(std::memory_order_relaxed);
    }
  }
  return counts;
}

}  // namespace blocksieve
