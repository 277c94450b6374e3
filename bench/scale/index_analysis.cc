#include "bench/scale/index_analysis.h"

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "bench/scale/model.h"
#include "bench/skip/analysis.h"
#include "bench/support/measure.h"
#include "bench/support/terminal.h"
#include "blocksieve/granule_index.h"
#include "blocksieve/granule_index_builder.h"
#include "blocksieve/value.h"

namespace blocksieve::bench::scale {
namespace {

constexpr uint64_t kGranules = kKeysPerFile / kDefaultGranuleRows;
constexpr uint64_t kMinTimedTogether = 64;  // analyses: a clock takes longer to read than one
constexpr uint64_t kBatches = 99;

GranuleIndex Open(const std::string& bytes) {
  Result<GranuleIndex> index = GranuleIndex::Open(AsBytes(bytes));
  if (!index.ok()) Fail("granule index: {}", index.status().message());
  return *std::move(index);
}

}  // namespace

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
  std::vector<double> seconds;
  for (uint64_t i = 0; i < kBatches; ++i) {
    CheckInterrupt();
    for (uint64_t& hash : hashes) hash = Value::Uint(random()).Hash();
    const Stopwatch stopwatch;
    for (const uint64_t hash : hashes) {
      for (const GranuleIndex& index : indexes) {
        std::copy(all.words().begin(), all.words().end(), candidates.words().begin());
        index.column_index(0).KeepContaining(hash, &candidates);
      }
    }
    seconds.push_back(stopwatch.Seconds() / static_cast<double>(batch));
  }
  return {.files = num_files,
          .granules = num_files * kGranules,
          .rows = num_files * kGranules * kDefaultGranuleRows,
          .bytes = num_files * bytes.front().size(),
          .seconds = Median(std::move(seconds))};
}

}  // namespace blocksieve::bench::scale
