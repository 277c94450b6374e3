// space: filter size above the lower bound, by FPR and number of keys, and memory to build.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string>
#include <vector>

#include "bench/support/job.h"
#include "bench/support/keys.h"
#include "bench/support/measure.h"
#include "bench/support/single_filter.h"

namespace blocksieve::bench::space {
namespace {

const JobManual kManual = {
    .benchmark = "space",
    .description = "Filter size above the lower bound, and the memory to build filters",
    .quick_help = "fewer sizes and probes: within a minute, less precise",
};

constexpr FilterKind kKinds[] = {FilterKind::kRibbon, FilterKind::kBlockedBloom};
const std::vector<uint64_t> kSizes = {100, 300, 1'000, 3'000, 10'000, 200'000, 1'000'000};
const std::vector<uint64_t> kQuickSizes = {100, 1'000, 10'000, 1'000'000};
constexpr double kPowers[] = {-4, -6, -8, -10, -12, -16};
constexpr double kRates[] = {0.3, 0.2, 0.1, 0.05, 0.03, 0.01, 0.003, 0.001, 1e-4, 1e-5};

// Builds a filter of the keys with hashes Mix(first), Mix(first + 1) and so on.
BuiltFilter Build(FilterKind kind, double target_fpr, uint64_t first, uint64_t num_keys) {
  return BuildFilter(kind, target_fpr, [&](FilterBuilder& builder) {
    for (uint64_t i = 0; i < num_keys; ++i) builder.AddHash(Mix(first + i));
  });
}

struct SpaceMeasurement {
  double bits_per_key = 0;  // all bytes of the block, footer included
  double fpr = 0;           // measured, with keys that were never added

  // Share above the lower bound of all filters, log2(1 / fpr) bits per key.
  double AboveLowerBound() const { return bits_per_key / -std::log2(fpr) - 1; }
};

// Means over as many filters of `num_keys` keys as `num_probes` are worth. Throws Failure.
SpaceMeasurement MeasureSpace(FilterKind kind, double target_fpr, uint64_t num_keys,
                              uint64_t num_probes) {
  // Small filters differ from each other, in size as in rate.
  const uint64_t num_filters = std::clamp<uint64_t>(400'000 / num_keys, 1, 400);
  const uint64_t probes_each = num_probes / num_filters;
  uint64_t next = 0;
  uint64_t num_bytes = 0;
  uint64_t matches = 0;
  for (uint64_t i = 0; i < num_filters; ++i) {
    const BuiltFilter filter = Build(kind, target_fpr, next, num_keys);
    next += num_keys;
    num_bytes += filter.block.size;
    matches += CountMatches(filter.reader, probes_each, [&](uint64_t i) { return Mix(next + i); });
    next += probes_each;
  }
  return {Ratio(8 * num_bytes, num_filters * num_keys), Ratio(matches, num_filters * probes_each)};
}

// Bytes per key that building takes at its peak beyond the finished filter: the growth of the
// resident set of a process that does nothing else, hashes included. Throws Failure.
double MeasureBuildMemory(FilterKind kind, double target_fpr, uint64_t num_keys) {
  return InOwnProcess("building a filter", [&] {
    const uint64_t before = ResidentBytes();
    const BuiltFilter filter = Build(kind, target_fpr, 0, num_keys);
    return Ratio(PeakResidentBytes() - before - filter.block.size, num_keys);
  });
}

// Ten thousand false positives are within 1 % of their mean, one standard deviation, which is 0.014
// bits; and the larger log2(1 / FPR), the less that is of it.
uint64_t ProbesFor(double fpr, bool quick) {
  const double most = quick ? 2e7 : 4e8;
  return static_cast<uint64_t>(std::clamp((quick ? 10'000 : 20'000) / fpr, 1e6, most));
}

void MeasureSpaces(bool quick, Progress& progress, Results& results) {
  std::vector<double> rates;
  for (const double power : kPowers) rates.push_back(std::exp2(power));
  rates.insert(rates.end(), std::begin(kRates), std::end(kRates));
  const auto measure = [&](FilterKind kind, double rate, uint64_t keys) {
    CheckInterrupt();
    progress.Show(fmt::format("{}, FPR {:.3g}, {} keys", FilterKindName(kind), rate, keys));
    const SpaceMeasurement measured = MeasureSpace(kind, rate, keys, ProbesFor(rate, quick));
    results.Of(std::string(FilterKindName(kind)), {{"target_fpr", rate}, {"keys", keys}})
        .Add("bits per key", "bits", measured.bits_per_key)
        .Add("FPR", "share", measured.fpr)
        .Add("above the lower bound", "share", measured.AboveLowerBound());
  };
  for (const FilterKind kind : kKinds) {
    for (const double rate : rates) {
      for (const uint64_t keys : quick ? kQuickSizes : kSizes) measure(kind, rate, keys);
    }
  }
}

void MeasureMemory(bool quick, Results& results) {
  const std::vector<uint64_t> sizes = quick ? std::vector<uint64_t>{1'000'000}
                                            : std::vector<uint64_t>{100'000, 1'000'000, 10'000'000};
  for (const FilterKind kind : kKinds) {
    for (const uint64_t keys : sizes) {
      results.Of(std::string(FilterKindName(kind)), {{"keys", keys}})
          .Add("memory to build", "bytes per key", MeasureBuildMemory(kind, 0.01, keys));
    }
  }
}

void Measure(Job& job) {
  // First, while this process is small: its children begin with its memory.
  MeasureMemory(job.options.quick, job.results);
  MeasureSpaces(job.options.quick, job.progress, job.results);
}

}  // namespace
}  // namespace blocksieve::bench::space

int main(int argc, char** argv) {
  using namespace blocksieve::bench;
  return RunJob(space::kManual, argc, argv, space::Measure);
}
