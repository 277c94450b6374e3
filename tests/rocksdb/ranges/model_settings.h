#pragma once

#include <rocksdb/filter_policy.h>
#include <rocksdb/slice_transform.h>

#include <memory>
#include <ostream>
#include <string>

#include "tests/rocksdb/ranges/dice.h"
#include "tests/support/test_db.h"

namespace blocksieve::testing {

/// What makes ranges be filtered.
struct RangeFilters {
  std::shared_ptr<const rocksdb::FilterPolicy> policy;
  std::shared_ptr<const rocksdb::SliceTransform> extractor;

  /// Ours.
  static RangeFilters Ours(bool plain_range_reads = false);
};

/// Kinds of runs.
struct ModelKind {
  const char* name;
  RangeFilters filters = RangeFilters::Ours();
  bool plain_reads = false;       // seeks have an upper bound, and mostly nothing else
  bool timestamps = false;        // of 64 bits
  bool reads_in_threads = false;  // beside the writer
};

/// For GoogleTest, which would print the bytes.
inline void PrintTo(const ModelKind& kind, std::ostream* out) { *out << kind.name; }

/// What one database is like for its life, by its seed.
//
// Left out is what RocksDB 7.8.3 to 11.8 get wrong with stock filters, or with none:
// - another prefix extractor by SetOptions, while iterators have the old one;
// - ingestion under universal compaction, while snapshots are held, or before anything was written:
//   compactions of 7.8.3 may then lose the rows;
// - max_sequential_skip_in_iterations = 0;
// - range deletes, where merges, Prev or Refresh are in the same run: with the last one, 7.8.3
// frees
//   memory twice;
// - what iterators give that read the cache alone: they move, but are not compared;
// - merges, or bounds that are raised, where there are tailing iterators;
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

/// What it is opened with, each time.
struct ModelOpening {
  ModelOpening(const ModelKind& kind, const ModelTraits& traits, Dice* dice);

  DbConfig config;
  bool has_other_extractor = false;  // seeks are then right in total order only
  std::string name;                  // for reports
};

}  // namespace blocksieve::testing
