#include "bench/space/space_over_limit.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "bench/space/hashes.h"
#include "bench/support/failure.h"
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
    for (size_t i = 0; i < kBatch; ++i) hashes[i] = HashOf(first + done + i);
    reader.MayMatchHashes(hashes, may_match);
    matches += static_cast<uint64_t>(std::count(may_match, may_match + kBatch, true));
  }
  return matches;
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
    FilterOptions options;
    options.kind = kind;
    options.target_fpr = target_fpr;
    Result<FilterBuilder> builder = FilterBuilder::Create(options);
    if (!builder.ok()) Fail("{}", builder.status().message());
    for (uint64_t k = 0; k < num_keys; ++k) builder->AddHash(HashOf(next++));
    const Result<OwnedBytes> block = builder->Finish();
    if (!block.ok()) Fail("{}", block.status().message());
    num_bytes += block->size;
    matches += CountMatches(FilterReader::Open(block->view()), next, probes_each);
    next += probes_each;
  }
  const auto filters = static_cast<double>(num_filters);
  return {8.0 * static_cast<double>(num_bytes) / filters / static_cast<double>(num_keys),
          static_cast<double>(matches) / filters / static_cast<double>(probes_each)};
}

}  // namespace blocksieve::bench::space
