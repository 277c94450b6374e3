#pragma once

#include <rocksdb/filter_policy.h>

#include <cstdint>

// What is known of RocksDB's own filters: how to read them, and how large they are for a given FPR.

namespace blocksieve::rocksdb_plugin {

/// Reads every filter that stock RocksDB writes. Lives as long as the process.
const rocksdb::FilterPolicy& StockReader();

/// A stock Bloom policy, by the option string, so that replaced NewBloomFilterPolicy functions
/// (replace_builtin.cc) are not asked.
std::shared_ptr<const rocksdb::FilterPolicy> NewStockBloom(double bits_per_key);

/// Bits that a stock Bloom filter sets per key.
uint32_t StockBloomProbes(double bits_per_key);

/// FPR of a stock Bloom filter, by the model of 512-bit lines; 1 for "no filter" (below 0.5).
double StockBloomFpr(double bits_per_key);

/// The fewest bits per key, in steps of a thousandth as RocksDB rounds them, with which a stock
/// Bloom filter has at most this FPR.
double StockBloomBitsPerKey(double fpr);

}  // namespace blocksieve::rocksdb_plugin
