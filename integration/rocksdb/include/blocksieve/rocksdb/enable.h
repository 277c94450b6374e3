#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <rocksdb/db.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/listener.h>
#include <rocksdb/options.h>
#include <rocksdb/status.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "blocksieve/column.h"
#include "blocksieve/filter.h"
#include "blocksieve/skip_index.h"
#include "blocksieve/status.h"

/// \file
/// What new files get: key filters, and an index of ranges, prefixes and values.

namespace blocksieve {

/// What holds ranges, prefixes and columns in a file.
enum class Carrier : uint8_t {
  kAuto,  ///< The block index where no option is in its way; else the other one.
  /// An index of data blocks by RocksDB's user-defined index, from RocksDB 11.2 on.
  kBlockIndex,
  /// Sections of key filters, which need a prefix extractor, and skip indexes of columns, in table
  /// properties or in sidecars: files beside the SSTs (000012.bsx beside 000012.sst).
  kFilterAndSidecar,
};

/// What to give new files. Option strings use the same names: OPTIONS.md.
struct EnableOptions {
  // A goal for key filters, at most one. `target_fpr` holds for every file; the others depend on
  // the sizes of the levels (LEVELS.md), and need the listener.

  /// False-positive rate (FPR) of each file's key filter. 1e-7 to 0.5.
  std::optional<double> target_fpr = std::nullopt;

  /// Wasted data-block reads per lookup of an absent key in the whole tree: the sum of the FPRs of
  /// all sorted runs. 1e-6 to 100. Filters use the least memory that achieves this.
  std::optional<double> wasted_reads = std::nullopt;

  /// Filter bits per key, averaged over the whole tree. 0.1 to 32. Filters waste the fewest reads
  /// that this memory allows. With ranges in filters at least 4.7 (Bloom: 5.2), as the coarsest
  /// take that. Prefixes in filters that find no room in it are left out: the info log says so.
  std::optional<double> bits_per_key = std::nullopt;

  /// Ceiling for the filters and block indexes of the column family, in bytes, at least 1. Filters
  /// waste the fewest reads that it allows, and files that find no room have none. It is kept over
  /// all files of the current version, except for files from outside, block indexes of recoveries,
  /// and after it was lowered. Files that a recovery writes have no filter until compactions.
  std::optional<uint64_t> filter_memory = std::nullopt;

  /// Column families, also of several databases of the process, with the same name here share one
  /// `filter_memory`, the smallest that any of them has, and divide it so that they waste the
  /// fewest reads together. Empty: a ceiling of their own. 1 to 64 letters, digits, '-', '_' and
  /// '.'. Each copy of the plug-in in a process has its own names.
  std::string budget = {};

  /// kAuto, kBlockedBloom, kRibbon or kStock. Kinds differ in size and speed, never in FPR. kStock:
  /// RocksDB's own filters with the bits that the goal gives each file, which RocksDB alone builds
  /// and reads, also without blocksieve. It excludes `max_build_bytes`, and ranges and prefixes in
  /// filters, and rounds rates down (LOOKUPS.md). A kind without a goal: target_fpr = 0.01.
  std::optional<FilterKind> kind = std::nullopt;

  /// Bounded iterators (NewIterator) read no block of a file without a key in their range.
  bool ranges = false;

  /// Rule that finds prefixes of keys, at up to 16 depths; empty, or "none" in option strings:
  /// none. Bounded seeks below an absent prefix read nothing, with or without `ranges`. RANGES.md
  /// says which to choose, and FilterOptions::prefixes has all rules.
  std::string prefixes = {};

  /// Parts of values and keys, for the conditions of NewIterator, PruneReads and SkipScan. At most
  /// 256, with distinct names.
  ColumnList columns = {};

  Carrier carrier = Carrier::kAuto;  ///< ExplainCarrier says what was chosen, and why.

  /// FPR of each file for short ranges. 1e-5 to 0.3; 0.011 if not set. In filters only with
  /// target_fpr: the other goals choose it.
  std::optional<double> range_fpr = std::nullopt;

  /// Share of seeks among the reads that find nothing; the others are lookups. 0.01 to 0.99; 0.5 if
  /// not set. Divides wasted_reads or bits_per_key between both where filters hold ranges.
  std::optional<double> seek_fraction = std::nullopt;

  /// Maximum FPR of prefixes. 1e-7 to 0.5. If not set: 0.01, and in filters 0.0001 where prefixes
  /// are few (RANGES.md). In filters it is never above that of keys, and with bits_per_key,
  /// prefixes take their bits from keys, and the FPR of both rises.
  std::optional<double> prefix_fpr = std::nullopt;

  double value_fpr = 0.001;  ///< Of columns, as SkipIndexOptions::target_fpr. 1e-7 to 0.5.

  /// Maximum memory for building one filter, in bytes: key hashes, working memory and the finished
  /// filter. 0: no limit. A ribbon that needs more becomes a Bloom filter of the same FPR. If that
  /// needs too much as well, or memory runs out, the file or partition gets a few bytes that match
  /// everything (`blocksieve inspect` shows "unreadable"). The info log reports both once per file.
  uint64_t max_build_bytes = 0;

  /// Budget for the columns of a file, in bytes, as SkipIndexOptions::max_index_bytes.
  uint64_t max_index_bytes = kDefaultMaxIndexBytes;

  /// Size in bytes up to which a skip index is stored in table properties. A larger one becomes a
  /// sidecar, which needs the listener and is not copied with its SST (CopySkipIndexes).
  uint64_t max_property_bytes = 4096;

  /// Bytes at the end of each stored value that readers do not see: 4 under rocksdb::DBWithTTL,
  /// which stores a time there. Columns are used only if this equals the reading database's.
  uint32_t value_suffix_bytes = 0;

  /// Bounded seeks ask filters even without auto_prefix_mode; RANGES.md says how. Needs `ranges` or
  /// `prefixes` in filters.
  bool plain_range_reads = false;

  /// Ranges or prefixes in filters may replace the column family's prefix extractor. Seeks that
  /// rely on the old one, with prefix_same_as_start or in prefix mode, then no longer end where the
  /// prefix does.
  bool replace_prefix_extractor = false;
};

/// View of the options in which features are enabled. Owns nothing. Without DBOptions, what needs
/// the listener is refused: wasted_reads, bits_per_key, filter_memory and sidecars.
class OptionsToSet {
 public:
  /// @{
  /// Implicit, so that calls take pointers. With descriptors, all their families get the same.
  OptionsToSet(rocksdb::Options* options) : OptionsToSet(options, options) {}  // NOLINT: implicit
  OptionsToSet(rocksdb::ColumnFamilyOptions* family)                           // NOLINT: implicit
      : OptionsToSet(nullptr, family) {}
  OptionsToSet(rocksdb::DBOptions* db, rocksdb::ColumnFamilyOptions* family)
      : db_(db), family_(family) {}
  OptionsToSet(rocksdb::DBOptions* db, std::vector<rocksdb::ColumnFamilyDescriptor>* families)
      : db_(db), families_(families) {}
  /// @}

  rocksdb::DBOptions* db() const { return db_; }  ///< Null if not given.
  /// Of the options that were given.
  size_t num_families() const { return families_ != nullptr ? families_->size() : 1; }
  rocksdb::ColumnFamilyOptions* family(size_t i) const {  ///< Null if a null pointer was given.
    return families_ != nullptr ? &(*families_)[i].options : family_;
  }

 private:
  rocksdb::DBOptions* db_ = nullptr;
  rocksdb::ColumnFamilyOptions* family_ = nullptr;
  std::vector<rocksdb::ColumnFamilyDescriptor>* families_ = nullptr;
};

/// Sets everything in `options` that gives new files these features, in place of an earlier call:
/// filter policy, block index, prefix extractor, collectors and the listener. Keeps other options.
/// On error it changes nothing. Existing files keep what they have until they are rewritten
/// (RewriteFilters), and are read by it.
///
/// Without a goal and a kind, there are no key filters of blocksieve, and another's policy stays;
/// but where filters hold ranges or prefixes, target_fpr = 0.01 is taken. Without any feature, all
/// of blocksieve is taken out; a warning in the info log, or on stderr, says if no filter policy is
/// left. An extractor "blocksieve.range" in the options stays while the block index holds ranges or
/// prefixes, for files whose filters have them: CheckFilters counts these.
///
/// Errors: InvalidArgument, naming the option, if one is out of range, tables are not block-based,
/// DBOptions are missing, another option rules the carrier out, as RANGES.md
/// lists, or a filter section needs the place of another prefix extractor; NotSupported if the
/// loaded RocksDB has a filter interface for which blocksieve was not compiled, fails the self-test
/// of range filters, or is older than 11.2 with Carrier::kBlockIndex. RocksDB checks the same when
/// it opens a database, but not in CreateColumnFamily.
BLOCKSIEVE_EXPORT rocksdb::Status Enable(OptionsToSet options, const EnableOptions& features);

/// What holds ranges, prefixes and columns in new files of this column family, and why it was
/// chosen, in one line; empty if nothing does. The info log has it at the first flush or compaction
/// of each column family with the listener.
BLOCKSIEVE_EXPORT std::string ExplainCarrier(const rocksdb::ColumnFamilyOptions& family);

/// Makes the block index the primary one in `options`, with which `db` is to be opened next: all
/// iterators then use it, for ranges without a call. RocksDB then refuses files without the index,
/// and every process without this plug-in refuses the options. To back out, set
/// use_udi_as_primary_index to false: no file changes.
///
/// Reads the tail of each live file. On error it changes nothing. Errors: InvalidArgument if
/// `options` have no block index, or with partitioned indexes or filters; Incomplete if a file
/// lacks the index, naming the first: RewriteFilters gives it one; then call again. NotSupported
/// before RocksDB 11.2. Else those of RocksDB.
BLOCKSIEVE_EXPORT rocksdb::Status MakeIndexPrimary(rocksdb::DB* db,
                                                   rocksdb::ColumnFamilyHandle* column_family,
                                                   rocksdb::ColumnFamilyOptions* options);

/// A policy for BlockBasedTableOptions::filter_policy, for full and partitioned filters. Immutable,
/// thread-safe, owned by the caller; filters that it opened may outlive it. With ranges or
/// prefixes, the column family needs the prefix extractor "blocksieve.range", which Enable sets.
///
/// Files keep their filters until they are rewritten: stock RocksDB reads blocksieve's as "always
/// may match", and the policy reads stock Bloom and Ribbon filters. If the loaded RocksDB has
/// another filter interface than the headers this was compiled with, the policy builds RocksDB's
/// own filters, and says so on stderr (COMPATIBILITY.md).
///
/// Errors, which leave `policy` as it was: InvalidArgument if an option is out of range or not one
/// of filters; MemoryLimit if memory is short.
BLOCKSIEVE_EXPORT rocksdb::Status NewFilterPolicy(
    const EnableOptions& options, std::shared_ptr<const rocksdb::FilterPolicy>* policy);

/// A listener for DBOptions::listeners ("listeners={blocksieve}" in option strings and OPTIONS
/// files), which Enable adds. Thread-safe; one may serve several databases.
///
/// It reports the level sizes, and which levels lookups reach, to policies with wasted_reads or
/// bits_per_key, which otherwise assume them (LEVELS.md), and keeps the account of filter_memory.
/// It reads all file sizes when a flush or compaction begins, for about a microsecond per file
/// under the database's mutex, and at most a fiftieth of the time. It also writes and deletes
/// sidecars (HOW_IT_WORKS.md).
BLOCKSIEVE_EXPORT std::shared_ptr<rocksdb::EventListener> NewListener();

}  // namespace blocksieve

/// Registers the policy, extractor, indexes and listener with RocksDB's object registry, so that
/// option strings and OPTIONS files can name them. The shared plug-in does this when it is loaded;
/// a statically linked program calls it once. Returns the number of factories registered.
extern "C" BLOCKSIEVE_EXPORT int blocksieve_rocksdb_register(void);
