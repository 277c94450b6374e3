// SPDX-License-Identifier: Apache-2.0
#include "integration/cli/advise/advice.h"

#include <string_view>
#include <utility>

#include "blocksieve/filter.h"

namespace blocksieve::cli {

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

namespace {

// Rounds to three digits, as values of options have.
double RoundDown(double value) {
  const double unit = std::pow(10, std::floor(std::log10(value)) - 2);
  return std::stod(fmt::format("{:.3g}", std::floor(value / unit * (1 + 1e-9)) * unit));
}

// Plans for all column families. All REQUIRE a column family and one limit. They fail if no filters
// meet the limit.

// The same goal for all, without a limit.
Result<Plans> PlanForGoal(const Forest& forest, const RateGoal& goal) {
  Plans plans;
  for (const Tree& tree : forest.trees) {
    Result<FilterPlan> plan = PlanFilters(tree, goal);
    if (!plan.ok()) return plan.status();
    plans.push_back(*std::move(plan));
  }
  return plans;
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
    const bool is_good = limit.memory
                             ? AddUp(*plans, &FilterPlan::filter_bytes) <= *limit.memory
                             : Predict(forest.trees, *plans, 1).wasted_reads <= *limit.wasted_reads;
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

// Fewest wasted reads for the memory, or least memory for the reads. `kind` is for a limit of
// memory alone.
Result<Plans> PlanByLevel(const Forest& forest, const PlanLimit& limit,
                          FilterKind kind = FilterKind::kAuto) {
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

// Least memory with at most these wasted reads. Unlike PlanByLevel, counts the actual filters of
// files, which waste a little less than their goal.
Result<Plans> PlanForSameReads(const Forest& forest, double wasted_reads) {
  const PlanLimit limit{.wasted_reads = wasted_reads};
  Result<Plans> first = PlanByLevel(forest, limit);
  if (!first.ok()) return first;
  Result<Plans> best = Search(forest, limit, wasted_reads, kMaxWastedReads, GoalOfReads);
  return best.ok() ? best : first;
}

// One rate for all files: the lowest for the memory, or the highest for the reads.
Result<Plans> PlanForOneRate(const Forest& forest, const PlanLimit& limit) {
  // Rounds before planning, so that the rounded rate is within the limit.
  const auto goal_of = [](double fpr) -> RateGoal {
    return {.target_fpr = std::stod(fmt::format("{:.3g}", fpr))};
  };
  return limit.memory ? Search(forest, limit, kMaxTargetFpr, kMinTargetFpr, goal_of)
                      : Search(forest, limit, kMinTargetFpr, kMaxTargetFpr, goal_of);
}

// As in RocksDB's documentation and examples.
constexpr double kUsualBitsPerKey = 10;

double ReadsWithoutFilters(const Forest& forest, double absent_fraction) {
  const std::vector<double> no_filters(forest.num_runs(), 1);
  return WastedReads(forest.trees, no_filters, absent_fraction);
}

// One rate is easier to understand, so spreading has to be at least this much better.
Result<Plans> PreferOneRate(const Result<Plans>& spread, const Result<Plans>& one_rate,
                            const std::function<double(const Plans&)>& cost) {
  constexpr double kWorthSpreading = 0.99;
  if (!spread.ok() || !one_rate.ok()) return spread.ok() ? spread : one_rate;
  return cost(*spread) < kWorthSpreading * cost(*one_rate) ? spread : one_rate;
}

class Adviser {
 public:
  Adviser(Forest given, const AdviceRequest& request) {
    advice_.request = request;
    advice_.forest = std::move(given);
    advice_.without.wasted_reads_absent = ReadsWithoutFilters(forest(), 1);
    advice_.without.wasted_reads = ReadsWithoutFilters(forest(), request.absent_fraction);
    advice_.current = Predict(forest().trees, request.absent_fraction);
  }

  Advice Advise(const KeysOfFile& keys_of_file) && {
    if (forest().trees.empty()) return std::move(advice_);
    const Prediction& current = advice_.current;
    advice_.no_filter_pays =
        WhyNoFilterPays(forest(), request().absent_fraction, request().cache_is_enough);
    has_filters_ = current.wasted_reads_absent < advice_.without.wasted_reads_absent;
    const bool has_limit = limit().memory || limit().wasted_reads;
    if (has_limit) {
      Result<Plans> requested = PlanByLevel(forest(), limit());
      if (!requested.ok()) advice_.why_refused = requested.status().message();
      Propose("requested", std::move(requested));
    }
    if (has_filters_) {
      const PlanLimit memory{.memory = current.filter_bytes};
      Offer("same memory",
            PreferOneRate(PlanByLevel(forest(), memory), PlanForOneRate(forest(), memory),
                          [&](const Plans& plans) { return PredictAll(plans).wasted_reads; }));
      const double reads = current.wasted_reads_absent;
      Offer(
          "same reads",
          PreferOneRate(PlanForSameReads(forest(), reads),
                        PlanForOneRate(forest(), {.wasted_reads = reads}), [](const Plans& plans) {
                          return static_cast<double>(AddUp(plans, &FilterPlan::filter_bytes));
                        }));
    } else if (!has_limit) {
      Propose("usual", PlanForGoal(forest(), {.bits_per_key = kUsualBitsPerKey}));
    }
    if (has_filters_ && !has_limit) {
      Offer("one rate", PlanComparedRate());
    } else if (advice_.why_refused.empty()) {
      Propose("one rate", PlanComparedRate());
    }
    if (!advice_.proposals.empty()) {
      advice_.stock = MakeProposal(
          "stock", PlanByLevel(forest(), {.memory = ComparedBytes()}, FilterKind::kStock));
    }
    if (request().seek_fraction) AddSeeks(keys_of_file);
    if (request().window) advice_.windows = AdviseWindow(forest(), *request().window, keys_of_file);
    return std::move(advice_);
  }

 private:
  const AdviceRequest& request() const { return advice_.request; }
  const PlanLimit& limit() const { return request().limit; }
  const Forest& forest() const { return advice_.forest; }

  Prediction PredictAll(const Plans& plans) const {
    return Predict(forest().trees, plans, request().absent_fraction);
  }

  // For the requested limit, the current memory, or that of the first proposal. `other_bytes` of it
  // are for other filters.
  Result<Plans> PlanComparedRate(uint64_t other_bytes = 0) const {
    if (limit().wasted_reads) return PlanForOneRate(forest(), limit());
    const uint64_t bytes = ComparedBytes();
    return PlanForOneRate(forest(), {.memory = bytes - std::min(bytes, other_bytes)});
  }

  uint64_t ComparedBytes() const {
    if (limit().memory || has_filters_)
      return limit().memory.value_or(advice_.current.filter_bytes);
    return advice_.proposals.front().prediction.filter_bytes;
  }

  // Range filters and prefixes beside key filters of one rate.
  void AddSeeks(const KeysOfFile& keys_of_file) {
    const auto advise = [&](const Plans& plans) {
      advice_.seeks = AdviseSeeks(forest(), request(), plans, keys_of_file);
    };
    Result<Plans> plan = PlanComparedRate();
    if (!plan.ok()) plan = PlanForGoal(forest(), {.target_fpr = FilterOptions().target_fpr});
    advise(plan.value());
    const uint64_t num_bytes = advice_.seeks->FilterBytes();
    if (!limit().memory || num_bytes <= *limit().memory) return;
    plan = PlanComparedRate(num_bytes - advice_.seeks->key_filter_bytes);
    if (plan.ok()) return advise(*plan);
    for (PartAdvice* const part : {&advice_.seeks->ranges, &advice_.seeks->prefixes}) {
      if (part->do_not_pay.empty()) part->do_not_pay = "they exceed the requested memory";
    }
  }

  std::optional<Proposal> MakeProposal(const char* name, Result<Plans> plan) const {
    if (!plan.ok()) return std::nullopt;
    const Prediction prediction = PredictAll(*plan);
    return Proposal{name, *std::move(plan), prediction};
  }

  void Propose(const char* name, Result<Plans> plan) {
    if (auto proposal = MakeProposal(name, std::move(plan))) {
      advice_.proposals.push_back(*std::move(proposal));
    }
  }

  // Proposes a plan that is within the requested limit, no worse than the current filters, and
  // differs from them.
  void Offer(const char* name, Result<Plans> plan) {
    const bool has_changes =
        plan.ok() &&
        !std::ranges::all_of(*plan, &std::vector<FilterChange>::empty, &FilterPlan::changes);
    if (has_changes && IsNoWorse(PredictAll(*plan))) Propose(name, std::move(plan));
  }

  bool IsNoWorse(const Prediction& prediction) const {
    // Sums in another order differ by rounding.
    constexpr double kRounding = 1 + 1e-9;
    const Prediction& current = advice_.current;
    const double max_reads = std::min(limit().wasted_reads.value_or(current.wasted_reads_absent),
                                      current.wasted_reads_absent);
    return prediction.filter_bytes <=
               std::min(limit().memory.value_or(current.filter_bytes), current.filter_bytes) &&
           prediction.wasted_reads_absent <= max_reads * kRounding &&
           prediction.wasted_reads <= current.wasted_reads * kRounding;
  }

  bool has_filters_ = false;
  Advice advice_;
};

// Differences this small are reported as "the same".
constexpr double kSameShare = 0.005;

bool Saves(double before, double after) { return before > 0 && 1 - after / before >= kMinGain; }

bool SavesReads(const Prediction& before, const Prediction& after) {
  return Saves(before.wasted_reads, after.wasted_reads);
}

bool SavesMemory(const Prediction& before, const Prediction& after) {
  return Saves(static_cast<double>(before.filter_bytes), static_cast<double>(after.filter_bytes));
}

// "14 times fewer wasted reads", "28 % more memory"; a share is relative to `before`.
std::string Change(double before, double after, const char* less, const char* what) {
  if (after <= 0) return fmt::format("no {}", what);
  if (before <= 0) return fmt::format("{} {}", term::NumberText(after), what);
  const double change = after / before - 1;
  if (std::abs(change) < kSameShare) return fmt::format("the same {}", what);
  const char* const word = change < 0 ? less : "more";
  const double times = std::max(before / after, after / before);
  if (times < 2) return fmt::format("{:.0f} % {} {}", 100 * std::abs(change), word, what);
  const std::string number =
      times < 9.95 ? fmt::format("{:.1f}", times)
                   : term::WithCommas(static_cast<uint64_t>(std::round(std::min(times, 1e15))));
  return fmt::format("{} times {} {}", number, word, what);
}

std::string Reads(const Prediction& before, const Prediction& after) {
  return Change(before.wasted_reads, after.wasted_reads, "fewer", "wasted reads");
}

std::string Memory(const Prediction& before, const Prediction& after) {
  if (before.filter_bytes == 0) return term::WithCommas(after.filter_bytes) + " bytes of filters";
  return Change(static_cast<double>(before.filter_bytes), static_cast<double>(after.filter_bytes),
                "less", "memory");
}

const Proposal* Find(const Advice& advice, std::string_view name) {
  for (const Proposal& proposal : advice.proposals) {
    if (proposal.name == name) return &proposal;
  }
  return nullptr;
}

Verdict ChangeTo(const Proposal& proposal, const std::string& gain) {
  const EnableOptions policy = proposal.policy();
  return {fmt::format("Change to blocksieve's filters with {}: {}.", GoalText(policy), gain),
          proposal.name, policy};
}

Verdict NoChange(const Advice& advice) {
  if (advice.current.filter_bytes == 0) {
    return {"No change recommended: no filters could be proposed."};
  }
  return {fmt::format("No change recommended: the current filters are within {:.0f} % of the best.",
                      100 * kMinGain)};
}

std::optional<Verdict> JudgeSavings(const Advice& advice) {
  const Prediction& current = advice.current;
  const Proposal* const same_memory = Find(advice, "same memory");
  if (same_memory != nullptr && SavesReads(current, same_memory->prediction)) {
    return ChangeTo(*same_memory, Reads(current, same_memory->prediction) + " for the same memory");
  }
  const Proposal* const same_reads = Find(advice, "same reads");
  if (same_reads == nullptr || !SavesMemory(current, same_reads->prediction)) return std::nullopt;
  return ChangeTo(*same_reads,
                  Memory(current, same_reads->prediction) + " for the same wasted reads");
}

// The verdict on key filters with range filters or prefixes, if these are worth it.
std::optional<Verdict> WithParts(const Advice& advice) {
  if (!advice.seeks) return std::nullopt;
  const SeekAdvice& seeks = *advice.seeks;
  const PartAdvice& part = seeks.ranges.is_worth() ? seeks.ranges : seeks.prefixes;
  if (!part.is_worth()) return std::nullopt;
  Prediction current{.wasted_reads = part.current_wasted_reads};
  for (const FileReport& file : advice.forest.files) current.filter_bytes += file.filter.num_bytes;
  const Prediction projected{.wasted_reads = part.wasted_reads,
                             .filter_bytes = seeks.FilterBytes()};
  if (Find(advice, "requested") == nullptr && !SavesReads(current, projected) &&
      !SavesMemory(current, projected)) {
    return NoChange(advice);
  }
  const EnableOptions policy = seeks.Policy();
  return Verdict{
      fmt::format("Change to blocksieve's filters with {} and {}: {}, if {:g} % of the "
                  "reads are seeks.",
                  GoalText(policy), DescribeParts(policy), DifferenceText(current, projected),
                  100 * *advice.request.seek_fraction),
      DescribeParts(policy), policy};
}

}  // namespace

Forest BuildForest(std::vector<FileReport> files) {
  Forest forest{std::move(files), {}};
  forest.trees = rocksdb_plugin::BuildTrees(forest.files);
  std::erase_if(forest.trees, [](const Tree& tree) { return tree.num_keys() == 0; });
  return forest;
}

std::string WhyCacheIsEnough(uint64_t num_bytes, uint64_t cache_bytes) {
  if (num_bytes > cache_bytes) return "";
  return fmt::format("the files have {} bytes and fit into a block cache of {} bytes",
                     term::WithCommas(num_bytes), term::WithCommas(cache_bytes));
}

std::string WhyNoFilterPays(const Forest& forest, double absent_fraction,
                            const std::string& cache_is_enough) {
  if (forest.trees.empty()) return "no keys could be counted";
  const double wasted_reads = ReadsWithoutFilters(forest, absent_fraction);
  if (wasted_reads >= kMinSavedReads) return cache_is_enough;
  return fmt::format("without filters, a lookup wastes {} data block reads",
                     term::NumberText(wasted_reads, 2));
}

Advice Advise(Forest forest, const AdviceRequest& request, const KeysOfFile& keys_of_file) {
  return Adviser(std::move(forest), request).Advise(keys_of_file);
}

std::string DifferenceText(const Prediction& before, const Prediction& after) {
  return Reads(before, after) + " and " + Memory(before, after);
}

Verdict JudgeAdvice(const Advice& advice) {
  if (advice.forest.trees.empty()) return {"No verdict: no keys could be counted."};
  if (const auto verdict = WithParts(advice); verdict && advice.why_refused.empty())
    return *verdict;
  const Proposal* const requested = Find(advice, "requested");
  const std::string gain =
      requested == nullptr ? "" : DifferenceText(advice.current, requested->prediction);
  if (!advice.no_filter_pays.empty()) {
    Verdict verdict{"No change recommended. No filter pays here: " + advice.no_filter_pays + "."};
    if (requested != nullptr) {
      verdict.proposal = requested->name;
      verdict.policy = requested->policy();
      verdict.text += fmt::format(" The requested {} gives {}.", GoalText(*verdict.policy), gain);
    } else if (!advice.why_refused.empty()) {
      verdict.text += " The request cannot be met: " + advice.why_refused + ".";
    }
    return verdict;
  }
  if (!advice.why_refused.empty()) {
    return {"No change recommended: " + advice.why_refused + "."};
  }
  if (requested != nullptr) return ChangeTo(*requested, gain + ", as requested");
  if (const Proposal* const usual = Find(advice, "usual")) {
    const Prediction& projected = usual->prediction;
    return ChangeTo(*usual,
                    Reads(advice.current, projected) + " for " + Memory(advice.current, projected));
  }
  return JudgeSavings(advice).value_or(NoChange(advice));
}

}  // namespace blocksieve::cli
