#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "blocksieve/internal/filter_view.h"
#include "lib/hash/hash_inline.h"

// The entry points of a kernel, made from its primitive:
//
//   struct K {
//     static bool Probe(const FilterView&, uint64_t hash);
//   };
//
// A macro, because the primitive has to be inlined into functions that carry the same target
// attribute, and a template cannot take an attribute as its parameter. Compiling the kernels' files
// with other flags instead would let the linker pick an AVX-512 copy of some std:: inline function
// for the whole program.

namespace blocksieve::internal {

/// Hashes that a kernel works on at a time. RocksDB's MultiGet asks for at most 32; 32 misses are
/// also about what a core keeps in flight.
inline constexpr size_t kProbeBatch = 32;

}  // namespace blocksieve::internal

/// May match a key, by `EXPRESSION` of its hash. The lengths that engines probe with most are one
/// comparison away; long keys have a function of their own, see kShortKeyBytes.
#define BLOCKSIEVE_KEY_PROBES(NAME, TARGET, EXPRESSION)                                         \
  TARGET bool NAME##Hash(const FilterView& view, uint64_t hash) noexcept { return EXPRESSION; } \
  TARGET __attribute__((noinline)) bool NAME##LongKey(const FilterView& view,                   \
                                                      std::string_view key) noexcept {          \
    return NAME##Hash(view, HashKey(key, view.hash_seed));                                      \
  }                                                                                             \
  TARGET __attribute__((flatten)) bool NAME##Key(const FilterView& view,                        \
                                                 std::string_view key) noexcept {               \
    uint64_t hash;                                                                              \
    if (IsMediumKey(key)) [[likely]] {                                                          \
      hash = HashMediumKey(key, view.first_hash_flip, view.last_hash_flip);                     \
    } else {                                                                                    \
      if (key.size() > kShortKeyBytes) return NAME##LongKey(view, key);                         \
      hash = HashShortKey(key, view.hash_seed);                                                 \
    }                                                                                           \
    return EXPRESSION;                                                                          \
  }

#define BLOCKSIEVE_PROBE_OPS(NAME, K, TARGET)                                                 \
  namespace {                                                                                 \
  BLOCKSIEVE_KEY_PROBES(NAME, TARGET, K::Probe(view, hash))                                   \
  TARGET void NAME##Hashes(const FilterView& view, const uint64_t* hashes, size_t num_hashes, \
                           bool* may_match) noexcept {                                        \
    for (size_t i = 0; i < num_hashes; ++i) {                                                 \
      may_match[i] = K::Probe(view, hashes[i]);                                               \
    }                                                                                         \
  }                                                                                           \
  }                                                                                           \
  const ProbeOps NAME = {&NAME##Key, &NAME##Hash, &NAME##Hashes};
