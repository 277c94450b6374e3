#include "integration/rocksdb/ranges/range_counts.h"

#include <array>
#include <atomic>

#include "integration/rocksdb/compat/loud_log.h"

namespace blocksieve::rocksdb_plugin {
namespace {

// Threads count apart, so that they do not wait for each other's cache lines.
constexpr size_t kStripes = 16;
struct alignas(64) Stripe {
  std::array<std::atomic<uint64_t>, kNumRangeOutcomes> counts{};
};
std::array<Stripe, kStripes> stripes;

Stripe& OwnStripe() noexcept {
  static std::atomic<size_t> next = 0;
  thread_local Stripe& own = stripes[next.fetch_add(1, std::memory_order_relaxed) % kStripes];
  return own;
}

uint64_t Sum(RangeOutcome outcome) noexcept {
  uint64_t sum = 0;
  for (const Stripe& stripe : stripes) {
    sum += stripe.counts[static_cast<size_t>(outcome)].load(std::memory_order_relaxed);
  }
  return sum;
}

thread_local CountApart* apart = nullptr;

template <class Count>
RangeFilterCounts CountsOf(const Count& count) noexcept {
  RangeFilterCounts counts;
  counts.no = count(RangeOutcome::kNo);
  counts.may_match = count(RangeOutcome::kMayMatch);
  counts.beyond_partition = count(RangeOutcome::kBeyond);
  counts.no_range_filter = count(RangeOutcome::kNoFilter);
  counts.no_bound = count(RangeOutcome::kNoBound);
  counts.empty_begin = count(RangeOutcome::kEmptyBegin);
  counts.untrusted = count(RangeOutcome::kUntrusted);
  return counts;
}

// So many questions without a range are no accident.
constexpr uint64_t kTooManyWithoutBound = 1000;

void WarnOnce() noexcept {
  static std::atomic<bool> warned = false;
  if (Sum(RangeOutcome::kNo) + Sum(RangeOutcome::kMayMatch) + Sum(RangeOutcome::kBeyond) != 0)
    return;
  if (warned.exchange(true)) return;
  LogLoudly(nullptr,
            "range filters are asked without a range: seeks need ReadOptions with "
            "iterate_upper_bound and auto_prefix_mode=true (PrepareRangeRead sets both)");
}

}  // namespace

void CountRange(RangeOutcome outcome) noexcept {
  if (apart != nullptr) {
    ++apart->counts_[static_cast<size_t>(outcome)];
    return;
  }
  const uint64_t before =
      OwnStripe().counts[static_cast<size_t>(outcome)].fetch_add(1, std::memory_order_relaxed);
  if (outcome == RangeOutcome::kNoBound && before + 1 == kTooManyWithoutBound) WarnOnce();
}

RangeFilterCounts CountedRanges() noexcept { return CountsOf(Sum); }

CountApart::CountApart() noexcept { apart = this; }
CountApart::~CountApart() { apart = nullptr; }

RangeFilterCounts CountApart::counts() const noexcept {
  return CountsOf([this](RangeOutcome outcome) { return counts_[static_cast<size_t>(outcome)]; });
}

}  // namespace blocksieve::rocksdb_plugin
