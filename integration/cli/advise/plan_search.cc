// SPDX-License-Identifier: Apache-2.0
#include "integration/cli/advise/plan_search.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>

#include "integration/cli/term/terminal.h"

namespace blocksieve::cli {
namespace {

// Rounds to three digits, as values of options have.
double RoundDown(double value) {
  const double unit = std::pow(10, std::floor(std::log10(value)) - 2);
  return std::stod(fmt::format("{:.3g}", std::floor(value / unit * (1 + 1e-9)) * unit));
}

double CountReads(const Forest& forest, const Plans& plans) {
  return Predict(forest.trees, plans, 1).wasted_reads;
}

using PlanFor = std::function<Result<Plans>(double value)>;
using IsAllowed = std::function<bool(const Plans&)>;

// Bisects for the last allowed value of a goal, between an allowed one and one that is not. Returns
// the plans for it, if any, and sets those for the first one that is not allowed.
Result<std::optional<Plans>> Bisect(double allowed, double not_allowed, const PlanFor& plan_for,
                                    const IsAllowed& is_allowed, Plans* refused = nullptr) {
  // The remaining difference is far below the three digits that are kept.
  constexpr int kHalvings = 24;
  double good = std::log(allowed);
  double bad = std::log(not_allowed);
  std::optional<Plans> best;
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = (good + bad) / 2;
    Result<Plans> plans = plan_for(std::exp(middle));
    if (!plans.ok()) return plans.status();
    const bool is_good = is_allowed(*plans);
    (is_good ? good : bad) = middle;
    if (is_good) {
      best = *std::move(plans);
    } else if (refused != nullptr) {
      *refused = *std::move(plans);
    }
  }
  return best;
}

// The best plan within a budget of bytes.
Result<Plans> PlanWithin(uint64_t filter_bytes, double allowed, double not_allowed,
                         const PlanFor& plan_for) {
  Plans refused;
  const auto fits = [&](const Plans& plans) {
    return AddUp(plans, &FilterPlan::filter_bytes) <= filter_bytes;
  };
  const auto best = Bisect(allowed, not_allowed, plan_for, fits, &refused);
  if (!best.ok()) return best.status();
  if (*best && AddUp(**best, &FilterPlan::filter_bytes) > 0) return **best;
  return Status::InvalidArgument(
      fmt::format("memory is {}; allowed: at least {}, the smallest filter",
                  term::CountOf(filter_bytes, "byte"),
                  term::WithCommas(AddUp(refused, &FilterPlan::filter_bytes))));
}

// Rounds before planning, so that the rounded rate fits.
Result<Plans> PlanForRoundedRate(const Forest& forest, double target_fpr) {
  return PlanForGoal(forest, {.target_fpr = std::stod(fmt::format("{:.3g}", target_fpr))});
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

Result<Plans> PlanForGoal(const Forest& forest, const RateGoal& goal) {
  Plans plans;
  for (const Tree& tree : forest.trees) {
    Result<FilterPlan> plan = PlanFilters(tree, goal);
    if (!plan.ok()) return plan.status();
    plans.push_back(*std::move(plan));
  }
  return plans;
}

// Footers and partly filled lines add to the allocated bits, so search for the highest
// bits_per_key, in hundredths, whose filters fit.
Result<Plans> PlanForMemory(const Forest& forest, uint64_t filter_bytes, FilterKind kind) {
  constexpr double kSteps = 100;
  return PlanWithin(filter_bytes, kMinAllocatedBitsPerKey, kMaxAllocatedBitsPerKey,
                    [&](double bits_per_key) {
                      const double rounded = std::floor(bits_per_key * kSteps) / kSteps;
                      return PlanForGoal(forest, {.bits_per_key = rounded, .kind = kind});
                    });
}

Result<Plans> PlanForWastedReads(const Forest& forest, double wasted_reads) {
  const double rounded = std::max(RoundDown(wasted_reads), kMinWastedReads);
  Result<Plans> plans = PlanForGoal(forest, {.wasted_reads = rounded});
  const auto is_reached = [](const FilterPlan& plan) { return plan.rates.is_reached; };
  if (!plans.ok() || std::ranges::all_of(*plans, is_reached)) return plans;
  return Status::InvalidArgument(fmt::format(
      "wasted_reads is {}, fewer than any filters of these sorted runs can reach", rounded));
}

Result<Plans> PlanForSameReads(const Forest& forest, double wasted_reads) {
  Result<Plans> first = PlanForWastedReads(forest, wasted_reads);
  if (!first.ok()) return first;
  const auto best = Bisect(
      wasted_reads, kMaxWastedReads,
      [&](double reads) { return PlanForWastedReads(forest, reads); },
      [&](const Plans& plans) { return CountReads(forest, plans) <= wasted_reads; });
  if (!best.ok()) return best.status();
  return *best ? **best : first;
}

Result<Plans> PlanForOneRate(const Forest& forest, uint64_t filter_bytes) {
  return PlanWithin(filter_bytes, kMaxTargetFpr, kMinTargetFpr,
                    [&](double fpr) { return PlanForRoundedRate(forest, fpr); });
}

Result<Plans> PlanForOneRateOfReads(const Forest& forest, double wasted_reads) {
  const auto best = Bisect(
      kMinTargetFpr, kMaxTargetFpr, [&](double fpr) { return PlanForRoundedRate(forest, fpr); },
      [&](const Plans& plans) { return CountReads(forest, plans) <= wasted_reads; });
  if (!best.ok()) return best.status();
  if (*best) return **best;
  return Status::InvalidArgument(
      fmt::format("wasted reads are {}, fewer than filters of one rate can reach",
                  term::NumberText(wasted_reads)));
}

}  // namespace blocksieve::cli
