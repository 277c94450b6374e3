#include "integration/cli/advise/filter_plan.h"

#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <optional>

#include "blocksieve/filter.h"
#include "blocksieve/sizing.h"
#include "integration/cli/term/text.h"

namespace blocksieve::cli {
namespace {

// Rounds to three digits, as values of options have.
double RoundDown(double value) {
  const double unit = std::pow(10, std::floor(std::log10(value)) - 2);
  return std::stod(fmt::format("{:.3g}", std::floor(value / unit * (1 + 1e-9)) * unit));
}

double ReadsOf(const Forest& forest, const FilterPlan& plan) {
  return forest.WastedReads(plan.fprs, 1);
}

void Append(const FilterPlan& plan, FilterPlan* all) {
  all->levels.insert(all->levels.end(), plan.levels.begin(), plan.levels.end());
  all->fprs.insert(all->fprs.end(), plan.fprs.begin(), plan.fprs.end());
  all->changes.insert(all->changes.end(), plan.changes.begin(), plan.changes.end());
  all->is_reached = all->is_reached && plan.is_reached;
  all->filter_bytes += plan.filter_bytes;
  all->rewritten_bytes += plan.rewritten_bytes;
  all->rewritten_keys += plan.rewritten_keys;
}

using PlanFor = std::function<Result<FilterPlan>(double value)>;
using IsAllowed = std::function<bool(const FilterPlan&)>;

/// Bisects for the last allowed value of a goal, between an allowed one and one that is not.
struct PlanSearch {
  std::optional<FilterPlan> best;     // for the last allowed value
  std::optional<FilterPlan> refused;  // for the first value that is not

  Status Run(double allowed, double not_allowed, const PlanFor& plan_for,
             const IsAllowed& is_allowed) {
    // The remaining difference is far below the three digits that are kept.
    constexpr int kHalvings = 24;
    double good = std::log(allowed);
    double bad = std::log(not_allowed);
    for (int i = 0; i < kHalvings; ++i) {
      const double middle = (good + bad) / 2;
      Result<FilterPlan> plan = plan_for(std::exp(middle));
      if (!plan.ok()) return plan.status();
      const bool is_good = is_allowed(*plan);
      (is_good ? good : bad) = middle;
      (is_good ? best : refused) = *std::move(plan);
    }
    return Status::Ok();
  }
};

// The best plan within a budget of bytes.
Result<FilterPlan> PlanWithin(uint64_t filter_bytes, double allowed, double not_allowed,
                              const PlanFor& plan_for) {
  PlanSearch search;
  const Status status = search.Run(allowed, not_allowed, plan_for, [&](const FilterPlan& plan) {
    return plan.filter_bytes <= filter_bytes;
  });
  if (!status.ok()) return status;
  if (search.best && search.best->filter_bytes > 0) return *std::move(search.best);
  return Status::InvalidArgument(fmt::format(
      "memory is {}; allowed: at least {}, the smallest filter",
      term::CountOf(filter_bytes, "byte"), term::WithCommas(search.refused->filter_bytes)));
}

// Rounds before planning, so that the rounded rate fits.
Result<FilterPlan> PlanForRoundedRate(const Forest& forest, double target_fpr) {
  return PlanForGoal(forest, {.target_fpr = std::stod(fmt::format("{:.3g}", target_fpr))});
}

constexpr uint64_t kKeys = 100'000;
constexpr int kRepetitions = 3;  // the fastest counts; others shared the processor

double CpuNanoseconds() {
  timespec time = {};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return 1e9 * static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec);
}

// The key with this number: 16 bytes, of which the first eight differ from key to key.
std::string_view KeyOf(uint64_t number, std::array<char, 16>* bytes) {
  std::memcpy(bytes->data(), &number, sizeof(number));
  return {bytes->data(), bytes->size()};
}

FilterCost Measure(const FilterOptions& options) {
  FilterCost best{.build_ns_per_key = std::numeric_limits<double>::infinity(),
                  .probe_ns = std::numeric_limits<double>::infinity()};
  for (int i = 0; i < kRepetitions; ++i) {
    std::array<char, 16> bytes{};
    const double begin = CpuNanoseconds();
    Result<FilterBuilder> builder = FilterBuilder::Create(options);
    if (!builder.ok()) return {};
    for (uint64_t n = 0; n < kKeys; ++n) builder->AddKey(KeyOf(n, &bytes));
    const Result<OwnedBytes> block = builder->Finish();
    if (!block.ok()) return {};
    const double built = CpuNanoseconds();
    const Filter reader = Filter::Open(block->view());
    uint64_t passed = 0;
    for (uint64_t n = kKeys; n < 2 * kKeys; ++n)
      passed += reader.MayContain(KeyOf(n, &bytes)) ? 1 : 0;
    [[maybe_unused]] volatile const uint64_t is_used = passed;
    const double probed = CpuNanoseconds();
    best.build_ns_per_key = std::min(best.build_ns_per_key, (built - begin) / kKeys);
    best.probe_ns = std::min(best.probe_ns, (probed - built) / kKeys);
  }
  return best;
}

}  // namespace

uint64_t Forest::num_keys() const {
  uint64_t sum = 0;
  for (const RunList& list : lists) sum += list.num_keys();
  return sum;
}

size_t Forest::num_runs() const {
  size_t sum = 0;
  for (const RunList& list : lists) sum += list.runs.size();
  return sum;
}

uint64_t Forest::filter_bytes() const {
  uint64_t sum = 0;
  for (const RunList& list : lists) sum += list.filter_bytes();
  return sum;
}

double Forest::WastedReads(std::span<const double> fprs, double absent_fraction) const {
  if (lists.size() == 1) {
    return lists.front().tree.WastedReads({fprs.begin(), fprs.end()}, absent_fraction);
  }
  double reads = 0;
  const uint64_t all_keys = num_keys();
  for (const RunList& list : lists) {
    const auto of_list = fprs.first(list.runs.size());
    fprs = fprs.subspan(list.runs.size());
    reads += term::Ratio(list.num_keys(), all_keys) *
             list.tree.WastedReads({of_list.begin(), of_list.end()}, absent_fraction);
  }
  return reads;
}

std::vector<ForestLevel> LevelsOf(const Forest& forest) {
  std::vector<ForestLevel> levels;
  size_t first_of_list = 0;
  for (const RunList& list : forest.lists) {
    const std::vector<double> shares = list.tree.LookupShares();
    size_t run = 0;
    for (const auto& runs : ByLevel(list.runs)) {
      ForestLevel& level = levels.emplace_back();
      level.list = &list;
      level.runs = runs;
      level.first_run = first_of_list + run;
      for (const SortedRun& one : runs) {
        level.num_keys += one.num_keys;
        level.lookup_share += shares[run++] / static_cast<double>(runs.size());
      }
    }
    first_of_list += list.runs.size();
  }
  return levels;
}

Result<FilterPlan> PlanForGoal(const Forest& forest, const RateGoal& goal) {
  FilterPlan all;
  all.goal = goal;
  for (const RunList& list : forest.lists) {
    const Result<FilterPlan> plan = PlanForGoal(PlannedTree{list}, goal);
    if (!plan.ok()) return plan.status();
    Append(*plan, &all);
  }
  return all;
}

// Footers and partly filled lines add to the allocated bits, so search for the highest
// bits_per_key, in hundredths, whose filters fit.
Result<FilterPlan> PlanForMemory(const Forest& forest, uint64_t filter_bytes) {
  constexpr double kSteps = 100;
  return PlanWithin(filter_bytes, kMinAllocatedBitsPerKey, kMaxAllocatedBitsPerKey,
                    [&](double bits_per_key) {
                      const double rounded = std::floor(bits_per_key * kSteps) / kSteps;
                      return PlanForGoal(forest, {.bits_per_key = rounded});
                    });
}

Result<FilterPlan> PlanForWastedReads(const Forest& forest, double wasted_reads) {
  const double rounded = std::max(RoundDown(wasted_reads), kMinWastedReads);
  Result<FilterPlan> plan = PlanForGoal(forest, {.wasted_reads = rounded});
  if (!plan.ok() || plan->is_reached) return plan;
  return Status::InvalidArgument(fmt::format(
      "wasted_reads is {}, fewer than any filters of these sorted runs can reach", rounded));
}

Result<FilterPlan> PlanForSameReads(const Forest& forest, double wasted_reads) {
  Result<FilterPlan> first = PlanForWastedReads(forest, wasted_reads);
  if (!first.ok()) return first;
  PlanSearch search;
  const Status status = search.Run(
      wasted_reads, kMaxWastedReads,
      [&](double reads) { return PlanForWastedReads(forest, reads); },
      [&](const FilterPlan& plan) { return ReadsOf(forest, plan) <= wasted_reads; });
  if (!status.ok()) return status;
  return search.best ? *std::move(search.best) : first;
}

Result<FilterPlan> PlanForOneRate(const Forest& forest, uint64_t filter_bytes) {
  return PlanWithin(filter_bytes, kMaxTargetFpr, kMinTargetFpr,
                    [&](double fpr) { return PlanForRoundedRate(forest, fpr); });
}

Result<FilterPlan> PlanForOneRateOfReads(const Forest& forest, double wasted_reads) {
  PlanSearch search;
  const Status status = search.Run(
      kMinTargetFpr, kMaxTargetFpr, [&](double fpr) { return PlanForRoundedRate(forest, fpr); },
      [&](const FilterPlan& plan) { return ReadsOf(forest, plan) <= wasted_reads; });
  if (!status.ok()) return status;
  if (search.best) return *std::move(search.best);
  return Status::InvalidArgument(
      fmt::format("wasted reads are {}, fewer than filters of one rate can reach",
                  term::NumberText(wasted_reads)));
}

FilterCost CostOf(const FilterPlan& plan, const Forest& forest, KnownCosts* known) {
  FilterCost cost;
  double keys = 0;
  double probes = 0;
  size_t i = 0;
  for (const ForestLevel& level : LevelsOf(forest)) {
    const LevelFilters& filters = plan.levels[i++];
    const bool has_filters = filters.target_fpr <= kMaxTargetFpr;
    const auto [entry, is_new] = known->try_emplace({filters.kind, filters.target_fpr});
    if (is_new && has_filters) {
      entry->second = Measure({.kind = filters.kind, .target_fpr = filters.target_fpr});
    }
    const auto num_keys = static_cast<double>(level.num_keys);
    const double lookups = static_cast<double>(level.list->num_keys()) * level.lookup_share *
                           static_cast<double>(level.runs.size()) * (has_filters ? 1 : 0);
    cost.build_ns_per_key += num_keys * entry->second.build_ns_per_key;
    cost.probe_ns += lookups * entry->second.probe_ns;
    keys += num_keys;
    probes += lookups;
  }
  if (keys > 0) cost.build_ns_per_key /= keys;
  if (probes > 0) cost.probe_ns /= probes;
  return cost;
}

}  // namespace blocksieve::cli
