#pragma once

#include <cstdint>
#include <filesystem>
#include <span>

#include "bench/support/counters.h"
#include "bench/support/database.h"
#include "bench/support/rows.h"

namespace blocksieve::bench::read_amp {

enum class Keys { kAbsent, kPresent };

/// How a pass of lookups ended.
struct Pass {
  uint64_t lookups = 0;
  double seconds = 0;
};

/// A database that keys are looked up in: fill, then open, look up, compact, look up. Every wrong
/// answer throws Failure.
class LookupDatabase : public Database {
 public:
  /// `rows` must outlive this.
  LookupDatabase(const Contestant& contestant, const Rows& rows, std::filesystem::path path)
      : Database(contestant, rows.num_bytes(), std::move(path)), rows_(rows) {}

  /// Puts all rows, in the order given by `order`, into a new database and builds a tree of the
  /// shape that RocksDB's default options lead to: four files on level 0, on level 1 as many rows
  /// as these have together, on level 2 ten times as many. Returns seconds.
  double Fill(std::span<const uint32_t> order);

  /// Everything into one level. Returns seconds.
  double CompactAll();

  /// Looks every row up and compares its value. Warms the cache. REQUIRES: open.
  void VerifyAllRows();

  /// Looks keys of one kind up, in order, until the end or until `max_seconds` passed, but at least
  /// 100 keys. With `counters`, adds what RocksDB counted; without, RocksDB counts nothing.
  /// REQUIRES: open.
  Pass LookUp(const LookupKeys& keys, Keys kind, double max_seconds, Counters* counters);

 private:
  void CheckPresent(size_t row, rocksdb::PinnableSlice& value);
  void CheckAbsent(const std::string& key, rocksdb::PinnableSlice& value);
  void CheckCounters(const Counters& counted, Keys kind, const Pass& pass) const;

  const Rows& rows_;
};

}  // namespace blocksieve::bench::read_amp
