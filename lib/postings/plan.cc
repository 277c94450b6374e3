#include "lib/postings/plan.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

namespace blocksieve::internal {
namespace {

/// Values are nearly unique if they are in fewer granules on average.
constexpr double kNearlyUnique = 1.3;

/// Maximum of false positive granules for a value that does not occur, even if the target allows
/// more: a query probes all files, and its value occurs in few of them. Halving it costs a bit per
/// value.
constexpr double kMaxFalsePositives = 0.15;

constexpr uint32_t kMaxCheckBits = kMaxRibbonColumns - 1;

uint32_t BitsFor(double count) {
  return static_cast<uint32_t>(std::max(1.0, std::ceil(std::log2(count))));
}

/// False positives for values that do not occur.
struct Absent {
  double max_false_positives = 0;  // granules that a value may get
  double in_ribbons = 0;           // granules that a value gets from ribbons
  double share_in_dictionary = 1;  // share of the values that are looked up in the dictionary
};

/// Chooses the groups of the ribbon, of up to `max_group` granules.
void PlanRibbons(double granules, double max_group, PostingsPlan* plan, Absent* absent) {
  const bool marks_dictionary = plan->shape.num_ribbons == 1;  // by a number above all groups
  plan->group_bits = BitsFor(std::ceil(granules / max_group) + marks_dictionary);
  const double numbers = std::ldexp(1, static_cast<int>(plan->group_bits));
  const double group = std::ceil(granules / (numbers - marks_dictionary));
  plan->shape.group_granules = static_cast<uint64_t>(group);
  const double passing =
      std::ldexp(marks_dictionary ? 1 : 0.5, -static_cast<int>(plan->shape.check_bits));
  const double share_of_groups = granules / (numbers * group);
  absent->in_ribbons = passing * share_of_groups * group;
  absent->share_in_dictionary = marks_dictionary ? passing * (1 - share_of_groups) : 0.5;
}

/// Returns a plan with infinite bits if it is not possible.
PostingsPlan MakePlan(const PostingCounts& counts, PostingsShape shape, double max_group,
                      Absent absent) {
  PostingsPlan plan;
  plan.shape = shape;
  double values = counts.values;  // in the dictionary
  double pairs = counts.pairs;
  if (shape.num_ribbons == 0) {
    plan.bits = counts.singles * std::log2(counts.granules);
  } else {
    PlanRibbons(counts.granules, max_group, &plan, &absent);
    values -= counts.singles;
    pairs -= counts.singles;
    const double columns = plan.columns();
    plan.bits =
        shape.num_ribbons == 1 ? counts.values * columns : counts.values + counts.singles * columns;
  }
  const double left = absent.max_false_positives - absent.in_ribbons;
  if (left <= 0 || plan.columns() > kMaxRibbonColumns) {
    plan.bits = std::numeric_limits<double>::infinity();
    return plan;
  }
  plan.remainder_bits =
      RemainderBits(absent.share_in_dictionary * pairs / std::max(1.0, values), left);
  // Two bits for the position of a remainder, about three for seeds, offsets and a count.
  plan.bits += values * (plan.remainder_bits - DictionaryShape::kBucketBits + 5);
  return plan;
}

/// Natural logarithm, by Stirling's series. (std::lgamma writes a global variable.)
double LogOfFactorial(double n) {
  return n == 0 ? 0 : n * std::log(n) - n + std::log(2 * std::numbers::pi * n) / 2 + 1 / (12 * n);
}

/// Bits of a list of k granules of n: log2 of the number of such lists, or a bitmap.
double ListBits(double n, double k) {
  const double bits =
      (LogOfFactorial(n) - LogOfFactorial(k) - LogOfFactorial(n - k)) * std::numbers::log2e;
  return bits * 1.5 < n ? bits : n;
}

}  // namespace

PostingsPlan ChoosePlan(const PostingCounts& counts, double target_fpr) {
  Absent absent;
  const double allowed = target_fpr * std::max(1.0, counts.granules);
  // A value in one granule of a group gets the others of the group as false positives.
  const bool with_groups = counts.pairs < kNearlyUnique * counts.values;
  const double max_group = with_groups ? 1 + std::floor(allowed) : 1;
  absent.max_false_positives = with_groups ? allowed : std::min(kMaxFalsePositives, allowed);
  PostingsPlan best = MakePlan(counts, {}, 1, absent);
  for (const uint32_t num_ribbons : {1u, 2u}) {
    for (uint32_t check_bits = 0; check_bits <= kMaxCheckBits && counts.singles > 0; ++check_bits) {
      PostingsShape shape;
      shape.num_ribbons = num_ribbons;
      shape.check_bits = check_bits;
      const PostingsPlan plan = MakePlan(counts, shape, max_group, absent);
      if (plan.bits < best.bits) best = plan;
    }
  }
  return best;
}

double EstimatePostingsBytes(const GranuleHashes& values, double target_fpr) {
  constexpr size_t kManyHashes = 1 << 16;
  const uint64_t mask = values.hashes.size() < kManyHashes ? 0 : 15;
  std::vector<uint64_t> sample;
  for (const uint64_t hash : values.hashes) {
    if ((hash & mask) == 0) sample.push_back(hash);
  }
  std::sort(sample.begin(), sample.end());
  PostingCounts counts;
  counts.granules = static_cast<double>(values.counts.size());
  double list_bits = 0;
  for (size_t first = 0, last = 0; first < sample.size(); first = last) {
    while (last < sample.size() && sample[last] == sample[first]) ++last;
    const auto count = static_cast<double>(last - first);
    ++counts.values;
    counts.pairs += count;
    if (count == 1) {
      ++counts.singles;
    } else {
      list_bits += ListBits(counts.granules, count);
    }
  }
  if (counts.values == 0) return 0;
  return (ChoosePlan(counts, target_fpr).bits + list_bits) * static_cast<double>(mask + 1) / 8;
}

}  // namespace blocksieve::internal
