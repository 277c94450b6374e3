// SPDX-License-Identifier: Apache-2.0
#include "bench/read_amp/lookup_database.h"

#include <algorithm>
#include <optional>

#include "bench/support/measure.h"
#include "bench/support/terminal.h"

namespace blocksieve::bench::read_amp {
namespace {

// RocksDB's defaults: level0_file_num_compaction_trigger, level 1 as large as this many level-0
// files (4 x 64 MB = 256 MB), and max_bytes_for_level_multiplier.
constexpr size_t kLevel0Files = 4;
constexpr size_t kLevelRatio = 10;

}  // namespace

double LookupDatabase::Fill(std::span<const uint32_t> order) {
  Open(Reads::kCached);
  const size_t level0_file_rows = order.size() / (kLevel0Files * (1 + 1 + kLevelRatio));
  const size_t level1_rows = kLevel0Files * level0_file_rows;
  const auto take = [&order](size_t count) {
    const auto first = order.first(count);
    order = order.subspan(count);
    return first;
  };
  const Stopwatch stopwatch;
  FillLevel(rows_, take(order.size() - 2 * level1_rows), 2);
  FillLevel(rows_, take(level1_rows), 1);
  for (size_t file = 0; file < kLevel0Files; ++file) PutAndFlush(rows_, take(level0_file_rows));
  return stopwatch.Seconds();
}

void LookupDatabase::VerifyAllRows() {
  for (size_t row = 0; row < rows_.size(); ++row) {
    if (row % 4'096 == 0) CheckInterrupt();
    CheckGet(rows_.key(row), rows_.value(row));
  }
}

// Index and filter blocks are in the table readers' memory: every block read is a data block.
void LookupDatabase::CheckCounters(const Counters& counted, Keys kind, const Pass& pass) const {
  if (counted.lookups != pass.lookups ||
      counted.found != (kind == Keys::kPresent ? pass.lookups : 0) ||
      counted.blocks_read != counted.data_blocks_read) {
    Fail(
        "{}: after {} lookups of {} keys RocksDB counted {}, {} of them found in files; {} data "
        "blocks read by its tickers, {} by its perf context",
        name(), pass.lookups, kind == Keys::kPresent ? "present" : "absent", counted.lookups,
        counted.found, counted.data_blocks_read, counted.blocks_read);
  }
}

Pass LookupDatabase::LookUp(const LookupKeys& keys, Keys kind, double max_seconds,
                            Counters* counters) {
  // Lookups between two readings of the clock: enough for the readings not to slow lookups of 2 us.
  constexpr size_t kBatch = 100;
  const size_t num_keys = kind == Keys::kPresent ? keys.present.size() : keys.absent.size();
  std::optional<CounterWindow> window;
  if (counters != nullptr) window.emplace(statistics());
  const Stopwatch stopwatch;
  Pass pass;
  while (pass.lookups < num_keys && pass.seconds < max_seconds) {
    CheckInterrupt();
    for (const size_t end = std::min(pass.lookups + kBatch, num_keys); pass.lookups < end;) {
      const size_t next = pass.lookups++;
      if (kind == Keys::kPresent) {
        CheckGet(rows_.key(keys.present[next]), rows_.value(keys.present[next]));
      } else {
        CheckGet(keys.absent[next], std::nullopt);
      }
    }
    pass.seconds = stopwatch.Seconds();
  }
  if (counters != nullptr) {
    const Counters counted = window->Stop();
    CheckCounters(counted, kind, pass);
    *counters += counted;
  }
  return pass;
}

}  // namespace blocksieve::bench::read_amp
