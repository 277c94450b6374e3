#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "blocksieve/filter.h"
#include "lib/hash/hash_inline.h"

// Generates the entry points of a kernel from its primitives:
//
//   bool PROBE(const State&, uint64_t hash);  // of the kernel
//   void Fetch(const State&, uint64_t hash);  // of all kernels: prefetches the memory of a probe
//   bool IsNear(const State&);                // whether prefetching is a loss
//
// State is what PointFilter holds for a kind.
//
// By macro, because the primitives must be inlined into functions with the same target attribute,
// and an attribute cannot be a template parameter. With special compiler flags for the kernels'
// files instead, the linker could pick an AVX-512 copy of a std:: inline function for the whole
// program.

namespace blocksieve::internal {

/// Number of hashes in a batch. RocksDB's MultiGet looks up at most 32 keys at a time, and a core
/// keeps about 32 misses in flight.
inline constexpr size_t kProbeBatch = 32;

/// Hashes keys, and calls `fetch(i)` as soon as hashes[i] is known, so that memory arrives while
/// the next keys are hashed. Returns whether a key is empty.
template <class Fetch>
BLOCKSIEVE_INLINE bool HashKeys(KeyList keys, size_t num_keys, uint64_t* hashes,
                                Fetch fetch) noexcept {
  bool has_empty = false;
  for (size_t i = 0; i < num_keys; ++i) {
    const std::string_view key = keys[i];
    if (IsMediumKey(key)) [[likely]] {
      hashes[i] = HashMediumKey(key);
    } else {
      has_empty |= key.empty();
      hashes[i] = HashKey(key);
    }
    fetch(i);
  }
  return has_empty;
}

}  // namespace blocksieve::internal

/// Defines the probes of one key or hash, by `EXPRESSION` of `hash`. The most frequent key lengths
/// take one comparison; long keys have a separate function, see kShortKeyBytes.
#define BLOCKSIEVE_KEY_PROBES(NAME, STATE, TARGET, EXPRESSION)                                \
  TARGET bool NAME##Hash(const void* state, uint64_t hash) noexcept {                         \
    const auto& view = *static_cast<const STATE*>(state);                                     \
    return EXPRESSION;                                                                        \
  }                                                                                           \
  TARGET __attribute__((noinline)) bool NAME##LongKey(const void* state,                      \
                                                      std::string_view key) noexcept {        \
    return NAME##Hash(state, HashKey(key));                                                   \
  }                                                                                           \
  TARGET                                                                                      \
  __attribute__((flatten)) bool NAME##Key(const void* state, std::string_view key) noexcept { \
    const auto& view = *static_cast<const STATE*>(state);                                     \
    uint64_t hash;                                                                            \
    if (IsMediumKey(key)) [[likely]] {                                                        \
      hash = HashMediumKey(key);                                                              \
    } else {                                                                                  \
      if (key.size() > kShortKeyBytes) return NAME##LongKey(state, key);                      \
      hash = HashShortKey(key);                                                               \
    }                                                                                         \
    return EXPRESSION;                                                                        \
  }

#define BLOCKSIEVE_PROBE_OPS(NAME, STATE, PROBE, TARGET)                                        \
  namespace {                                                                                   \
  BLOCKSIEVE_KEY_PROBES(NAME, STATE, TARGET, PROBE(view, hash))                                 \
  TARGET void NAME##Hashes(const void* state, const uint64_t* hashes, size_t num_hashes,        \
                           bool* may_match) noexcept {                                          \
    const auto& view = *static_cast<const STATE*>(state);                                       \
    if (IsNear(view)) {                                                                         \
      for (size_t i = 0; i < num_hashes; ++i) may_match[i] = PROBE(view, hashes[i]);            \
      return;                                                                                   \
    }                                                                                           \
    for (size_t first = 0; first < num_hashes; first += kProbeBatch) {                          \
      const size_t end = std::min(first + kProbeBatch, num_hashes);                             \
      for (size_t i = first; i < end; ++i) Fetch(view, hashes[i]);                              \
      for (size_t i = first; i < end; ++i) may_match[i] = PROBE(view, hashes[i]);               \
    }                                                                                           \
  }                                                                                             \
  TARGET bool NAME##Keys(const void* state, KeyList keys, size_t num_keys,                      \
                         bool* may_match) noexcept {                                            \
    const auto& view = *static_cast<const STATE*>(state);                                       \
    uint64_t hashes[kProbeBatch];                                                               \
    bool has_empty = false;                                                                     \
    for (size_t first = 0; first < num_keys; first += kProbeBatch) {                            \
      const size_t batch = std::min(num_keys - first, kProbeBatch);                             \
      has_empty |=                                                                              \
          HashKeys(keys.From(first), batch, hashes, [&](size_t i) { Fetch(view, hashes[i]); }); \
      for (size_t i = 0; i < batch; ++i) may_match[first + i] = PROBE(view, hashes[i]);         \
    }                                                                                           \
    return has_empty;                                                                           \
  }                                                                                             \
  }                                                                                             \
  const ProbeOps NAME = {&NAME##Key, &NAME##Hash, &NAME##Hashes, &NAME##Keys, sizeof(STATE)};
