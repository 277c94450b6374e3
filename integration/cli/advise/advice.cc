#include "integration/cli/advise/advice.h"

#include <fmt/format.h>

#include <utility>

#include "integration/cli/term/text.h"

namespace blocksieve::cli {
namespace {

// As in RocksDB's documentation and examples.
constexpr double kUsualBitsPerKey = 10;

std::vector<double> RatesOf(const std::vector<SortedRun>& runs) {
  std::vector<double> fprs;
  for (const SortedRun& run : runs) fprs.push_back(run.fpr);
  return fprs;
}

class Adviser {
 public:
  Adviser(RunList list, const AdviceRequest& request) : request_(request) {
    advice_.list = std::move(list);
    advice_.without = PredictionOf(std::vector<double>(runs().size(), 1), 0);
    advice_.current = PredictionOf(RatesOf(runs()), advice_.list.filter_bytes());
  }

  Advice Advise() && {
    advice_.no_filter_pays = WhyNoFilterPays();
    if (advice_.list.num_keys() == 0) return std::move(advice_);
    has_filters_ = advice_.current.wasted_reads_absent < advice_.without.wasted_reads_absent;
    const uint64_t current_bytes = advice_.current.filter_bytes;
    if (has_filters_) {
      Offer("same memory", BestForMemory(current_bytes));
      Offer("same reads", BestForReads(advice_.current.wasted_reads_absent));
    }
    if (request_.memory) Propose("requested", PlanForMemory(Tree(), *request_.memory), ShareText());
    if (request_.wasted_reads) {
      Propose("requested", PlanForWastedReads(Tree(), *request_.wasted_reads));
    }
    if (advice_.proposals.empty() && !has_filters_) {
      Propose("usual", PlanForGoal(Tree(), {.bits_per_key = kUsualBitsPerKey}));
    }
    if (has_filters_) {
      Offer("one rate", PlanForOneRate(Tree(), current_bytes));
    } else if (!advice_.proposals.empty()) {
      const uint64_t bytes = advice_.proposals.front().prediction.filter_bytes;
      Propose("one rate", PlanForOneRate(Tree(), bytes));
    }
    return std::move(advice_);
  }

 private:
  const std::vector<SortedRun>& runs() const { return advice_.list.runs; }
  PlannedTree Tree() const { return {advice_.list}; }

  Prediction PredictionOf(const std::vector<double>& fprs, uint64_t filter_bytes) const {
    return {.wasted_reads_absent = advice_.list.tree.WastedReads(fprs, 1),
            .wasted_reads = advice_.list.tree.WastedReads(fprs, request_.absent_fraction),
            .filter_bytes = filter_bytes};
  }

  Prediction PredictionOf(const FilterPlan& plan) const {
    return PredictionOf(plan.fprs, plan.filter_bytes);
  }

  // One rate is easier to understand, so spreading has to be at least this much better.
  static constexpr double kWorthSpreading = 0.99;

  Result<FilterPlan> BestForMemory(uint64_t filter_bytes) {
    Result<FilterPlan> spread = PlanForMemory(Tree(), filter_bytes);
    Result<FilterPlan> one_rate = PlanForOneRate(Tree(), filter_bytes);
    if (!spread.ok() || !one_rate.ok()) return spread.ok() ? spread : one_rate;
    const double reads = PredictionOf(*one_rate).wasted_reads;
    advice_.gain_steps = {advice_.current.wasted_reads, reads, PredictionOf(*spread).wasted_reads};
    return PredictionOf(*spread).wasted_reads < kWorthSpreading * reads ? spread : one_rate;
  }

  Result<FilterPlan> BestForReads(double wasted_reads) const {
    Result<FilterPlan> spread = PlanForSameReads(Tree(), wasted_reads);
    Result<FilterPlan> one_rate = PlanForOneRateOfReads(Tree(), wasted_reads);
    if (!spread.ok() || !one_rate.ok()) return spread.ok() ? spread : one_rate;
    const auto bytes = static_cast<double>(one_rate->filter_bytes);
    return static_cast<double>(spread->filter_bytes) < kWorthSpreading * bytes ? spread : one_rate;
  }

  // "" if this column family gets all of the requested memory.
  std::string ShareText() const {
    const std::optional<uint64_t>& all = request_.memory_of_all_families;
    if (!all || *all == request_.memory) return "";
    return fmt::format(
        "; this column family gets {} of the requested {}, in proportion to its keys",
        *request_.memory, *all);
  }

  void Propose(const std::string& name, Result<FilterPlan> plan, const std::string& remark = "") {
    if (!plan.ok()) {
      advice_.not_proposed.push_back(name + ": " + plan.status().message() + remark);
      return;
    }
    const Prediction prediction = PredictionOf(*plan);
    const FilterCost cost = CostOf(*plan, advice_.list, &costs_);
    advice_.proposals.push_back({name, *std::move(plan), prediction, cost});
  }

  // Proposes a plan that is no worse than the current filters, and differs from them.
  void Offer(const std::string& name, Result<FilterPlan> plan) {
    const std::string worse = plan.ok() ? WhatIsWorse(PredictionOf(*plan)) : "";
    if (!worse.empty()) {
      advice_.not_proposed.push_back(
          fmt::format("{}: it would {} than the current filters", name, worse));
    } else if (plan.ok() && plan->changes.empty()) {
      advice_.not_proposed.push_back(name + ": the current filters already match it");
    } else {
      Propose(name, std::move(plan));
    }
  }

  std::string WhatIsWorse(const Prediction& prediction) const {
    // Sums in another order differ by rounding.
    constexpr double kRounding = 1 + 1e-9;
    const Prediction& current = advice_.current;
    if (prediction.filter_bytes > current.filter_bytes) return "use more memory";
    const bool reads_less =
        prediction.wasted_reads <= current.wasted_reads * kRounding &&
        prediction.wasted_reads_absent <= current.wasted_reads_absent * kRounding;
    return reads_less ? "" : "waste more reads";
  }

  std::string WhyNoFilterPays() const {
    if (advice_.list.num_keys() == 0) return "the database has no keys";
    if (advice_.without.wasted_reads < kMinSavedReads) {
      return fmt::format("without filters, a lookup wastes {:.2g} data block reads",
                         advice_.without.wasted_reads);
    }
    return WhyCacheIsEnough(runs(), request_.cached_bytes);
  }

  const AdviceRequest request_;
  bool has_filters_ = false;
  KnownCosts costs_;
  Advice advice_;
};

}  // namespace

std::string WhyCacheIsEnough(const std::vector<SortedRun>& runs, uint64_t cached_bytes) {
  uint64_t num_bytes = 0;
  for (const SortedRun& run : runs) {
    for (const FileReport* const file : run.files) num_bytes += file->num_bytes;
  }
  if (num_bytes > cached_bytes) return "";
  return fmt::format("the files have {} bytes and fit into a block cache of {} MiB",
                     term::WithCommas(num_bytes), cached_bytes >> 20);
}

Advice Advise(RunList list, const AdviceRequest& request) {
  return Adviser(std::move(list), request).Advise();
}

}  // namespace blocksieve::cli
