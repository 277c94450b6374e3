#include "integration/cli/advise/advice.h"

#include <fmt/format.h>

#include <utility>

#include "integration/cli/term/text.h"

namespace blocksieve::cli {
namespace {

// What RocksDB's documentation and examples use throughout.
constexpr double kUsualBitsPerKey = 10;

std::vector<double> RatesOf(const std::vector<SortedRun>& runs) {
  std::vector<double> fprs;
  for (const SortedRun& run : runs) fprs.push_back(run.fpr);
  return fprs;
}

class Adviser {
 public:
  Adviser(RunList list, RunCoverage coverage, const AdviceQuestion& question)
      : question_(question) {
    advice_.list = std::move(list);
    advice_.coverage = std::move(coverage);
    advice_.without = OutlookOf(std::vector<double>(runs().size(), 1), 0);
    advice_.today = OutlookOf(RatesOf(runs()), advice_.list.filter_bytes());
  }

  Advice Advise() && {
    advice_.no_filter_pays = WhyNoFilterPays();
    if (advice_.list.num_keys() == 0) return std::move(advice_);
    const bool has_filters =
        advice_.today.wasted_reads_absent < advice_.without.wasted_reads_absent;
    if (has_filters) {
      Propose("same memory", PlanForMemory(runs(), advice_.today.filter_bytes));
      Propose("same reads",
              PlanForSameReads(runs(), advice_.coverage, advice_.today.wasted_reads_absent));
    }
    if (question_.memory) Propose("asked", PlanForMemory(runs(), *question_.memory), ShareText());
    if (question_.wasted_reads)
      Propose("asked", PlanForWastedReads(runs(), *question_.wasted_reads));
    if (advice_.proposals.empty()) Propose("usual", PlanForBitsPerKey(runs(), kUsualBitsPerKey));
    const uint64_t bytes =
        has_filters ? advice_.today.filter_bytes : advice_.proposals.front().outlook.filter_bytes;
    Propose("one rate", PlanForOneRate(runs(), bytes));
    return std::move(advice_);
  }

 private:
  const std::vector<SortedRun>& runs() const { return advice_.list.runs; }

  Outlook OutlookOf(const std::vector<double>& fprs, uint64_t filter_bytes) const {
    return {.wasted_reads_absent = WastedReads(advice_.coverage, fprs, 1),
            .wasted_reads = WastedReads(advice_.coverage, fprs, question_.absent_fraction),
            .filter_bytes = filter_bytes};
  }

  // "" if this column family gets all of the memory that was asked for.
  std::string ShareText() const {
    const std::optional<uint64_t>& all = question_.memory_of_all_families;
    if (!all || *all == question_.memory) return "";
    return fmt::format("; this column family gets {} of the {} asked for, by its keys",
                       *question_.memory, *all);
  }

  void Propose(const std::string& name, Result<FilterPlan> plan, const std::string& remark = "") {
    if (!plan.ok()) {
      advice_.impossible.push_back(name + ": " + plan.status().message() + remark);
      return;
    }
    const Outlook outlook = OutlookOf(plan->fprs, plan->filter_bytes);
    advice_.proposals.push_back({name, *std::move(plan), outlook});
  }

  std::string WhyNoFilterPays() const {
    if (advice_.list.num_keys() == 0) return "there are no keys";
    if (advice_.without.wasted_reads < kLeastSavedReads) {
      return fmt::format("without filters, a lookup wastes {:.2g} reads of data blocks",
                         advice_.without.wasted_reads);
    }
    return WhyCacheIsEnough(runs(), question_.cached_bytes);
  }

  const AdviceQuestion question_;
  Advice advice_;
};

}  // namespace

std::string WhyCacheIsEnough(const std::vector<SortedRun>& runs, uint64_t cached_bytes) {
  uint64_t num_bytes = 0;
  for (const SortedRun& run : runs) {
    for (const FileReport* const file : run.files) num_bytes += file->num_bytes;
  }
  if (num_bytes > cached_bytes) return "";
  return fmt::format("the files, {} bytes, fit into a block cache of {} MiB",
                     term::WithCommas(num_bytes), cached_bytes >> 20);
}

Advice Advise(RunList list, RunCoverage coverage, const AdviceQuestion& question) {
  return Adviser(std::move(list), std::move(coverage), question).Advise();
}

}  // namespace blocksieve::cli
