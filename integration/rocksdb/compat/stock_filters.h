#pragma once

#include <rocksdb/filter_policy.h>

#include <cstdint>

// RocksDB's own filters: how to read them, and how large they are for a given FPR.

namespace blocksieve::rocksdb_plugin {

/// A stock Bloom policy of so many bits per key, rounded to thousandths. It is made from an option
/// string, because the plug-in may have replaced NewBloomFilterPolicy (shared_plugin.cc). It lives
/// as long as the process: its builders may refer to it (under optimize_filters_for_memory), and
/// readers may be closed after static destructors began. Null if RocksDB has no such policy.
/// Thread-safe. Throws std::bad_alloc.
const rocksdb::FilterPolicy* StockBloom(double bits_per_key);

/// A policy that reads every filter that stock RocksDB writes. Otherwise as StockBloom.
const rocksdb::FilterPolicy* StockReader();

/// The number of bits that a stock Bloom filter sets per key.
uint32_t StockBloomProbes(double bits_per_key);

/// The FPR of a stock Bloom filter, by the model of 512-bit lines. 1 below half a bit per key, for
/// which RocksDB builds no filter.
double StockBloomFpr(double bits_per_key);

/// The fewest bits per key, in thousandths, for which a stock Bloom filter has at most this FPR.
double StockBloomBitsPerKey(double fpr);

}  // namespace blocksieve::rocksdb_plugin
