#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <rocksdb/db.h>
#include <rocksdb/iterator.h>
#include <rocksdb/options.h>
#include <rocksdb/slice.h>
#include <rocksdb/status.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "blocksieve/bytes.h"

/// \file
/// Conditions in an ordinary iterator of RocksDB. By parts of the key, it leaves out every file and
/// block without a key that can match: all versions of a key are alike by them. By parts of the
/// value, it leaves out those below which is nothing older, as an older version would show again.
/// PRUNING.md has the argument.

namespace blocksieve {

/// What became of the files that a column family had when PruneReads was called, and what iterators
/// did since.
struct ReadPruningCounts {
  uint64_t num_files = 0;            ///< Sum of the eight below.
  uint64_t files_pruned = 0;         ///< Left out.
  uint64_t files_by_block = 0;       ///< Read, but for blocks that their block index leaves out.
  uint64_t files_matching = 0;       ///< Read, as a row may match.
  uint64_t files_above_older = 0;    ///< Read, as others may have older entries, or operands.
  uint64_t files_sharing_keys = 0;   ///< Read, as a neighbour has their first or last key too.
  uint64_t files_without_index = 0;  ///< Read, without an index that this condition can use.
  uint64_t files_of_writers = 0;     ///< Read, as an SstFileWriter wrote them.
  uint64_t files_not_unique = 0;     ///< Read, as they have no id, or one that is there twice.

  uint64_t num_bytes = 0;     ///< Size of all files.
  uint64_t bytes_pruned = 0;  ///< Size of those left out.

  uint64_t tables_asked = 0;     ///< Tables that iterators were about to read.
  uint64_t tables_left_out = 0;  ///< Of these, those that they did not read.

  uint64_t num_blocks = 0;       ///< Blocks of the files_by_block that iterators read so far.
  uint64_t blocks_left_out = 0;  ///< Of these, those that they leave out.
};

/// The decision for one column family and condition, and ReadOptions that use it. Immutable but for
/// its counts, thread-safe.
class BLOCKSIEVE_EXPORT ReadPruning {
 public:
  ReadPruning(const ReadPruning&) = delete;
  ReadPruning& operator=(const ReadPruning&) = delete;
  ~ReadPruning();

  /// Options for iterators. They refer to this object: it must outlive all iterators that are made
  /// with them or with a copy of them, and no copy may be used after it.
  const rocksdb::ReadOptions& read_options() const;

  /// Whether a row matches the condition: iterators still show others.
  bool Matches(const rocksdb::Slice& key, const rocksdb::Slice& value) const;

  /// See ReadPruningCounts.
  ReadPruningCounts counts() const;

  /// The counts above 0 as text, or why everything is read.
  std::string ToString() const;

  struct Decision;  ///< Internal.
  struct Reads;     ///< Internal.
  ReadPruning(std::shared_ptr<const Decision> decision, std::unique_ptr<const Reads> reads);

 private:
  const std::shared_ptr<const Decision> decision_;
  const std::unique_ptr<const Reads> reads_;
};

/// Lets iterators with `(*pruning)->read_options()` leave out files in which no row matches
/// `condition` (the text form of a Predicate, on columns of the skip index in the column family's
/// options). They show every row that matches, with any bounds, direction, snapshot, Refresh or
/// transaction, and some that do not: test each row by ReadPruning::Matches. Get ignores them.
///
/// With a block index (Enable), they also leave out blocks, of more files, and read no block
/// for a range without keys. An empty condition means ranges alone. With an upper bound and the
/// extractor of range filters, `auto_prefix_mode` is set, as by PrepareRangeRead. Where blocks are
/// left out, `auto_readahead_size` is off: with it, RocksDB reads the blocks between in one piece.
///
/// `base`: what else the iterators are to do. It is copied, with the bytes of its bounds, and its
/// table_filter is asked first; the snapshot in it must outlive the iterators. If it is the
/// read_options() of another ReadPruning, which must still live, this one takes the other's place.
///
/// Decides at once, for the files of this moment; later files are read. So call it again after
/// compactions, as for each iterator, but not per seek: it takes RocksDB's mutex and probes the
/// index of each file. Reads indexes that are not in the cache (ConfigureSkipIndexCache). The
/// decision stays right, with one exception: call it again after ingesting copies of the column
/// family's own files (IngestExternalFileOptions::allow_db_generated_files).
///
/// `column_family` null: the default one. Thread-safe.
///
/// On error, changes nothing. Errors: InvalidArgument for null arguments, without a block index
/// with columns or exactly one skip index in the options, for a malformed condition, unknown
/// columns, ORDER BY, LIMIT, and `tailing`, which must not be set later either; NotSupported where
/// leaving out files could show wrong rows (PRUNING.md lists these databases); MemoryLimit if
/// memory is short; else those of RocksDB. A missing or damaged index is no error.
BLOCKSIEVE_EXPORT rocksdb::Status PruneReads(rocksdb::DB* db,
                                             rocksdb::ColumnFamilyHandle* column_family,
                                             std::string_view condition,
                                             const rocksdb::ReadOptions& base,
                                             std::shared_ptr<ReadPruning>* pruning);

/// Makes an iterator by ReadOptions, such as those of a Transaction or of a WriteBatchWithIndex.
using IteratorFactory = std::function<rocksdb::Iterator*(const rocksdb::ReadOptions&)>;

/// @{
/// An iterator over exactly the rows that match `condition`, as of PruneReads, in both directions,
/// with any bounds and snapshot. Without a condition: over all rows. Where range filters or a block
/// index are enabled, an upper bound puts them to use. It leaves out what PruneReads leaves out,
/// and by parts of the key also with a merge operator; after a merge that fails, as the value below
/// an operand was left out, it reads all until the next seek. Where PruneReads refuses, it reads
/// all and tests each row. The property "blocksieve.pruning" has
/// ReadPruning::ToString().
///
/// `options` and the bytes of its bounds are copied: changing them later has no effect. The
/// handle must outlive the iterator; all else lives as long as RocksDB's own iterators need it.
/// Refresh decides anew. Rows that do not match count for `max_skippable_internal_keys`, by call,
/// and are read until the `deadline`: the status is then Incomplete or TimedOut. `make`, if not
/// empty, makes the iterator over all rows, also for Refresh; writes that it adds show if they
/// match.
///
/// `column_family` null: the default one. Errors, which set `*iterator` to null: those of
/// PruneReads but NotSupported; InvalidArgument for `iter_start_ts`; those of the base iterator.
BLOCKSIEVE_EXPORT rocksdb::Status NewIterator(rocksdb::DB* db,
                                              rocksdb::ColumnFamilyHandle* column_family,
                                              std::string_view condition,
                                              const rocksdb::ReadOptions& options,
                                              std::unique_ptr<rocksdb::Iterator>* iterator);
BLOCKSIEVE_EXPORT rocksdb::Status NewIterator(rocksdb::DB* db,
                                              rocksdb::ColumnFamilyHandle* column_family,
                                              std::string_view condition,
                                              const rocksdb::ReadOptions& options,
                                              const IteratorFactory& make,
                                              std::unique_ptr<rocksdb::Iterator>* iterator);
/// @}

/// Makes seeks use range filters; changes no result, but slows down a MultiScan (RANGES.md). Sets
/// auto_prefix_mode and iterate_upper_bound, which must outlive the iterator. Ignores null options.
/// NewIterator needs no preparation.
BLOCKSIEVE_EXPORT void PrepareRangeRead(const rocksdb::Slice* upper_bound,
                                        rocksdb::ReadOptions* read_options);

/// Results of the range queries of this process. A seek queries each sorted run once.
struct RangeFilterCounts {
  uint64_t no = 0;         ///< No key in the range: no block was read.
  uint64_t may_match = 0;  ///< There may be a key in the range.
  // Queries that no filter could answer, so that the range may match:
  uint64_t beyond_partition = 0;  ///< No key in this partition, but the range extends to the next.
  uint64_t no_range_filter = 0;   ///< The file has a key filter only.
  uint64_t no_bound = 0;          ///< The seek had no upper bound, or no auto_prefix_mode.
  uint64_t empty_begin = 0;       ///< The seek began at the empty key.
  uint64_t untrusted = 0;         ///< RocksDB failed the self-test; stderr has the reason.

  /// All range queries.
  uint64_t total() const {
    return no + may_match + beyond_partition + no_range_filter + no_bound + empty_begin + untrusted;
  }
};

BLOCKSIEVE_EXPORT RangeFilterCounts GetRangeFilterCounts();  ///< Since the process began.

}  // namespace blocksieve
