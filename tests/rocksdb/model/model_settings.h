#pragma once

#include <ostream>
#include <string>
#include <string_view>

#include "tests/rocksdb/model/model_keys.h"
#include "tests/support/test_db.h"

namespace blocksieve::testing {

/// Kinds of runs.
struct ModelKind {
  const char* name;
  bool plain_reads = false;       // plain_range_reads; seeks mostly set nothing but an upper bound
  bool timestamps = false;        // 64-bit timestamps
  bool reads_in_threads = false;  // concurrent with the writer
  // The run depends on its seed alone: it flushes and compacts, without background jobs. All files
  // and many partitions have range filters, over keys far apart.
  bool is_repeatable = false;
  bool has_prefixes = false;  // filters have prefixes, sometimes ranges too
  bool points_only = false;   // key filters only, sometimes with prefixes of another extractor
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
  bool transactions;  // the database is a TransactionDB
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
