#pragma once

#include "lib/probe_loops.h"

// The four entry points of a kernel that has to read a directory to know where its data are; see
// probe_loops.h. Flattened, because compilers stop to inline the hash after a few copies. A batch
// goes through three stages, each fetching what the next one reads.
//
//   struct K {
//     struct Window;                                                // where they are
//     static void PrefetchDirectory(const FilterView&, uint64_t hash);  // what Locate reads
//     static Window Locate(const FilterView&, uint64_t hash);
//     static void Prefetch(const Window&);                              // what Probe reads
//     static bool Probe(const FilterView&, const Window&);
//   };

#define BLOCKSIEVE_STAGED_PROBE_OPS(NAME, K, TARGET)                                             \
  namespace {                                                                                    \
  TARGET __attribute__((noinline)) bool NAME##LongKey(const FilterView& view,                    \
                                                      std::string_view key) noexcept {           \
    return K::Probe(view, K::Locate(view, HashKey(key, view.hash_seed)));                        \
  }                                                                                              \
  TARGET __attribute__((flatten)) bool NAME##Key(const FilterView& view,                         \
                                                 std::string_view key) noexcept {                \
    if (key.size() > kShortKeyBytes) return NAME##LongKey(view, key);                            \
    return K::Probe(view, K::Locate(view, HashShortKey(key, view.hash_seed)));                   \
  }                                                                                              \
  TARGET bool NAME##Hash(const FilterView& view, uint64_t hash) noexcept {                       \
    return K::Probe(view, K::Locate(view, hash));                                                \
  }                                                                                              \
  TARGET void NAME##Batch(const FilterView& view, const uint64_t* hashes, size_t batch,          \
                          bool* may_match) noexcept {                                            \
    K::Window windows[kProbeBatch];                                                              \
    for (size_t i = 0; i < batch; ++i) {                                                         \
      windows[i] = K::Locate(view, hashes[i]);                                                   \
      K::Prefetch(windows[i]);                                                                   \
    }                                                                                            \
    for (size_t i = 0; i < batch; ++i) may_match[i] = K::Probe(view, windows[i]);                \
  }                                                                                              \
  TARGET __attribute__((flatten)) void NAME##Keys(const FilterView& view,                        \
                                                  const std::string_view* keys, size_t num_keys, \
                                                  bool* may_match) noexcept {                    \
    uint64_t hashes[kProbeBatch];                                                                \
    while (num_keys > 0) {                                                                       \
      const size_t batch = num_keys < kProbeBatch ? num_keys : kProbeBatch;                      \
      for (size_t i = 0; i < batch; ++i) {                                                       \
        hashes[i] = keys[i].size() > kShortKeyBytes ? HashKey(keys[i], view.hash_seed)           \
                                                    : HashShortKey(keys[i], view.hash_seed);     \
        K::PrefetchDirectory(view, hashes[i]);                                                   \
      }                                                                                          \
      NAME##Batch(view, hashes, batch, may_match);                                               \
      keys += batch;                                                                             \
      may_match += batch;                                                                        \
      num_keys -= batch;                                                                         \
    }                                                                                            \
  }                                                                                              \
  TARGET void NAME##Hashes(const FilterView& view, const uint64_t* hashes, size_t num_hashes,    \
                           bool* may_match) noexcept {                                           \
    while (num_hashes > 0) {                                                                     \
      const size_t batch = num_hashes < kProbeBatch ? num_hashes : kProbeBatch;                  \
      for (size_t i = 0; i < batch; ++i) K::PrefetchDirectory(view, hashes[i]);                  \
      NAME##Batch(view, hashes, batch, may_match);                                               \
      hashes += batch;                                                                           \
      may_match += batch;                                                                        \
      num_hashes -= batch;                                                                       \
    }                                                                                            \
  }                                                                                              \
  }                                                                                              \
  const ProbeOps NAME = {&NAME##Key, &NAME##Hash, &NAME##Keys, &NAME##Hashes};
