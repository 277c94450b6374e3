#include "integration/rocksdb/maintenance/observed_reads.h"

#include <algorithm>

#include "integration/rocksdb/maintenance/file_report.h"

namespace blocksieve::rocksdb_plugin {
namespace {

// Counters are read one after the other while others grow.
uint64_t Difference(uint64_t all, uint64_t part) { return all - std::min(all, part); }

}  // namespace

double ObservedReads::absent_fraction() const {
  return lookups == 0 ? 0 : Ratio(Difference(lookups, found), lookups);
}

double ObservedReads::seek_fraction() const { return Ratio(seeks, lookups + seeks); }

std::optional<double> ObservedReads::wasted_reads() const {
  return probes() ? std::optional(Ratio(false_positives, lookups)) : std::nullopt;
}

std::optional<double> ObservedReads::probes() const {
  const uint64_t sum = ruled_out + false_positives + true_positives;
  return lookups == 0 || sum == 0 ? std::nullopt : std::optional(Ratio(sum, lookups));
}

ObservedReads ObserveReads(const Tickers& tickers) {
  const auto count = [&](const std::string& name) {
    const auto found = tickers.find("rocksdb." + name);
    return found == tickers.end() ? 0 : found->second;
  };
  ObservedReads reads;
  reads.in_memtables = count("memtable.hit");
  reads.lookups = Difference(count("number.keys.read") + count("number.multiget.keys.read"),
                             reads.in_memtables);
  reads.found = count("l0.hit") + count("l1.hit") + count("l2andup.hit");
  reads.seeks = count("number.db.seek");
  reads.ruled_out = count("bloom.filter.useful");
  reads.true_positives = count("bloom.filter.full.true.positive");
  reads.false_positives = Difference(count("bloom.filter.full.positive"), reads.true_positives);
  if (!tickers.contains("rocksdb.last.level.seek.data")) return reads;
  ObservedSeeks& seeks = reads.seek_blocks.emplace();
  for (const std::string level : {"last.level.seek.", "non.last.level.seek."}) {
    const uint64_t useful =
        count(level + "data.useful.no.filter") + count(level + "data.useful.filter.match");
    seeks.useful += useful;
    seeks.useless += Difference(count(level + "data"), useful);
    seeks.ruled_out += count(level + "filtered");
  }
  return reads;
}

}  // namespace blocksieve::rocksdb_plugin
