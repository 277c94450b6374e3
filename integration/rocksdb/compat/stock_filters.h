#pragma once

#include <rocksdb/filter_policy.h>

#include <cstdint>

// RocksDB's own filters: their policies, and their size for a given FPR.

namespace blocksieve::rocksdb_plugin {

/// A stock Bloom policy with this many bits per key, rounded to thousandths. Made from an option
/// string, because the plug-in may have replaced NewBloomFilterPolicy (shared_plugin.cc). It lives
/// as long as the process: its builders may refer to it (under optimize_filters_for_memory), and
/// readers may be closed while static destructors run. Null if RocksDB has no such policy.
/// Thread-safe. Throws std::bad_alloc.
const rocksdb::FilterPolicy* StockBloom(double bits_per_key);

/// A policy that reads every stock filter of RocksDB. Otherwise as StockBloom.
const rocksdb::FilterPolicy* StockReader();

/// The number of bits that a stock Bloom filter sets per key.
uint32_t StockBloomProbes(double bits_per_key);

/// The FPR of a stock Bloom filter, by the model of 512-bit lines. 1 below half a bit per key,
/// where RocksDB builds no filter.
double StockBloomFpr(double bits_per_key);

/// The minimum bits per key, in thousandths, of a stock Bloom filter of at most this FPR.
double StockBloomBitsPerKey(double fpr);

}  // namespace blocksieve::rocksdb_plugin
