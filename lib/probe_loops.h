#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "blocksieve/filter_view.h"
#include "lib/hash_inline.h"

// The four entry points of a kernel, made from its two primitives:
//
//   struct K {
//     static void Prefetch(const FilterView&, uint64_t hash);  // starts fetching what Probe reads
//     static bool Probe(const FilterView&, uint64_t hash);
//   };
//
// A macro, because both primitives have to be inlined into functions that carry the same target
// attribute, and a template cannot take an attribute as its parameter. Compiling the kernels' files
// with other flags instead would let the linker pick an AVX-512 copy of some std:: inline function
// for the whole program.

namespace blocksieve::internal {

/// Keys hashed and prefetched before the first of them is probed. RocksDB's MultiGet asks for at
/// most 32 at a time; 32 misses are also about what a core keeps in flight.
inline constexpr size_t kProbeBatch = 32;

}  // namespace blocksieve::internal

#define BLOCKSIEVE_PROBE_OPS(NAME, K, TARGET)                                                   \
  namespace {                                                                                   \
  TARGET __attribute__((noinline)) bool NAME##LongKey(const FilterView& view,                   \
                                                      std::string_view key) noexcept {          \
    return K::Probe(view, HashKey(key, view.hash_seed));                                        \
  }                                                                                             \
  TARGET bool NAME##Key(const FilterView& view, std::string_view key) noexcept {                \
    if (key.size() > kShortKeyBytes) return NAME##LongKey(view, key);                           \
    return K::Probe(view, HashShortKey(key, view.hash_seed));                                   \
  }                                                                                             \
  TARGET bool NAME##Hash(const FilterView& view, uint64_t hash) noexcept {                      \
    return K::Probe(view, hash);                                                                \
  }                                                                                             \
  TARGET void NAME##Keys(const FilterView& view, const std::string_view* keys, size_t num_keys, \
                         bool* may_match) noexcept {                                            \
    uint64_t hashes[kProbeBatch];                                                               \
    while (num_keys > 0) {                                                                      \
      const size_t batch = num_keys < kProbeBatch ? num_keys : kProbeBatch;                     \
      for (size_t i = 0; i < batch; ++i) {                                                      \
        hashes[i] = keys[i].size() > kShortKeyBytes ? HashKey(keys[i], view.hash_seed)          \
                                                    : HashShortKey(keys[i], view.hash_seed);    \
        K::Prefetch(view, hashes[i]);                                                           \
      }                                                                                         \
      for (size_t i = 0; i < batch; ++i) may_match[i] = K::Probe(view, hashes[i]);              \
      keys += batch;                                                                            \
      may_match += batch;                                                                       \
      num_keys -= batch;                                                                        \
    }                                                                                           \
  }                                                                                             \
  TARGET void NAME##Hashes(const FilterView& view, const uint64_t* hashes, size_t num_hashes,   \
                           bool* may_match) noexcept {                                          \
    for (size_t i = 0; i < num_hashes; ++i) {                                                   \
      may_match[i] = K::Probe(view, hashes[i]);                                                 \
    }                                                                                           \
  }                                                                                             \
  }                                                                                             \
  const ProbeOps NAME = {&NAME##Key, &NAME##Hash, &NAME##Keys, &NAME##Hashes};
