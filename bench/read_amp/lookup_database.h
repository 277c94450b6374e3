#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <filesystem>
#include <span>

#include "bench/support/counters.h"
#include "bench/support/database.h"
#include "bench/support/rows.h"

namespace blocksieve::bench::read_amp {

enum class Keys { kAbsent, kPresent };

/// The length of a pass of lookups.
struct Pass {
  uint64_t lookups = 0;
  double seconds = 0;
};

/// A database for lookups: fill, open, look up. A wrong answer throws Failure.
class LookupDatabase : public Database {
 public:
  /// `rows` must outlive this.
  LookupDatabase(const Contestant& contestant, const Rows& rows, std::filesystem::path path)
      : Database(contestant, rows.num_bytes(), std::move(path)), rows_(rows) {}

  /// Puts all rows, in the given order, into a new database, and builds a tree of the shape that
  /// RocksDB's default options lead to: four files on level 0, as many rows on level 1, and ten
  /// times as many on level 2. Returns seconds.
  double Fill(std::span<const uint32_t> order);

  /// Looks up every row and compares its value. Warms the cache. REQUIRES: open.
  void VerifyAllRows();

  /// Looks up keys of one kind, in order, all or for `max_seconds`, but at least 100 keys. With
  /// `counters`, adds RocksDB's counts; without, RocksDB counts nothing. REQUIRES: open.
  Pass LookUp(const LookupKeys& keys, Keys kind, double max_seconds, Counters* counters);

 private:
  void CheckCounters(const Counters& counted, Keys kind, const Pass& pass) const;

  const Rows& rows_;
};

}  // namespace blocksieve::bench::read_amp
