#pragma once

#include "lib/block/probe_loops.h"
#include "lib/ribbon/probe.h"

// The entry points of a ribbon kernel for each RibbonForm; see probe_loops.h.
//
//   struct K {
//     static bool Probe(const FilterView&, const RibbonWindow&);
//     template <RibbonDirectory>
//     static void Batch(const FilterView&, const uint64_t* hashes, size_t num_hashes,
//                       bool* may_match);                       // of up to kProbeBatch
//   };

#define BLOCKSIEVE_RIBBON_PROBES(NAME, K, TARGET, DIRECTORY)                                    \
  BLOCKSIEVE_KEY_PROBES(NAME##Alike, TARGET,                                                    \
                        K::Probe(view, LocateRibbon<RibbonForm{DIRECTORY, false}>(view, hash))) \
  BLOCKSIEVE_KEY_PROBES(NAME##Mixed, TARGET,                                                    \
                        K::Probe(view, LocateRibbon<RibbonForm{DIRECTORY, true}>(view, hash)))  \
  TARGET void NAME##Hashes(const FilterView& view, const uint64_t* hashes, size_t num_hashes,   \
                           bool* may_match) noexcept {                                          \
    while (num_hashes > 0) {                                                                    \
      const size_t batch = num_hashes < kProbeBatch ? num_hashes : kProbeBatch;                 \
      K::template Batch<DIRECTORY>(view, hashes, batch, may_match);                             \
      hashes += batch;                                                                          \
      may_match += batch;                                                                       \
      num_hashes -= batch;                                                                      \
    }                                                                                           \
  }

#define BLOCKSIEVE_RIBBON_OPS_OF(NAME)                    \
  {                                                       \
    {&NAME##AlikeKey, &NAME##AlikeHash, &NAME##Hashes}, { \
      &NAME##MixedKey, &NAME##MixedHash, &NAME##Hashes    \
    }                                                     \
  }

#define BLOCKSIEVE_RIBBON_OPS(NAME, K, TARGET)                                         \
  namespace {                                                                          \
  using NAME##Kernel = K;                                                              \
  BLOCKSIEVE_RIBBON_PROBES(NAME##None, NAME##Kernel, TARGET, RibbonDirectory::kNone)   \
  BLOCKSIEVE_RIBBON_PROBES(NAME##Plain, NAME##Kernel, TARGET, RibbonDirectory::kPlain) \
  BLOCKSIEVE_RIBBON_PROBES(NAME##Based, NAME##Kernel, TARGET, RibbonDirectory::kBased) \
  }                                                                                    \
  const RibbonOps NAME = {BLOCKSIEVE_RIBBON_OPS_OF(NAME##None),                        \
                          BLOCKSIEVE_RIBBON_OPS_OF(NAME##Plain),                       \
                          BLOCKSIEVE_RIBBON_OPS_OF(NAME##Based)};

/// The Batch of kernels that probe one hash at a time: two stages, the first of which fetches what
/// the second reads.
#define BLOCKSIEVE_RIBBON_BATCH(TARGET)                                                      \
  template <RibbonDirectory kDirectory>                                                      \
  TARGET static BLOCKSIEVE_INLINE void Batch(const FilterView& view, const uint64_t* hashes, \
                                             size_t num_hashes, bool* may_match) noexcept {  \
    constexpr RibbonForm kForm{kDirectory, true};                                            \
    RibbonWindow windows[kProbeBatch];                                                       \
    for (size_t i = 0; i < num_hashes; ++i) {                                                \
      windows[i] = LocateRibbon<kForm>(view, hashes[i]);                                     \
      PrefetchRibbonWindow(windows[i]);                                                      \
    }                                                                                        \
    for (size_t i = 0; i < num_hashes; ++i) may_match[i] = Probe(view, windows[i]);          \
  }
