#pragma once

#include <rocksdb/filter_policy.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "integration/rocksdb/compat/filter_bits_abi.h"

namespace blocksieve::bench {

/// A filter set-up, reached through the interface by which RocksDB builds and probes.
struct Contestant {
  std::string name;
  std::shared_ptr<const rocksdb::FilterPolicy> policy;
};

/// The stock filters of 10 (Bloom-equivalent) bits per key, and ours at the FPR that this stock
/// Bloom filter turns out to have.
const std::vector<Contestant>& Contestants();

/// A finished filter of the keys 0 ... num_keys - 1 and its reader.
struct BuiltFilter {
  std::unique_ptr<const char[]> memory;
  rocksdb::Slice contents;
  std::unique_ptr<rocksdb::FilterBitsReader> reader;
};

/// Adds the keys and finishes the filter, which is all that is timed as "build".
BuiltFilter Build(const Contestant& contestant, uint64_t num_keys);

/// The same, made once and kept.
const BuiltFilter& Cached(const Contestant& contestant, uint64_t num_keys);

/// Share of absent keys that `filter` lets through, from so many probes.
double MeasureFpr(const BuiltFilter& filter, uint64_t num_probes);

}  // namespace blocksieve::bench
