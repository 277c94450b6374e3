#pragma once

#include <rocksdb/filter_policy.h>

#include <cstdint>

// What is known of RocksDB's own filters: how to read them, and how large they are for a given FPR.

namespace blocksieve::rocksdb_plugin {

/// A stock Bloom policy, by the option string, so that replaced NewBloomFilterPolicy functions
/// (shared_plugin.cc) are not asked. Lives as long as the process: what it builds may refer to it
/// (under optimize_filters_for_memory), and readers may be closed after static destructors began.
/// Bits count in thousandths. Null if RocksDB has no such policy. Thread-safe; throws
/// std::bad_alloc.
const rocksdb::FilterPolicy* StockBloom(double bits_per_key);

/// Reads every filter that stock RocksDB writes. The rest as above.
const rocksdb::FilterPolicy* StockReader();

/// Bits that a stock Bloom filter sets per key.
uint32_t StockBloomProbes(double bits_per_key);

/// FPR of a stock Bloom filter, by the model of 512-bit lines; 1 for "no filter" (below 0.5).
double StockBloomFpr(double bits_per_key);

/// The fewest bits per key, in steps of a thousandth as RocksDB rounds them, with which a stock
/// Bloom filter has at most this FPR.
double StockBloomBitsPerKey(double fpr);

}  // namespace blocksieve::rocksdb_plugin
