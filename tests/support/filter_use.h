#pragma once

#include <rocksdb/statistics.h>

#include <cstdint>

namespace blocksieve::testing {

/// What filters did, by RocksDB's own counters.
struct FilterUse {
  uint64_t rejected = 0;         ///< Probes by Gets that a filter answered "no".
  uint64_t passed = 0;           ///< Those that it answered "may match".
  uint64_t passed_present = 0;   ///< Of these, those whose key was there.
  uint64_t prefix_checked = 0;   ///< Probes of prefixes by iterators; since 8.3 also by Gets.
  uint64_t prefix_rejected = 0;  ///< Of these, those that were answered "no".

  /// A test that sees none of these has not tested a filter.
  uint64_t all_rejected() const { return rejected + prefix_rejected; }

  uint64_t absent() const { return passed - passed_present + rejected; }
  double fpr() const {
    return static_cast<double>(passed - passed_present) / static_cast<double>(absent());
  }
};

/// Seeks of sorted runs have counters of their own since RocksDB 8.3: those of prefixes are of
/// Gets.
template <class Ticker>
void AddSeeks(const rocksdb::Statistics& statistics, FilterUse* use) {
  if constexpr (requires { Ticker::LAST_LEVEL_SEEK_FILTERED; }) {
    const uint64_t rejected = statistics.getTickerCount(Ticker::LAST_LEVEL_SEEK_FILTERED) +
                              statistics.getTickerCount(Ticker::NON_LAST_LEVEL_SEEK_FILTERED);
    use->prefix_rejected += rejected;
    use->prefix_checked += rejected +
                           statistics.getTickerCount(Ticker::LAST_LEVEL_SEEK_FILTER_MATCH) +
                           statistics.getTickerCount(Ticker::NON_LAST_LEVEL_SEEK_FILTER_MATCH);
  }
}

inline FilterUse FilterUseSoFar(const rocksdb::Statistics& statistics) {
  FilterUse use;
  use.rejected = statistics.getTickerCount(rocksdb::BLOOM_FILTER_USEFUL);
  use.passed = statistics.getTickerCount(rocksdb::BLOOM_FILTER_FULL_POSITIVE);
  use.passed_present = statistics.getTickerCount(rocksdb::BLOOM_FILTER_FULL_TRUE_POSITIVE);
  use.prefix_checked = statistics.getTickerCount(rocksdb::BLOOM_FILTER_PREFIX_CHECKED);
  use.prefix_rejected = statistics.getTickerCount(rocksdb::BLOOM_FILTER_PREFIX_USEFUL);
  AddSeeks<rocksdb::Tickers>(statistics, &use);
  return use;
}

}  // namespace blocksieve::testing
