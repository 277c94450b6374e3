#pragma once

#include <rocksdb/filter_policy.h>

#include <memory>
#include <string>
#include <vector>

namespace blocksieve::bench::read_amp {

/// What a contestant stands for in the comparison.
enum class Role {
  kNoFilter,
  kStockDefault,
  kStockBloomSameFpr,
  kStockRibbonSameFpr,
  kBlocksieve,            ///< at the same FPR as the stock filters before
  kBlocksieveSameMemory,  ///< with the memory of the stock default
};

/// One way to set up RocksDB's filters.
struct Contestant {
  Role role = Role::kNoFilter;
  std::string name;    ///< For the tables, at most 28 characters.
  std::string policy;  ///< RocksDB option string; empty: no filter.
};

/// All contestants of a run, first the one without filters. The stock filters "at the same FPR"
/// have the bits per key at which their own FPR is `target_fpr`: for Bloom by the exact model of
/// 512-bit lines, for Ribbon by RocksDB's estimate, which is what its size is computed from.
std::vector<Contestant> MakeContestants(double target_fpr);

/// The policy of an option string. Throws Failure if RocksDB does not know it, or makes another
/// policy of it: a run that silently had no filter would be worthless.
std::shared_ptr<const rocksdb::FilterPolicy> PolicyFromString(const std::string& text);

/// The same, or null for the contestant without filters.
std::shared_ptr<const rocksdb::FilterPolicy> MakePolicy(const Contestant& contestant);

/// The fewest "Bloom-equivalent" bits per key, in steps of a thousandth, for which RocksDB sizes a
/// Ribbon filter for at most this FPR. REQUIRES: 0 < fpr < 1.
double StockRibbonBitsPerKey(double fpr);

}  // namespace blocksieve::bench::read_amp
