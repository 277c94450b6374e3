// scale: filters of up to hundreds of millions of keys, the filters of whole trees and the indexes
// of many files, measured; and from that computed what databases of up to 10^12 keys take.

#include <fmt/format.h>

#include "bench/scale/built_tree.h"
#include "bench/scale/filters.h"
#include "bench/scale/index_analysis.h"
#include "bench/scale/model.h"
#include "bench/support/job.h"
#include "bench/support/measure.h"
#include "bench/support/terminal.h"

namespace blocksieve::bench::scale {
namespace {

// How much is measured. As it stands, in some minutes and with 6 GB of memory.
struct Effort {
  std::vector<uint64_t> filter_keys = {1'000'000, 10'000'000, 100'000'000, 300'000'000};
  std::vector<uint64_t> tree_keys = {1'000'000, 10'000'000, 100'000'000, 1'000'000'000};
  std::vector<uint64_t> index_files = {1, 10, 100, 1'000};

  // Within a minute.
  static Effort Quick() { return {{1'000'000, 10'000'000}, {1'000'000, 10'000'000}, {1, 10, 100}}; }
};

constexpr double kTargetFpr = 0.01;

const JobManual kManual = {
    .name = "bench/run scale",
    .description = "Filters and skip indexes from a million keys on, measured and computed",
    .quick_help = "at most 10^7 keys: within a minute",
    .files = "scale.json and plots",
};

Results Measure(const Effort& effort, Progress& progress) {
  const Stopwatch stopwatch;
  Results results;
  for (const FilterKind kind : {FilterKind::kRibbon, FilterKind::kBlockedBloom}) {
    for (const uint64_t keys : effort.filter_keys) {
      progress.Show(fmt::format("{} of {} keys", FilterKindName(kind), keys));
      results.filters.push_back(MeasureFilter(kind, kTargetFpr, keys));
    }
  }
  for (const Asking& asking : Askings()) {
    for (const uint64_t keys : effort.tree_keys) {
      progress.Show(fmt::format("tree of {} keys, {}", keys, asking.name()));
      results.trees.push_back(MeasureTree(keys, asking));
    }
  }
  for (const uint64_t files : effort.index_files) {
    progress.Show(fmt::format("analysis of {} indexes", files));
    results.analyses.push_back(MeasureAnalysis(files));
  }
  results.seconds = stopwatch.Seconds();
  return results;
}

void Run(const JobOptions& options) {
  PrepareOutput(options);
  Progress progress;
  Results results = Measure(options.quick ? Effort::Quick() : Effort{}, progress);
  results.is_quick = options.quick;
  WriteJson(results, options.out);
}

}  // namespace
}  // namespace blocksieve::bench::scale

int main(int argc, char** argv) {
  using namespace blocksieve::bench;
  return RunMain([&] { scale::Run(ParseJobOptions(scale::kManual, argc, argv)); });
}
