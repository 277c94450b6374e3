// scale: filters of up to hundreds of millions of keys, the filters of whole trees and the indexes
// of many files, measured; and from that computed what databases of up to 10^12 keys take.

#include <fmt/format.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "bench/scale/filters.h"
#include "bench/scale/model.h"
#include "bench/skip/analysis.h"
#include "bench/support/job.h"
#include "bench/support/measure.h"
#include "bench/support/terminal.h"
#include "blocksieve/granule_index.h"
#include "blocksieve/granule_index_builder.h"
#include "blocksieve/value.h"

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

constexpr uint64_t kGranules = kKeysPerFile / kDefaultGranuleRows;
constexpr uint64_t kMinTimedTogether = 64;  // analyses: a clock takes longer to read than one
constexpr double kAnalysisSeconds = 0.3;

GranuleIndex Open(const std::string& bytes) {
  Result<GranuleIndex> index = GranuleIndex::Open(AsBytes(bytes));
  if (!index.ok()) Fail("skip index: {}", index.status().message());
  return *std::move(index);
}

// Times the analysis of the skip indexes of `num_files` files of kKeysPerFile rows, in granules of
// the default size, for one value of a column of which every row has another. Open indexes, in
// memory. Throws Failure.
AnalysisResult MeasureAnalysis(uint64_t num_files) {
  // Copies of one index: what is measured is where the bytes come from, not what they say.
  const std::vector<std::string> bytes(num_files,
                                       skip::BuildIndex(kGranules, kDefaultGranuleRows, 1));
  std::vector<GranuleIndex> indexes;
  indexes.reserve(num_files);
  for (const std::string& each : bytes) indexes.push_back(Open(each));

  const GranuleSet all = GranuleSet::All(kGranules);
  GranuleSet candidates = all;
  const uint64_t batch = std::max<uint64_t>(1, kMinTimedTogether / num_files);
  std::vector<uint64_t> hashes(batch);
  std::mt19937_64 random(2);
  const auto time = [&] {
    for (uint64_t& hash : hashes) hash = Value::Uint(random()).Hash();
    const Stopwatch stopwatch;
    for (const uint64_t hash : hashes) {
      for (const GranuleIndex& index : indexes) {
        std::copy(all.words().begin(), all.words().end(), candidates.words().begin());
        index.column_index(0).KeepContaining(hash, &candidates);
      }
    }
    return stopwatch.Seconds() / static_cast<double>(batch);
  };
  return {.files = num_files,
          .granules = num_files * kGranules,
          .rows = num_files * kGranules * kDefaultGranuleRows,
          .bytes = num_files * bytes.front().size(),
          .seconds = TakeTurns(kAnalysisSeconds, {time}).front()};
}

Measurements Measure(const Effort& effort, Progress& progress) {
  const Stopwatch stopwatch;
  Measurements measured;
  for (const FilterKind kind : {FilterKind::kRibbon, FilterKind::kBlockedBloom}) {
    for (const uint64_t keys : effort.filter_keys) {
      progress.Show(fmt::format("{} of {} keys", FilterKindName(kind), keys));
      measured.filters.push_back(MeasureFilter(kind, kTargetFpr, keys));
    }
  }
  for (const Asking& asking : Askings()) {
    for (const uint64_t keys : effort.tree_keys) {
      progress.Show(fmt::format("tree of {} keys, {}", keys, asking.name));
      measured.trees.push_back(MeasureTree(keys, asking));
    }
  }
  for (const uint64_t files : effort.index_files) {
    progress.Show(fmt::format("analysis of {} indexes", files));
    measured.analyses.push_back(MeasureAnalysis(files));
  }
  measured.seconds = stopwatch.Seconds();
  return measured;
}

void Run(const JobOptions& options) {
  PrepareOutput(options);
  Progress progress;
  const Measurements measured = Measure(options.quick ? Effort::Quick() : Effort{}, progress);
  ToResults(measured).Write(options.out);
}

}  // namespace
}  // namespace blocksieve::bench::scale

int main(int argc, char** argv) {
  using namespace blocksieve::bench;
  return RunMain([&] { scale::Run(ParseJobOptions(scale::kManual, argc, argv)); });
}
