#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <ostream>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/support/test_db.h"

namespace blocksieve::testing {

/// All random choices of a run, from one seed.
class Dice {
 public:
  explicit Dice(uint64_t seed) : random_(seed) {}

  uint64_t Bits() { return random_(); }
  uint64_t Below(uint64_t bound) { return random_() % bound; }
  bool OneIn(uint64_t times) { return Below(times) == 0; }

 private:
  std::mt19937_64 random_;
};

/// The keys of a run: few enough to be overwritten, deleted and looked up again and again. Some are
/// prefixes of others, some differ by one in the last byte, some only in one late byte. The empty
/// key occurs three times as often as others.
class ModelKeys {
 public:
  /// `far_apart`: only kinds for which range filters are built.
  explicit ModelKeys(Dice* dice, bool far_apart = false);

  /// A key that may be in the database.
  const std::string& Any() { return keys_[dice_.Below(keys_.size())]; }

  /// A key of the run, or one right next to it.
  std::string Near();

  /// Two keys near keys of the run, in order.
  std::pair<std::string, std::string> Range();

 private:
  Dice& dice_;
  std::vector<std::string> keys_;
};

/// Kinds of runs.
struct ModelKind {
  const char* name;
  bool plain_reads = false;       // plain_range_reads; seeks mostly set nothing but an upper bound
  bool timestamps = false;        // 64-bit timestamps
  bool reads_in_threads = false;  // concurrent with the writer
  // The run depends on its seed alone: it flushes and compacts, without background jobs. All files
  // and many partitions have range filters, over keys far apart.
  bool is_repeatable = false;
  bool has_prefixes = false;     // filters have prefixes, sometimes ranges too
  bool has_block_index = false;  // files have a block index of ranges, which most reads use
  bool points_only = false;      // key filters only, sometimes with prefixes of another extractor
};

/// For GoogleTest, which would print the bytes.
inline void PrintTo(const ModelKind& kind, std::ostream* out) { *out << kind.name; }

/// The properties of a database that stay for its lifetime, by its seed.
//
// Left out, because RocksDB 7.8.3 to 11.8 fails here even with stock filters or none:
// - another prefix extractor by SetOptions, while iterators have the old one;
// - ingestion under universal compaction, while snapshots are held, or before anything was written:
//   compactions of 7.8.3 may then lose the rows;
// - max_sequential_skip_in_iterations = 0;
// - range deletes, where merges, Prev or Refresh are in the same run: with the last one, 7.8.3
//   frees memory twice;
// - merges, or raised bounds, with tailing iterators;
// - async_io with readahead;
// - pin_data with timestamps: Prev of 7.8.3 writes into keys of the memtable.
struct ModelTraits {
  ModelTraits(const ModelKind& kind, Dice* dice);

  bool universal;
  bool deletes_ranges;
  bool has_tailing;
  bool merges;
  bool ingests;
  bool primary_index;  // of kinds with a block index
  bool transactions;   // the database is a TransactionDB
};

/// The options of one opening.
struct ModelOpening {
  ModelOpening(const ModelKind& kind, const ModelTraits& traits, Dice* dice);

  DbConfig config;
  bool has_other_extractor = false;  // then seeks are correct only in total order
};

/// The merged value: the last 60 bytes of the value with the operand appended.
void MergeInto(std::string* value, std::string_view operand);

}  // namespace blocksieve::testing
