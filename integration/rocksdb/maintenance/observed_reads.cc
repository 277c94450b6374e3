#include "integration/rocksdb/maintenance/observed_reads.h"

#include <algorithm>
#include <initializer_list>

#include "integration/rocksdb/maintenance/file_report.h"

namespace blocksieve::rocksdb_plugin {
namespace {

// Counters are read one after the other while others grow.
uint64_t Difference(uint64_t all, uint64_t part) { return all - std::min(all, part); }

}  // namespace

std::optional<double> ObservedReads::absent_fraction() const {
  if (!lookups || !found) return std::nullopt;
  return *lookups == 0 ? 0 : Ratio(Difference(*lookups, *found), *lookups);
}

std::optional<double> ObservedReads::seek_fraction() const {
  return lookups && seeks ? std::optional(Ratio(*seeks, *lookups + *seeks)) : std::nullopt;
}

std::optional<double> ObservedReads::wasted_reads() const {
  return probes() ? std::optional(Ratio(*false_positives, *lookups)) : std::nullopt;
}

std::optional<double> ObservedReads::probes() const {
  const uint64_t sum =
      ruled_out.value_or(0) + false_positives.value_or(0) + true_positives.value_or(0);
  if (lookups.value_or(0) == 0 || !ruled_out || !false_positives || sum == 0) return std::nullopt;
  return Ratio(sum, *lookups);
}

ObservedReads ObserveReads(const Tickers& tickers) {
  ObservedReads reads;
  const auto count = [&](const std::string& name) {
    const auto found = tickers.find("rocksdb." + name);
    return found == tickers.end() ? 0 : found->second;
  };
  const auto sum = [&](std::initializer_list<const char*> names) {
    const size_t num_missing = reads.missing.size();
    uint64_t total = 0;
    for (const std::string name : names) {
      total += count(name);
      if (!tickers.contains("rocksdb." + name)) reads.missing.push_back("rocksdb." + name);
    }
    return reads.missing.size() == num_missing ? std::optional(total) : std::nullopt;
  };
  const auto keys = sum({"number.keys.read"});
  // Some sources leave out counters that are 0.
  reads.in_memtables =
      tickers.contains("rocksdb.memtable.miss") ? count("memtable.hit") : sum({"memtable.hit"});
  if (keys && reads.in_memtables) {
    reads.lookups = Difference(*keys + count("number.multiget.keys.read"), *reads.in_memtables);
  }
  reads.found = sum({"l0.hit", "l1.hit", "l2andup.hit"});
  reads.seeks = sum({"number.db.seek"});
  reads.ruled_out = sum({"bloom.filter.useful"});
  const auto positives = sum({"bloom.filter.full.positive"});
  reads.true_positives = sum({"bloom.filter.full.true.positive"});
  if (positives && reads.true_positives) {
    reads.false_positives = Difference(*positives, *reads.true_positives);
  }
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
