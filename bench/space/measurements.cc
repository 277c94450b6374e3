#include "bench/space/measurements.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "bench/filter_bench/keys.h"
#include "bench/support/measure.h"
#include "bench/support/terminal.h"
#include "blocksieve/filter_builder.h"
#include "blocksieve/filter_reader.h"

namespace blocksieve::bench::space {
namespace {

constexpr size_t kBatch = 1024;

uint64_t CountMatches(const FilterReader& reader, uint64_t first, uint64_t count) {
  std::vector<uint64_t> hashes(kBatch);
  bool may_match[kBatch];
  uint64_t matches = 0;
  for (uint64_t done = 0; done < count; done += kBatch) {
    for (size_t i = 0; i < kBatch; ++i) hashes[i] = Mix(first + done + i);
    reader.MayMatchHashes(hashes, may_match);
    matches += static_cast<uint64_t>(std::count(may_match, may_match + kBatch, true));
  }
  return matches;
}

// Of the keys whose hashes are Mix(first), Mix(first + 1) and so on.
OwnedBytes Build(FilterKind kind, double target_fpr, uint64_t first, uint64_t num_keys) {
  FilterOptions options;
  options.kind = kind;
  options.target_fpr = target_fpr;
  Result<FilterBuilder> builder = FilterBuilder::Create(options);
  if (!builder.ok()) Fail("{}", builder.status().message());
  for (uint64_t i = 0; i < num_keys; ++i) builder->AddHash(Mix(first + i));
  Result<OwnedBytes> block = builder->Finish();
  if (!block.ok()) Fail("{}", block.status().message());
  return *std::move(block);
}

}  // namespace

double SpaceMeasurement::OverLimit() const { return bits_per_key / -std::log2(fpr); }

SpaceMeasurement MeasureSpace(FilterKind kind, double target_fpr, uint64_t num_keys,
                              uint64_t num_probes) {
  // Small filters differ from each other, in size as in rate.
  const uint64_t num_filters = std::clamp<uint64_t>(400'000 / num_keys, 1, 400);
  const uint64_t probes_each = (num_probes / num_filters / kBatch + 1) * kBatch;
  uint64_t next = 0;
  uint64_t num_bytes = 0;
  uint64_t matches = 0;
  for (uint64_t i = 0; i < num_filters; ++i) {
    const OwnedBytes block = Build(kind, target_fpr, next, num_keys);
    next += num_keys;
    num_bytes += block.size;
    matches += CountMatches(FilterReader::Open(block.view()), next, probes_each);
    next += probes_each;
  }
  const auto filters = static_cast<double>(num_filters);
  return {8.0 * static_cast<double>(num_bytes) / filters / static_cast<double>(num_keys),
          static_cast<double>(matches) / filters / static_cast<double>(probes_each)};
}

double MeasureBuildMemory(FilterKind kind, double target_fpr, uint64_t num_keys) {
  return InOwnProcess("building a filter", [&] {
    const uint64_t before = ResidentBytes();
    const OwnedBytes block = Build(kind, target_fpr, 0, num_keys);
    return static_cast<double>(PeakResidentBytes() - before - block.size) /
           static_cast<double>(num_keys);
  });
}

}  // namespace blocksieve::bench::space
