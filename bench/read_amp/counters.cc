#include "bench/read_amp/counters.h"

#include <rocksdb/perf_context.h>
#include <rocksdb/perf_level.h>

#include "bench/support/terminal.h"

namespace blocksieve::bench::read_amp {

Counters& Counters::operator+=(const Counters& other) {
  lookups += other.lookups;
  found += other.found;
  filter_negatives += other.filter_negatives;
  filter_positives += other.filter_positives;
  filter_true_positives += other.filter_true_positives;
  data_blocks_read += other.data_blocks_read;
  data_blocks_cached += other.data_blocks_cached;
  data_bytes_read += other.data_bytes_read;
  return *this;
}

double Counters::fpr() const {
  return static_cast<double>(false_positives()) / static_cast<double>(absent_probes());
}

CounterWindow::CounterWindow(rocksdb::Statistics& statistics) : statistics_(statistics) {
  statistics_.set_stats_level(rocksdb::StatsLevel::kExceptHistogramOrTimers);
  if (const rocksdb::Status status = statistics_.Reset(); !status.ok()) {
    Fail("cannot reset RocksDB's statistics: {}", status.ToString());
  }
  rocksdb::SetPerfLevel(rocksdb::PerfLevel::kEnableCount);
  rocksdb::get_perf_context()->Reset();
}

Counters CounterWindow::Stop() {
  const rocksdb::PerfContext& perf = *rocksdb::get_perf_context();
  rocksdb::SetPerfLevel(rocksdb::PerfLevel::kDisable);
  const auto ticker = [&](uint32_t which) { return statistics_.getTickerCount(which); };
  Counters counters;
  counters.lookups = ticker(rocksdb::NUMBER_KEYS_READ);
  counters.found = ticker(rocksdb::GET_HIT_L0) + ticker(rocksdb::GET_HIT_L1) +
                   ticker(rocksdb::GET_HIT_L2_AND_UP);
  counters.filter_negatives = ticker(rocksdb::BLOOM_FILTER_USEFUL);
  counters.filter_positives = ticker(rocksdb::BLOOM_FILTER_FULL_POSITIVE);
  counters.filter_true_positives = ticker(rocksdb::BLOOM_FILTER_FULL_TRUE_POSITIVE);
  counters.data_blocks_read = ticker(rocksdb::BLOCK_CACHE_DATA_MISS);
  counters.data_blocks_cached = ticker(rocksdb::BLOCK_CACHE_DATA_HIT);
  counters.data_bytes_read = perf.block_read_byte;
  statistics_.set_stats_level(rocksdb::StatsLevel::kDisableAll);

  // Index and filter blocks are in the table readers' memory: every block read is a data block.
  if (perf.block_read_count != counters.data_blocks_read) {
    Fail("RocksDB's perf context counted {} blocks read, its tickers {} data blocks",
         perf.block_read_count, counters.data_blocks_read);
  }
  return counters;
}

}  // namespace blocksieve::bench::read_amp
