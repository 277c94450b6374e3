// SPDX-License-Identifier: Apache-2.0
#include "bench/support/counters.h"

#include <rocksdb/perf_context.h>
#include <rocksdb/perf_level.h>

#include "bench/support/measure.h"
#include "bench/support/terminal.h"

namespace blocksieve::bench {

Counters& Counters::operator+=(const Counters& other) {
  for (const auto member :
       {&Counters::lookups, &Counters::found, &Counters::filter_negatives,
        &Counters::filter_positives, &Counters::filter_true_positives, &Counters::data_blocks_read,
        &Counters::data_blocks_cached, &Counters::blocks_read, &Counters::bytes_read}) {
    this->*member += other.*member;
  }
  return *this;
}

double Counters::fpr() const { return Ratio(false_positives(), absent_probes()); }

CounterWindow::CounterWindow(rocksdb::Statistics& statistics) : statistics_(statistics) {
  statistics_.set_stats_level(rocksdb::StatsLevel::kExceptHistogramOrTimers);
  if (!statistics_.Reset().ok()) Fail("cannot reset RocksDB's statistics");
  rocksdb::SetPerfLevel(rocksdb::PerfLevel::kEnableCount);
  rocksdb::get_perf_context()->Reset();
}

CounterWindow::~CounterWindow() {
  rocksdb::SetPerfLevel(rocksdb::PerfLevel::kDisable);
  statistics_.set_stats_level(rocksdb::StatsLevel::kDisableAll);
}

Counters CounterWindow::Stop() const {
  const rocksdb::PerfContext& perf = *rocksdb::get_perf_context();
  const auto ticker = [&](uint32_t which) { return statistics_.getTickerCount(which); };
  return {
      .lookups = ticker(rocksdb::NUMBER_KEYS_READ),
      .found = ticker(rocksdb::GET_HIT_L0) + ticker(rocksdb::GET_HIT_L1) +
               ticker(rocksdb::GET_HIT_L2_AND_UP),
      .filter_negatives = ticker(rocksdb::BLOOM_FILTER_USEFUL),
      .filter_positives = ticker(rocksdb::BLOOM_FILTER_FULL_POSITIVE),
      .filter_true_positives = ticker(rocksdb::BLOOM_FILTER_FULL_TRUE_POSITIVE),
      .data_blocks_read = ticker(rocksdb::BLOCK_CACHE_DATA_MISS),
      .data_blocks_cached = ticker(rocksdb::BLOCK_CACHE_DATA_HIT),
      .blocks_read = perf.block_read_count,
      .bytes_read = perf.block_read_byte,
  };
}

}  // namespace blocksieve::bench
