#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "lib/block/filter_view.h"
#include "lib/hash/hash_inline.h"

// The entry points of a kernel, made from its primitives:
//
//   struct K {
//     static bool Probe(const FilterView&, uint64_t hash);
//     static void Fetch(const FilterView&, uint64_t hash);  // asks for the memory that Probe reads
//     static bool IsNear(const FilterView&);                // whether it is near by without asking
//   };
//
// A macro, because the primitives have to be inlined into functions that carry the same target
// attribute, and a template cannot take an attribute as its parameter. Compiling the kernels' files
// with other flags instead would let the linker pick an AVX-512 copy of some std:: inline function
// for the whole program.

namespace blocksieve::internal {

/// Hashes that a kernel works on at a time. RocksDB's MultiGet asks for at most 32; 32 misses are
/// also about what a core keeps in flight.
inline constexpr size_t kProbeBatch = 32;

/// Hashes of keys, and `fetch(i)` as soon as hashes[i] is known: what it asks for comes while the
/// next are hashed. Returns whether a key is empty.
template <class Fetch>
inline __attribute__((always_inline)) bool HashKeys(const FilterView& view, KeyList keys,
                                                    size_t num_keys, uint64_t* hashes,
                                                    Fetch fetch) noexcept {
  bool has_empty = false;
  for (size_t i = 0; i < num_keys; ++i) {
    const std::string_view key = keys[i];
    if (IsMediumKey(key)) [[likely]] {
      hashes[i] = HashMediumKey(key, view.first_hash_flip, view.last_hash_flip);
    } else {
      has_empty |= key.empty();
      hashes[i] = HashKey(key, view.hash_seed);
    }
    fetch(i);
  }
  return has_empty;
}

/// The may_match_keys that is made of a kernel's may_match_hashes.
template <auto kMayMatchHashes>
bool HashAndMatch(const FilterView& view, KeyList keys, size_t num_keys, bool* may_match) noexcept {
  uint64_t hashes[kProbeBatch];
  bool has_empty = false;
  for (size_t i = 0; i < num_keys; i += kProbeBatch) {
    const size_t batch = std::min(num_keys - i, kProbeBatch);
    has_empty |= HashKeys(view, keys.From(i), batch, hashes, [](size_t) {});
    kMayMatchHashes(view, hashes, batch, may_match + i);
  }
  return has_empty;
}

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
    if (K::IsNear(view)) {                                                                    \
      for (size_t i = 0; i < num_hashes; ++i) may_match[i] = K::Probe(view, hashes[i]);       \
      return;                                                                                 \
    }                                                                                         \
    for (size_t first = 0; first < num_hashes; first += kProbeBatch) {                        \
      const size_t end = std::min(first + kProbeBatch, num_hashes);                           \
      for (size_t i = first; i < end; ++i) K::Fetch(view, hashes[i]);                         \
      for (size_t i = first; i < end; ++i) may_match[i] = K::Probe(view, hashes[i]);          \
    }                                                                                         \
  }                                                                                           \
  TARGET bool NAME##Keys(const FilterView& view, KeyList keys, size_t num_keys,               \
                         bool* may_match) noexcept {                                          \
    uint64_t hashes[kProbeBatch];                                                             \
    bool has_empty = false;                                                                   \
    for (size_t first = 0; first < num_keys; first += kProbeBatch) {                          \
      const size_t batch = std::min(num_keys - first, kProbeBatch);                           \
      has_empty |= HashKeys(view, keys.From(first), batch, hashes,                            \
                            [&](size_t i) { K::Fetch(view, hashes[i]); });                    \
      for (size_t i = 0; i < batch; ++i) may_match[first + i] = K::Probe(view, hashes[i]);    \
    }                                                                                         \
    return has_empty;                                                                         \
  }                                                                                           \
  }                                                                                           \
  const ProbeOps NAME = {&NAME##Key, &NAME##Hash, &NAME##Hashes, &NAME##Keys};
