// SPDX-License-Identifier: Apache-2.0
#include "integration/cli/advise/advice.h"

#include <algorithm>
#include <cmath>
#include <functional>

namespace blocksieve::cli {
namespace {

// Rounds to three digits, as values of options have.
double RoundDown(double value) {
  const double unit = std::pow(10, std::floor(std::log10(value)) - 2);
  return std::stod(fmt::format("{:.3g}", std::floor(value / unit * (1 + 1e-9)) * unit));
}

using GoalOf = std::function<RateGoal(double value)>;

// Bisects for the last value of a goal that the limit allows, between one that it allows and one
// that it does not.
Result<Plans> Search(const Forest& forest, const PlanLimit& limit, double allowed,
                     double not_allowed, const GoalOf& goal_of) {
  // The remaining difference is far below the three digits that are kept.
  constexpr int kHalvings = 24;
  double good = std::log(allowed);
  double bad = std::log(not_allowed);
  Plans best;
  Plans refused;
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = (good + bad) / 2;
    Result<Plans> plans = PlanForGoal(forest, goal_of(std::exp(middle)));
    if (!plans.ok()) return plans;
    const bool is_good = limit.Allows(forest, *plans);
    (is_good ? good : bad) = middle;
    (is_good ? best : refused) = *std::move(plans);
  }
  const uint64_t filter_bytes = AddUp(best, &FilterPlan::filter_bytes);
  if (!best.empty() && (filter_bytes > 0 || !limit.memory)) return best;
  return Status::InvalidArgument(
      limit.memory ? fmt::format("memory is {}; allowed: at least {}, the smallest filter",
                                 term::CountOf(*limit.memory, "byte"),
                                 term::WithCommas(AddUp(refused, &FilterPlan::filter_bytes)))
                   : fmt::format("wasted reads are {}, fewer than filters of one rate can reach",
                                 term::NumberText(*limit.wasted_reads)));
}

RateGoal GoalOfReads(double wasted_reads) {
  return {.wasted_reads = std::max(RoundDown(wasted_reads), kMinWastedReads)};
}

}  // namespace

uint64_t Forest::num_keys() const {
  uint64_t sum = 0;
  for (const Tree& tree : trees) sum += tree.num_keys();
  return sum;
}

size_t Forest::num_runs() const {
  size_t sum = 0;
  for (const Tree& tree : trees) sum += tree.runs().size();
  return sum;
}

std::vector<ForestLevel> ListLevels(const Forest& forest) {
  std::vector<ForestLevel> levels;
  size_t first_run = 0;
  for (size_t i = 0; i < forest.trees.size(); ++i) {
    const std::vector<TreeLevel> shapes = forest.trees[i].ToLevels();
    for (std::span<const TreeRun> rest = forest.trees[i].runs(); !rest.empty();) {
      ForestLevel& level = levels.emplace_back();
      level.tree = i;
      level.number = rest.front().level;
      const TreeLevel& shape = shapes[level.index()];
      level.runs = rest.first(static_cast<size_t>(shape.num_runs));
      level.first_run = first_run;
      level.num_keys = static_cast<uint64_t>(std::llround(shape.num_keys()));
      level.lookup_share = shape.lookup_share;
      first_run += level.runs.size();
      rest = rest.subspan(level.runs.size());
    }
  }
  return levels;
}

uint64_t AddUp(const Plans& plans, uint64_t FilterPlan::*member) {
  uint64_t sum = 0;
  for (const FilterPlan& plan : plans) sum += plan.*member;
  return sum;
}

bool PlanLimit::Allows(const Forest& forest, const Plans& plans) const {
  return memory ? AddUp(plans, &FilterPlan::filter_bytes) <= *memory
                : Predict(forest.trees, plans, 1).wasted_reads <= *wasted_reads;
}

Result<Plans> PlanForGoal(const Forest& forest, const RateGoal& goal) {
  Plans plans;
  for (const Tree& tree : forest.trees) {
    Result<FilterPlan> plan = PlanFilters(tree, goal);
    if (!plan.ok()) return plan.status();
    plans.push_back(*std::move(plan));
  }
  return plans;
}

Result<Plans> PlanByLevel(const Forest& forest, const PlanLimit& limit, FilterKind kind) {
  if (limit.memory) {
    // Footers and partly filled lines add to the allocated bits, so search for the highest
    // bits_per_key, in hundredths, whose filters fit.
    constexpr double kSteps = 100;
    return Search(forest, limit, kMinAllocatedBitsPerKey, kMaxAllocatedBitsPerKey,
                  [kind](double bits_per_key) -> RateGoal {
                    return {.bits_per_key = std::floor(bits_per_key * kSteps) / kSteps,
                            .kind = kind};
                  });
  }
  const RateGoal goal = GoalOfReads(limit.wasted_reads.value());
  Result<Plans> plans = PlanForGoal(forest, goal);
  const auto is_reached = [](const FilterPlan& plan) { return plan.rates.is_reached; };
  if (!plans.ok() || std::ranges::all_of(*plans, is_reached)) return plans;
  return Status::InvalidArgument(
      fmt::format("wasted_reads is {}, fewer than any filters of these sorted runs can reach",
                  *goal.wasted_reads));
}

Result<Plans> PlanForSameReads(const Forest& forest, double wasted_reads) {
  const PlanLimit limit{.wasted_reads = wasted_reads};
  Result<Plans> first = PlanByLevel(forest, limit);
  if (!first.ok()) return first;
  Result<Plans> best = Search(forest, limit, wasted_reads, kMaxWastedReads, GoalOfReads);
  return best.ok() ? best : first;
}

Result<Plans> PlanForOneRate(const Forest& forest, const PlanLimit& limit) {
  // Rounds before planning, so that the rounded rate is within the limit.
  const auto goal_of = [](double fpr) -> RateGoal {
    return {.target_fpr = std::stod(fmt::format("{:.3g}", fpr))};
  };
  return limit.memory ? Search(forest, limit, kMaxTargetFpr, kMinTargetFpr, goal_of)
                      : Search(forest, limit, kMinTargetFpr, kMaxTargetFpr, goal_of);
}

}  // namespace blocksieve::cli
