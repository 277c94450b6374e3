#pragma once  // SPDX-License-Identifier: Apache-2.0

#include "lib/block/probe_loops.h"
#include "lib/ribbon/probe.h"

// Generates the entry points of a ribbon kernel for each directory, mixed or not; see
// probe_loops.h.
//
//   struct K {
//     static bool Probe(const RibbonState&, const RibbonWindow&);
//     // Up to kProbeBatch hashes or keys.
//     template <RibbonDirectory>
//     static void Batch(const RibbonState&, const uint64_t* hashes, size_t num_hashes,
//                       bool* may_match);
//     template <RibbonDirectory>
//     static bool KeyBatch(const RibbonState&, KeyList keys, size_t num_keys, bool* may_match);
//   };

#define BLOCKSIEVE_RIBBON_PROBES(NAME, K, TARGET, DIRECTORY)                                  \
  BLOCKSIEVE_KEY_PROBES(NAME##Uniform, RibbonState, TARGET,                                   \
                        K::Probe(view, LocateRibbon<DIRECTORY, false>(view, hash)))           \
  BLOCKSIEVE_KEY_PROBES(NAME##Mixed, RibbonState, TARGET,                                     \
                        K::Probe(view, LocateRibbon<DIRECTORY, true>(view, hash)))            \
  TARGET void NAME##Hashes(const void* state, const uint64_t* hashes, size_t num_hashes,      \
                           bool* may_match) noexcept {                                        \
    const auto& view = *static_cast<const RibbonState*>(state);                               \
    while (num_hashes > 0) {                                                                  \
      const size_t batch = num_hashes < kProbeBatch ? num_hashes : kProbeBatch;               \
      K::template Batch<DIRECTORY>(view, hashes, batch, may_match);                           \
      hashes += batch;                                                                        \
      may_match += batch;                                                                     \
      num_hashes -= batch;                                                                    \
    }                                                                                         \
  }                                                                                           \
  TARGET bool NAME##Keys(const void* state, KeyList keys, size_t num_keys,                    \
                         bool* may_match) noexcept {                                          \
    const auto& view = *static_cast<const RibbonState*>(state);                               \
    bool has_empty = false;                                                                   \
    for (size_t i = 0; i < num_keys; i += kProbeBatch) {                                      \
      const size_t batch = std::min(num_keys - i, kProbeBatch);                               \
      has_empty |= K::template KeyBatch<DIRECTORY>(view, keys.From(i), batch, may_match + i); \
    }                                                                                         \
    return has_empty;                                                                         \
  }

#define BLOCKSIEVE_RIBBON_OPS_FOR(NAME)                                                         \
  {                                                                                             \
    {&NAME##UniformKey, &NAME##UniformHash, &NAME##Hashes, &NAME##Keys, sizeof(RibbonState)}, { \
      &NAME##MixedKey, &NAME##MixedHash, &NAME##Hashes, &NAME##Keys, sizeof(RibbonState)        \
    }                                                                                           \
  }

#define BLOCKSIEVE_RIBBON_OPS(NAME, K, TARGET)                                         \
  namespace {                                                                          \
  using NAME##Kernel = K;                                                              \
  BLOCKSIEVE_RIBBON_PROBES(NAME##None, NAME##Kernel, TARGET, RibbonDirectory::kNone)   \
  BLOCKSIEVE_RIBBON_PROBES(NAME##Plain, NAME##Kernel, TARGET, RibbonDirectory::kPlain) \
  BLOCKSIEVE_RIBBON_PROBES(NAME##Based, NAME##Kernel, TARGET, RibbonDirectory::kBased) \
  }                                                                                    \
  const RibbonOps NAME = {BLOCKSIEVE_RIBBON_OPS_FOR(NAME##None),                       \
                          BLOCKSIEVE_RIBBON_OPS_FOR(NAME##Plain),                      \
                          BLOCKSIEVE_RIBBON_OPS_FOR(NAME##Based)};

/// The Batch of kernels that probe one hash at a time, in two stages: the first prefetches for the
/// second.
#define BLOCKSIEVE_RIBBON_BATCH(TARGET)                                                       \
  template <RibbonDirectory kDirectory>                                                       \
  TARGET static BLOCKSIEVE_INLINE void Batch(const RibbonState& view, const uint64_t* hashes, \
                                             size_t num_hashes, bool* may_match) noexcept {   \
    RibbonWindow windows[kProbeBatch];                                                        \
    for (size_t i = 0; i < num_hashes; ++i) {                                                 \
      windows[i] = LocateRibbon<kDirectory, true>(view, hashes[i]);                           \
      PrefetchRibbonWindow(windows[i]);                                                       \
    }                                                                                         \
    for (size_t i = 0; i < num_hashes; ++i) may_match[i] = Probe(view, windows[i]);           \
  }

/// The KeyBatch of kernels that hash one key at a time.
#define BLOCKSIEVE_RIBBON_KEY_BATCH(TARGET)                                                  \
  template <RibbonDirectory kDirectory>                                                      \
  TARGET static BLOCKSIEVE_INLINE bool KeyBatch(const RibbonState& view, KeyList keys,       \
                                                size_t num_keys, bool* may_match) noexcept { \
    uint64_t hashes[kProbeBatch];                                                            \
    const bool has_empty = HashKeys(keys, num_keys, hashes, [](size_t) {});                  \
    Batch<kDirectory>(view, hashes, num_keys, may_match);                                    \
    return has_empty;                                                                        \
  }
