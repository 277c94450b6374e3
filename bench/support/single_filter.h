#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

#include "bench/support/terminal.h"
#include "blocksieve/bytes.h"
#include "blocksieve/filter.h"
#include "blocksieve/sizing.h"

namespace blocksieve::bench {

/// A finished filter, and the reader of its block.
struct BuiltFilter {
  OwnedBytes block;
  Layout layout;
  Filter reader;
};

/// Builds a filter of the keys that `add` gives to the builder. Throws Failure, also if it had to
/// be one of another kind.
template <class Add>
BuiltFilter BuildFilter(FilterKind kind, double target_fpr, Add add) {
  FilterOptions options;
  options.kind = kind;
  options.target_fpr = target_fpr;
  FilterBuilder builder = Must(FilterBuilder::Create(options), "filter");
  add(builder);
  BuiltFilter filter{Must(builder.Finish(), "filter"), builder.layout(), {}};
  if (!builder.fallback_reason().empty()) Fail("{}", builder.fallback_reason());
  filter.reader = Filter::Open(filter.block.view());
  return filter;
}

/// Probes for hash(0) ... hash(count - 1). Returns how many may match.
template <class Hash>
uint64_t CountMatches(const Filter& reader, uint64_t count, Hash hash) {
  constexpr uint64_t kBatch = 1024;
  std::array<uint64_t, kBatch> hashes;
  std::array<bool, kBatch> may_match;
  uint64_t matches = 0;
  for (uint64_t done = 0; done < count; done += kBatch) {
    if (done % (kBatch * kBatch) == 0) CheckInterrupt();
    const uint64_t size = std::min(kBatch, count - done);
    for (uint64_t i = 0; i < size; ++i) hashes[i] = hash(done + i);
    reader.MayContainHashes(std::span(hashes).first(size), may_match.data());
    matches += static_cast<uint64_t>(std::count(may_match.begin(), may_match.begin() + size, true));
  }
  return matches;
}

}  // namespace blocksieve::bench
