// SPDX-License-Identifier: Apache-2.0
#include "lib/postings/postings.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <tuple>
#include <utility>

namespace blocksieve::internal {
namespace {

/// Values are nearly unique if they are in fewer granules on average.
constexpr double kNearlyUnique = 1.3;

/// False positive granules for a value that does not occur, even if the target allows more: a query
/// probes all files, and its value occurs in few of them. Halving it costs a bit per value.
constexpr double kFewFalsePositives = 0.15;

constexpr uint32_t kMaxCheckBits = kMaxRibbonColumns - 1;

/// Bits of a ribbon besides those of its values: parameters, and half a word for each column.
double FixedBits(double columns) { return 64 + 16 * columns; }

uint32_t BitsFor(double count) {
  return static_cast<uint32_t>(std::max(1.0, std::ceil(std::log2(count))));
}

/// Chooses the groups of the ribbon, of up to `max_group` granules. For values that do not occur,
/// returns the granules that a value gets from ribbons, and the share that is looked up in the
/// dictionary.
std::pair<double, double> PlanRibbons(double granules, double max_group, PostingsPlan* plan) {
  const bool marks_dictionary = plan->num_ribbons == 1;  // by a number above all groups
  plan->group_bits = BitsFor(std::ceil(granules / max_group) + marks_dictionary);
  const double numbers = std::ldexp(1, static_cast<int>(plan->group_bits));
  const double group = std::ceil(granules / (numbers - marks_dictionary));
  plan->group_granules = static_cast<uint64_t>(group);
  const double passing =
      std::ldexp(marks_dictionary ? 1 : 0.5, -static_cast<int>(plan->check_bits));
  const double share_of_groups = granules / (numbers * group);
  return {passing * share_of_groups * group,
          marks_dictionary ? passing * (1 - share_of_groups) : 0.5};
}

/// Completes a plan with its ribbons and check bits. A value that does not occur gets at most
/// `max_false_positives` granules. Returns a plan with infinite bits if it is not possible.
PostingsPlan MakePlan(const PostingCounts& counts, PostingsPlan plan, double max_group,
                      double max_false_positives) {
  double values = counts.values;  // in the dictionary
  double pairs = counts.pairs;
  double from_ribbons = 0;
  double share_in_dictionary = 1;
  if (plan.num_ribbons == 0) {
    plan.bits = counts.list_bits + counts.singles * std::log2(counts.granules);
  } else {
    std::tie(from_ribbons, share_in_dictionary) = PlanRibbons(counts.granules, max_group, &plan);
    values -= counts.singles;
    pairs -= counts.singles;
    const double columns = plan.columns();
    plan.bits = counts.list_bits + FixedBits(columns);
    plan.bits += plan.num_ribbons == 1 ? counts.values * columns
                                       : FixedBits(1) + counts.values + counts.singles * columns;
  }
  const double left = max_false_positives - from_ribbons;
  if (left <= 0 || plan.columns() > kMaxRibbonColumns) {
    plan.bits = std::numeric_limits<double>::infinity();
    return plan;
  }
  plan.remainder_bits = RemainderBits(share_in_dictionary * pairs / std::max(1.0, values), left);
  // Two bits for the position of a remainder, about three for seeds, offsets and a count.
  plan.bits += values * (plan.remainder_bits - DictionaryShape::kBucketBits + 5);
  return plan;
}

/// The smallest plan with at most this many false positives.
PostingsPlan SmallestPlan(const PostingCounts& counts, double max_group, double false_positives) {
  PostingsPlan best = MakePlan(counts, {}, 1, false_positives);
  for (const uint32_t num_ribbons : {1u, 2u}) {
    for (uint32_t check_bits = 0; check_bits <= kMaxCheckBits && counts.singles > 0; ++check_bits) {
      const PostingsPlan plan =
          MakePlan(counts, {.num_ribbons = num_ribbons, .check_bits = check_bits}, max_group,
                   false_positives);
      if (plan.bits < best.bits) best = plan;
    }
  }
  return best;
}

}  // namespace

PostingsPlan ChoosePlan(const PostingCounts& counts, double target_fpr) {
  const double allowed = target_fpr * std::max(1.0, counts.granules);
  // A value in one granule of a group gets the others of the group as false positives.
  if (counts.pairs < kNearlyUnique * counts.values) {
    return SmallestPlan(counts, 1 + std::floor(allowed), allowed);
  }
  const double bloom_bits = counts.pairs * -std::log2(target_fpr) * std::numbers::log2e;
  double false_positives = std::min(kFewFalsePositives, allowed);
  for (;;) {
    const PostingsPlan plan = SmallestPlan(counts, 1, false_positives);
    if (plan.bits <= bloom_bits || false_positives == allowed) return plan;
    false_positives = std::min(2 * false_positives, allowed);
  }
}

}  // namespace blocksieve::internal
