// space: how far above the least possible space filters are, by rate and number of keys; and the
// memory that building them takes.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bench/space/build_memory.h"
#include "bench/space/space_over_limit.h"
#include "bench/space/targets.h"
#include "bench/support/effort_options.h"
#include "bench/support/interrupt.h"
#include "bench/support/json_file.h"
#include "bench/support/progress.h"
#include "bench/support/run_main.h"
#include "bench/support/text_table.h"

namespace blocksieve::bench::space {

using Json = nlohmann::ordered_json;

// Called by nlohmann-json, which finds them in the namespace of their arguments only.

static void to_json(Json& json, const SpaceResult& result) {
  json = {
      {"kind", FilterKindName(result.kind)},
      {"target_fpr", result.target_fpr},
      {"keys", result.keys},
      {"bits_per_key", result.measured.bits_per_key},
      {"fpr", result.measured.fpr},
      {"over_limit", result.measured.OverLimit()},
  };
}

static void to_json(Json& json, const MemoryResult& result) {
  json = {
      {"kind", FilterKindName(result.kind)},
      {"keys", result.keys},
      {"bytes_per_key", result.bytes_per_key},
  };
}

namespace {

const EffortManual kManual = {
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

struct Rate {
  std::string name;
  double fpr;
};

std::vector<Rate> Rates() {
  std::vector<Rate> rates;
  for (const double power : kPowers) {
    rates.push_back({fmt::format("2^{}", power), std::exp2(power)});
  }
  for (const double rate : kRates) rates.push_back({fmt::format("{}", rate), rate});
  return rates;
}

// Ten thousand false positives are within 1 % of their mean, one standard deviation, which is 0.014
// bits; and the larger log2(1 / FPR), the less that is of it.
uint64_t ProbesFor(double fpr, bool quick) {
  const double most = quick ? 2e7 : 4e8;
  return static_cast<uint64_t>(std::clamp((quick ? 10'000 : 20'000) / fpr, 1e6, most));
}

std::vector<SpaceResult> MeasureTable(FilterKind kind, const EffortOptions& options,
                                      Progress& progress) {
  std::vector<std::string> headers{"target"};
  for (const uint64_t size : kSizes) headers.push_back(fmt::format("{} keys", size));
  TextTable table(headers);
  std::vector<SpaceResult> results;
  for (const Rate& rate : Rates()) {
    std::vector<std::string> cells{rate.name};
    for (const uint64_t size : kSizes) {
      CheckInterrupt();
      progress.Show(fmt::format("{}, {}, {} keys", FilterKindName(kind), rate.name, size));
      const SpaceMeasurement measured =
          MeasureSpace(kind, rate.fpr, size, ProbesFor(rate.fpr, options.quick));
      cells.push_back(fmt::format("{:.4f}", measured.OverLimit()));
      results.push_back({kind, rate.fpr, size, measured});
    }
    table.AddRow(std::move(cells));
  }
  progress.Show("");
  fmt::print("{}: bits per key over log2(1 / measured FPR)\n{}\n", FilterKindName(kind),
             table.ToString());
  return results;
}

std::vector<MemoryResult> MeasureMemory(const EffortOptions& options) {
  const std::vector<uint64_t> sizes = options.quick
                                          ? std::vector<uint64_t>{1'000'000}
                                          : std::vector<uint64_t>{100'000, 1'000'000, 10'000'000};
  std::vector<std::string> headers{"kind"};
  for (const uint64_t size : sizes) headers.push_back(fmt::format("{} keys", size));
  TextTable table(headers);
  std::vector<MemoryResult> results;
  for (const FilterKind kind : kKinds) {
    std::vector<std::string> cells{std::string(FilterKindName(kind))};
    for (const uint64_t size : sizes) {
      const double bytes = MeasureBuildMemory(kind, 0.01, size);
      cells.push_back(fmt::format("{:.2f}", bytes));
      results.push_back({kind, size, bytes});
    }
    table.AddRow(std::move(cells));
  }
  fmt::print("resident bytes per key while building at 1 %, beyond the finished filter\n{}\n",
             table.ToString());
  return results;
}

void Run(const EffortOptions& options) {
  // First, while this process is small: its children begin with its memory.
  const std::vector<MemoryResult> memory = MeasureMemory(options);
  Progress progress;
  std::vector<SpaceResult> space;
  for (const FilterKind kind : kKinds) {
    for (const SpaceResult& result : MeasureTable(kind, options, progress)) {
      space.push_back(result);
    }
  }
  const Targets targets = JudgeTargets(space, memory);
  fmt::print("{}\n", targets.ToText());
  const Json document = {{"targets", targets.ToJson()}, {"build_memory", memory}, {"space", space}};
  fmt::print("written: {}\n", WriteJsonFile(document, options.out, "space.json").string());
}

}  // namespace
}  // namespace blocksieve::bench::space

int main(int argc, char** argv) {
  using namespace blocksieve::bench;
  return RunMain([&] { space::Run(ParseEffortOptions(space::kManual, argc, argv)); });
}
