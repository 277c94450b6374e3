// SPDX-License-Identifier: Apache-2.0
#include "integration/cli/advise/advice.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "blocksieve/filter.h"

namespace blocksieve::cli {
namespace {

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

}  // namespace blocksieve::cli
