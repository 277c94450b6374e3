#include "blocksieve/rate_allocation.h"

#include <bit>
#include <cmath>
#include <vector>

#include "blocksieve/sizing.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/input.h"

// Any groups and any goals give an allocation that meets the goal, or an error.

namespace blocksieve::testing {
namespace {

constexpr size_t kMaxGroups = 6;
constexpr double kRounding = 1 + 1e-12;  // of sums that are made in another order

// Ordinary numbers, powers of two, and arbitrary bits.
double AnyNumber(Input* input) {
  switch (input->Below(4)) {
    case 0:
      return input->Number<uint32_t>();
    case 1:
      return std::ldexp(1, static_cast<int>(input->Below(128)) - 64);
    case 2:
      return input->Number<uint16_t>() / 256.0;
    default:
      return std::bit_cast<double>(input->Number<uint64_t>());
  }
}

std::vector<RunGroup> AnyGroups(Input* input) {
  std::vector<RunGroup> groups(input->Below(kMaxGroups + 1));
  for (RunGroup& group : groups) {
    group.num_runs = AnyNumber(input);
    group.keys_per_run = AnyNumber(input);
    group.kind = static_cast<FilterKind>(input->Flag() ? 2 + input->Below(2) : input->Below(6));
  }
  return groups;
}

void Check(const std::vector<RunGroup>& groups, const RateAllocation& allocation) {
  Require(allocation.target_fprs.size() == groups.size(), "every group has a rate");
  double wasted_reads = 0;
  for (size_t i = 0; i < groups.size(); ++i) {
    const double fpr = allocation.target_fprs[i];
    const Result<Layout> layout = ChooseLayout(groups[i].kind, fpr);
    Require(fpr == 1 || layout.ok(), "filters of a rate can be built");
    // If the goal is out of reach, rates are at their limit, and layouts are below it.
    wasted_reads += groups[i].num_runs * (allocation.is_reached ? fpr : layout->predicted_fpr);
  }
  Require(std::abs(wasted_reads - allocation.wasted_reads) <= wasted_reads * (kRounding - 1),
          "wasted reads are the sum of the rates");
  Require(allocation.bits_per_key >= 0, "bits per key are a number");
}

}  // namespace

void TestOneInput(ByteView bytes) {
  Input input(bytes);
  const double wasted_reads = AnyNumber(&input);
  const double bits_per_key = AnyNumber(&input);
  const std::vector<RunGroup> groups = AnyGroups(&input);
  if (const auto by_reads = AllocateRates(groups, {.wasted_reads = wasted_reads}); by_reads.ok()) {
    Check(groups, *by_reads);
    Require(by_reads->wasted_reads <= wasted_reads ||
                (!by_reads->is_reached &&
                 by_reads->target_fprs == std::vector<double>(groups.size(), kMinTargetFpr)),
            "no more wasted reads than allowed, or the most precise filters");
  }
  if (const auto by_bits = AllocateRates(groups, {.bits_per_key = bits_per_key}); by_bits.ok()) {
    Check(groups, *by_bits);
    Require(by_bits->bits_per_key <= bits_per_key * kRounding, "no more bits than allowed");
  }
}

}  // namespace blocksieve::testing
