#pragma once

#include <rocksdb/filter_policy.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "integration/rocksdb/compat/filter_bits_abi.h"

namespace blocksieve::bench {

/// A filter policy, measured through the interface by which RocksDB builds and probes filters.
struct PolicyContestant {
  std::string name;
  std::shared_ptr<const rocksdb::FilterPolicy> policy;
};

/// RocksDB's filters of 10 (Bloom-equivalent) bits per key, and blocksieve's at that Bloom's FPR.
const std::vector<PolicyContestant>& Contestants();

/// A finished filter over the keys 0 ... num_keys - 1, and its reader.
struct BuiltFilter {
  std::unique_ptr<const char[]> memory;
  rocksdb::Slice contents;
  std::unique_ptr<rocksdb::FilterBitsReader> reader;
};

/// Adds the keys and finishes the filter: exactly what is timed as "build".
BuiltFilter Build(const PolicyContestant& contestant, uint64_t num_keys);

/// The same, built once and cached.
const BuiltFilter& Cached(const PolicyContestant& contestant, uint64_t num_keys);

/// The false-positive rate of `filter`, from `num_probes` probes.
double MeasureFpr(const BuiltFilter& filter, uint64_t num_probes);

}  // namespace blocksieve::bench
