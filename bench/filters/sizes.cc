// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <array>
#include <cmath>

#include "bench/filters/filters.h"
#include "bench/support/keys.h"
#include "bench/support/measure.h"
#include "blocksieve/filter.h"

namespace blocksieve::bench::filters {
namespace {

// The first is what targets hold for.
constexpr FilterKind kKinds[] = {FilterKind::kRibbon, FilterKind::kBlockedBloom};

// At powers of two, all keys have as many ribbon columns; at other FPRs, some have one more.
const std::vector<double> kFprs = {0x1p-4, 0x1p-6, 0x1p-8, 0x1p-10, 0x1p-12, 0x1p-16, 0.3,  0.2,
                                   0.1,    0.05,   0.03,   0.01,    0.003,   0.001,   1e-4, 1e-5};

Target LimitAboveBound(double fpr, uint64_t keys) {
  if (keys == 1'000 && fpr == 0x1p-8) return NotAbove(0.04);
  if (keys == 10'000 && fpr == 0x1p-8) return NotAbove(0.012);
  if (keys != 1'000'000) return {};
  if (fpr == 0x1p-4) return NotAbove(0.012);
  return NotAbove(std::exp2(std::round(std::log2(fpr))) == fpr ? 0.006 : 0.025);
}

// A finished filter, and the reader of its block.
struct Built {
  OwnedBytes block;
  Filter reader;
};

// Of the keys with hashes Mix(first), Mix(first + 1) and so on.
Built Build(FilterKind kind, double fpr, uint64_t first, uint64_t num_keys) {
  FilterOptions options;
  options.kind = kind;
  options.target_fpr = fpr;
  FilterBuilder builder = Must(FilterBuilder::Create(options), "filter");
  for (uint64_t i = 0; i < num_keys; ++i) builder.AddHash(Mix(first + i));
  FinishedFilter filter = Must(builder.Finish(), "filter");
  if (!filter.fallback_reason.empty()) Fail("{}", filter.fallback_reason);
  Built built{std::move(filter.block), {}};
  built.reader = Filter::Open(built.block.view());
  return built;
}

// Probes for Mix(first), Mix(first + 1) and so on. Returns how many may match.
uint64_t CountMatches(const Filter& reader, uint64_t first, uint64_t count) {
  std::array<uint64_t, 1024> hashes;
  std::array<bool, 1024> may_match;
  uint64_t matches = 0;
  for (uint64_t done = 0; done < count; done += hashes.size()) {
    if (done % (1 << 20) == 0) CheckInterrupt();
    const size_t size = std::min<uint64_t>(hashes.size(), count - done);
    for (size_t i = 0; i < size; ++i) hashes[i] = Mix(first + done + i);
    reader.points().MayContainHashes(std::span(hashes).first(size), may_match.data());
    matches += static_cast<uint64_t>(std::count(may_match.begin(), may_match.begin() + size, true));
  }
  return matches;
}

// The share above log2(1 / FPR) bits per key of as many filters as `num_probes` are worth, since
// small filters differ from each other, in size as in rate.
double AboveBound(FilterKind kind, double fpr, uint64_t num_keys, uint64_t num_probes) {
  const uint64_t num_filters = std::clamp<uint64_t>(400'000 / num_keys, 1, 400);
  uint64_t next = 0, num_bytes = 0, matches = 0;
  for (uint64_t i = 0; i < num_filters; ++i) {
    const Built filter = Build(kind, fpr, next, num_keys);
    num_bytes += filter.block.size;
    matches += CountMatches(filter.reader, next + num_keys, num_probes / num_filters);
    next += num_keys + num_probes / num_filters;
  }
  const double measured = Ratio(matches, num_probes / num_filters * num_filters);
  return Ratio(8 * num_bytes, num_filters * num_keys) / -std::log2(measured) - 1;
}

void MeasureLarge(FilterKind kind, uint64_t num_keys, Results& results) {
  constexpr double kFpr = 0.01;
  constexpr uint64_t kProbes = 42'000'000;  // know the FPR within 0.3 %, two standard deviations
  const Stopwatch building;
  const Built filter = Build(kind, kFpr, 0, num_keys);
  const double seconds = building.Seconds();
  const uint64_t found = CountMatches(filter.reader, 0, num_keys);
  if (found != num_keys) Fail("a filter denies {} of its keys", num_keys - found);
  const double fpr = Ratio(CountMatches(filter.reader, num_keys, kProbes), kProbes);
  results
      .In("Large filters at an FPR of 1 %", "Filter",
          "Each key was looked up, and found.")[fmt::format("{}, {}", FilterKindName(kind),
                                                            NumKeys(num_keys))]
      .Add("bits per key", "bits", Ratio(8 * filter.block.size, num_keys))
      .Add("FPR, relative to the target", "x", fpr / kFpr, NotAbove(1.01))
      .Add("build per key", "ns", 1e9 * seconds / static_cast<double>(num_keys));
}

}  // namespace

void MeasureSizes(Job& job) {
  const bool quick = job.options.quick;
  const std::vector<uint64_t> sizes =
      quick ? std::vector<uint64_t>{1'000, 10'000, 1'000'000}
            : std::vector<uint64_t>{100, 300, 1'000, 3'000, 10'000, 200'000, 1'000'000};
  for (const FilterKind kind : kKinds) {
    Table& table = job.results.In(
        fmt::format("{}: size above the lower bound, log2(1 / FPR)", FilterKindName(kind)), "FPR");
    for (const double fpr : kFprs) {
      // Ten thousand false positives are within 1 % of their mean, which is 0.014 bits; and the
      // larger log2(1 / FPR), the less that is of it.
      const auto probes = static_cast<uint64_t>(
          std::clamp((quick ? 10'000 : 20'000) / fpr, 1e6, quick ? 2e7 : 4e8));
      for (const uint64_t keys : sizes) {
        job.progress.Show(
            fmt::format("{}, FPR {:.3g}, {}", FilterKindName(kind), fpr, NumKeys(keys)));
        table[fmt::format("{:.3g}", fpr)].Add(
            NumKeys(keys), "share", AboveBound(kind, fpr, keys, probes),
            kind == kKinds[0] ? LimitAboveBound(fpr, keys) : Target{});
      }
    }
    job.progress.Show(fmt::format("{}: a large filter", FilterKindName(kind)));
    MeasureLarge(kind, quick ? 10'000'000 : 300'000'000, job.results);
  }
}

}  // namespace blocksieve::bench::filters
