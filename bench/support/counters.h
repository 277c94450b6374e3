#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <rocksdb/statistics.h>

#include <cstdint>

namespace blocksieve::bench {

/// Counts of RocksDB's own tickers and perf context.
struct Counters {
  uint64_t lookups = 0;  ///< Calls of Get (ticker NUMBER_KEYS_READ).
  uint64_t found = 0;    ///< Lookups that a file answered (tickers GET_HIT_*).

  // Filter probes: tickers BLOOM_FILTER_USEFUL, _FULL_POSITIVE, _FULL_TRUE_POSITIVE.
  uint64_t filter_negatives = 0;
  uint64_t filter_positives = 0;
  uint64_t filter_true_positives = 0;

  // Data blocks: tickers BLOCK_CACHE_DATA_MISS, read from a file, and BLOCK_CACHE_DATA_HIT.
  uint64_t data_blocks_read = 0;
  uint64_t data_blocks_cached = 0;

  uint64_t blocks_read = 0;  ///< Blocks of all kinds (perf context block_read_count).
  uint64_t bytes_read = 0;   ///< Their bytes (perf context block_read_byte).

  Counters& operator+=(const Counters& other);

  uint64_t data_blocks() const { return data_blocks_read + data_blocks_cached; }

  uint64_t false_positives() const { return filter_positives - filter_true_positives; }

  /// Probes for keys that the file does not have.
  uint64_t absent_probes() const { return false_positives() + filter_negatives; }

  /// False positives per probe for a key that the file does not have; NaN without such probes.
  double fpr() const;
};

/// Counts events from construction to Stop: the perf context for this thread, the tickers for the
/// whole database, which nothing else may use meanwhile. RocksDB counts nothing outside windows.
class CounterWindow {
 public:
  /// Throws Failure.
  explicit CounterWindow(rocksdb::Statistics& statistics);
  ~CounterWindow();
  CounterWindow(const CounterWindow&) = delete;
  CounterWindow& operator=(const CounterWindow&) = delete;

  Counters Stop() const;

 private:
  rocksdb::Statistics& statistics_;
};

}  // namespace blocksieve::bench
