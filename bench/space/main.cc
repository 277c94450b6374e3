// space: how far above the least possible space filters are, by rate and number of keys; and the
// memory that building them takes.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>
#include <vector>

#include "bench/space/measurements.h"
#include "bench/support/job.h"
#include "bench/support/json_file.h"
#include "bench/support/terminal.h"

namespace blocksieve::bench::space {
namespace {

const JobManual kManual = {
    .name = "bench/run space",
    .description =
        "How far above the least possible space filters are, and the memory to build them",
    .quick_help = "fewer probes: within a minute, less exactly",
    .files = "space.json",
};

constexpr FilterKind kKinds[] = {FilterKind::kRibbon, FilterKind::kBlockedBloom};
constexpr uint64_t kSizes[] = {100, 300, 1'000, 3'000, 10'000, 200'000, 1'000'000};
constexpr double kPowers[] = {-4, -6, -8, -10, -12, -16};
constexpr double kRates[] = {0.3, 0.2, 0.1, 0.05, 0.03, 0.01, 0.003, 0.001, 1e-4, 1e-5};

// Ten thousand false positives are within 1 % of their mean, one standard deviation, which is 0.014
// bits; and the larger log2(1 / FPR), the less that is of it.
uint64_t ProbesFor(double fpr, bool quick) {
  const double most = quick ? 2e7 : 4e8;
  return static_cast<uint64_t>(std::clamp((quick ? 10'000 : 20'000) / fpr, 1e6, most));
}

Json MeasureSpaces(bool quick) {
  std::vector<double> rates;
  for (const double power : kPowers) rates.push_back(std::exp2(power));
  rates.insert(rates.end(), std::begin(kRates), std::end(kRates));
  Progress progress;
  Json results = Json::array();
  const auto measure = [&](FilterKind kind, double rate, uint64_t keys) {
    CheckInterrupt();
    progress.Show(fmt::format("{}, FPR {:.3g}, {} keys", FilterKindName(kind), rate, keys));
    const SpaceMeasurement measured = MeasureSpace(kind, rate, keys, ProbesFor(rate, quick));
    results.push_back({{"kind", FilterKindName(kind)},
                       {"target_fpr", rate},
                       {"keys", keys},
                       {"bits_per_key", measured.bits_per_key},
                       {"fpr", measured.fpr},
                       {"over_limit", measured.OverLimit()}});
  };
  for (const FilterKind kind : kKinds) {
    for (const double rate : rates) {
      for (const uint64_t keys : kSizes) measure(kind, rate, keys);
    }
  }
  return results;
}

Json MeasureMemory(bool quick) {
  const std::vector<uint64_t> sizes = quick ? std::vector<uint64_t>{1'000'000}
                                            : std::vector<uint64_t>{100'000, 1'000'000, 10'000'000};
  Json results = Json::array();
  for (const FilterKind kind : kKinds) {
    for (const uint64_t keys : sizes) {
      results.push_back({{"kind", FilterKindName(kind)},
                         {"keys", keys},
                         {"bytes_per_key", MeasureBuildMemory(kind, 0.01, keys)}});
    }
  }
  return results;
}

void Run(const JobOptions& options) {
  PrepareOutput(options);
  // First, while this process is small: its children begin with its memory.
  Json memory = MeasureMemory(options.quick);
  WriteJsonFile({{"build_memory", std::move(memory)}, {"space", MeasureSpaces(options.quick)}},
                options.out, "space.json");
}

}  // namespace
}  // namespace blocksieve::bench::space

int main(int argc, char** argv) {
  using namespace blocksieve::bench;
  return RunMain([&] { space::Run(ParseJobOptions(space::kManual, argc, argv)); });
}
