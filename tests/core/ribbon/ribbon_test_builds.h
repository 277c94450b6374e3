#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "lib/base/kernels.h"
#include "lib/hash/hash_list.h"
#include "lib/ribbon/builder.h"
#include "lib/ribbon/probe.h"

namespace blocksieve::testing {

/// A layout of `columns` columns, and one more for a share of the keys.
struct Columns : Layout {
  Columns(uint32_t columns, double wide_share)
      : Layout{FilterKind::kRibbon, columns + wide_share, columns} {}
};

struct BuiltRibbon {
  internal::RibbonBuild build;
  std::vector<uint8_t> bytes;  // the payload, and the bytes after it that a probe may read

  PointFilter Open(const internal::ProbeOps& ops) const {
    return PointFilter(ops, internal::MakeRibbonState(build.shape, bytes.data()));
  }
};

inline BuiltRibbon BuildTestRibbon(const std::vector<uint64_t>& hashes, const Columns& columns,
                                   Kernel kernel = ActiveKernel()) {
  internal::HashList list;
  for (const uint64_t hash : hashes) list.Append(hash);
  BuiltRibbon built;
  built.bytes.resize(internal::RibbonCapacity(columns, hashes.size()));
  built.build = internal::BuildRibbon(&list, false, columns, kernel, built.bytes.data());
  built.bytes.resize(built.build.shape.PayloadBytes());
  built.bytes.resize(built.bytes.size() + internal::kRibbonReadableTail, 0xee);
  return built;
}

inline std::vector<uint64_t> RandomHashes(size_t count, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<uint64_t> hashes(count);
  for (uint64_t& hash : hashes) hash = random();
  return hashes;
}

/// Number of hashes that do not match.
inline size_t CountMisses(const BuiltRibbon& built, const std::vector<uint64_t>& hashes,
                          Kernel kernel = ActiveKernel()) {
  const PointFilter filter = built.Open(internal::RibbonOpsFor(kernel, built.build.shape));
  size_t misses = 0;
  for (const uint64_t hash : hashes) misses += !filter.MayContainHash(hash);
  return misses;
}

}  // namespace blocksieve::testing
