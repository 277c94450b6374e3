#pragma once

#include <rocksdb/filter_policy.h>
#include <rocksdb/slice_transform.h>

#include <memory>
#include <ostream>
#include <string>
#include <string_view>

#include "tests/rocksdb/model/model_keys.h"
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
  // What a run does depends on its seed alone: it flushes and compacts, and nothing does beside it.
  // And range filters are everywhere: in all files, in many partitions, over keys far apart.
  bool is_repeatable = false;
  bool points_only = false;  // filters have no ranges; prefixes of another extractor, at times
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
//   frees memory twice;
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

/// What merging makes of a value: appended, but no longer than 60 bytes, the last ones.
void MergeInto(std::string* value, std::string_view operand);

}  // namespace blocksieve::testing
