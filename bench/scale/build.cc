#include "bench/scale/build.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "bench/filter_bench/keys.h"
#include "bench/support/failure.h"
#include "bench/support/interrupt.h"
#include "blocksieve/filter_builder.h"
#include "blocksieve/hash.h"

namespace blocksieve::bench::scale {
namespace {

constexpr uint64_t kBatch = 1024;

}  // namespace

BuiltFilter BuildFilter(FilterKind kind, double target_fpr, KeyRange keys) {
  FilterOptions options;
  options.kind = kind;
  options.target_fpr = target_fpr;
  Result<FilterBuilder> builder = FilterBuilder::Create(options);
  if (!builder.ok()) Fail("{}", builder.status().message());
  for (uint64_t i = 0; i < keys.count; ++i) {
    if (i % (kBatch * kBatch) == 0) CheckInterrupt();
    builder->AddKey(Key16(keys.first + i).view());
  }
  Result<OwnedBytes> block = builder->Finish();
  if (!block.ok()) Fail("{}", block.status().message());
  if (!builder->fallback_reason().empty()) Fail("{}", builder->fallback_reason());
  BuiltFilter filter{*std::move(block), builder->layout(), {}};
  filter.reader = FilterReader::Open(filter.block.view());
  return filter;
}

uint64_t CountFalseNegatives(const FilterReader& reader, KeyRange keys) {
  std::array<uint64_t, kBatch> hashes;
  std::array<bool, kBatch> may_match;
  uint64_t false_negatives = 0;
  for (uint64_t done = 0; done < keys.count; done += kBatch) {
    if (done % (kBatch * kBatch) == 0) CheckInterrupt();
    const uint64_t size = std::min(kBatch, keys.count - done);
    for (uint64_t i = 0; i < size; ++i) {
      hashes[i] = HashKey(Key16(keys.first + done + i).view(), reader.hash_seed());
    }
    reader.MayMatchHashes(std::span(hashes).first(size), may_match.data());
    false_negatives +=
        static_cast<uint64_t>(std::count(may_match.begin(), may_match.begin() + size, false));
  }
  return false_negatives;
}

}  // namespace blocksieve::bench::scale
