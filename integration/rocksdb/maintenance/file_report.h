#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <rocksdb/comparator.h>
#include <rocksdb/db.h>
#include <rocksdb/env.h>
#include <rocksdb/options.h>
#include <rocksdb/sst_file_reader.h>
#include <rocksdb/table_properties.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "blocksieve/skip_index.h"
#include "blocksieve/tree.h"
#include "integration/rocksdb/block_index/factory.h"

// Facts about table files and their filters, for what maintains them.

namespace blocksieve::rocksdb_plugin {

/// The filter policy with which files are read.
struct FilterReader {
  enum class Kind {
    kAny,       ///< Unknown: reads what any RocksDB 7 with the plug-in reads.
    kOurs,      ///< Also reads RocksDB's own filters.
    kStock,     ///< RocksDB's: blocksieve's filters match everything.
    kForeign,   ///< That of another program, which reads its own filters and RocksDB's.
    kNone,      ///< Without a policy, RocksDB reads no filters at all.
    kNoFilters  ///< The tables are not block-based.
  } kind = Kind::kAny;
  std::string policy = "nullptr";  ///< As OPTIONS files name it.
  bool is_ours = true;             ///< Blocksieve's, even where RocksDB's version makes it kStock.
  bool spares_last_level = false;  ///< optimize_filters_for_hits
};

/// The reader of a column family as RocksDB loaded it. `named`: filter_policy in OPTIONS, for
/// policies that only another program has.
FilterReader ReaderOf(const rocksdb::ColumnFamilyOptions& family, const std::string& named = "");

struct FilePlace {
  std::string path;
  std::string family;  ///< Name of the column family; empty if unknown.
  int level = -1;      ///< -1 if unknown.

  /// The next compaction will remove this flushed file. Under kind=auto such files have Bloom
  /// filters, others ribbons.
  bool is_short_lived = false;

  /// Smallest and largest key for which lookups check it; nullopt for a file outside a database.
  std::optional<std::pair<std::string, std::string>> keys;

  const rocksdb::Comparator* comparator = nullptr;  ///< That of the database; null if unknown.
  FilterReader reader = {};                         ///< Likewise.
};

enum class FilterOrigin {
  kNone,
  kBlocksieve,
  kStock,       ///< RocksDB's own.
  kUnknown,     ///< Unknown kind, but not damaged; treated as matching everything.
  kUnreadable,  ///< Damaged; treated as matching everything.
};

/// "none", "blocksieve", "stock", "unknown" or "unreadable".
std::string OriginName(FilterOrigin origin);

/// The parts of a file's filters that answer for ranges: range filters, or prefixes.
struct PartReport {
  uint64_t num_filters = 0;  ///< Filters that have the part.
  uint64_t num_bytes = 0;    ///< Included in FilterReport::num_bytes.

  /// Share of short empty ranges, as estimated by the filters, or of absent prefixes, by the model
  /// of the key filter, that pass; the mean over their keys. 1 without the part.
  double fpr = 1;
};

/// Totals over all filters of a file.
struct FilterReport {
  FilterOrigin origin = FilterOrigin::kNone;
  std::set<FilterKind> kinds;      ///< Of the filters that can be read.
  bool has_legacy_blooms = false;  ///< RocksDB's, of tables with a format_version below 5.
  std::string shape;               ///< "full", "partitioned" or "per granule".
  std::string entries;  ///< "keys", "prefixes" or "keys and prefixes"; set by `inspect` only.
  uint64_t num_filters = 0;
  uint64_t num_entries = 0;  ///< Keys added to the filters; in stock filters also prefixes.
  uint64_t num_bytes = 0;    ///< Size in the file.

  /// FPR by the model of the kind, the mean over the entries; 1 if nothing is ruled out.
  double predicted_fpr = 1;

  PartReport ranges;
  PartReport prefixes;                    ///< Of the option `prefixes`.
  uint64_t num_prefixes = 0;              ///< Distinct ones of each filter.
  uint64_t num_prefix_hashes = 0;         ///< Hashes of prefixes in the key filters.
  std::vector<std::string> prefix_rules;  ///< Boundaries of the prefixes, as in the option.

  /// Whether the file was written under a policy with range filters or prefixes.
  bool has_range_extractor = false;

  /// Bytes of the key filters alone.
  uint64_t point_bytes() const { return num_bytes - ranges.num_bytes - prefixes.num_bytes; }

  /// Whether seeks with an upper bound check the filters.
  bool answers_ranges() const { return ranges.num_filters + prefixes.num_filters != 0; }

  std::string policy;                 ///< Of the writing program; empty if it had none.
  std::string note;                   ///< Why the filters are unknown.
  std::vector<std::string> problems;  ///< One for each unreadable filter.
};

inline constexpr char kBlockIndexPlace[] = "block index";

/// The index of a file's values, or its block index.
struct IndexReport {
  uint64_t num_granules = 0;  ///< 0 without an index.
  uint64_t num_bytes = 0;     ///< Stored size.
  std::string place;          ///< "sst", "sidecar" or kBlockIndexPlace; empty without an index.
  std::vector<IndexColumnInfo> columns;
  std::string note;                    ///< Why a built index is missing.
  std::string problem;                 ///< Damage, or empty.
  std::optional<uint32_t> options_id;  ///< OptionsId of a block index that can be read.
  bool has_file_id = false;            ///< Whether the properties name the block index.
  bool is_left_out = false;            ///< Its builder left the block index out, for want of room.
};

struct FileReport {
  FilePlace place;
  uint64_t num_entries = 0;  ///< All versions of keys with deletes, but without range deletes.
  uint64_t num_data_blocks = 0;
  uint64_t num_bytes = 0;
  FilterReport filter;
  IndexReport index;  ///< Outside of the command, only that of a block index.

  /// Share of absent keys for which lookups read the file: 1 if the filter does not work.
  double fpr() const;
};

enum class FilterState {
  kWorks,    ///< Or the file has no keys.
  kLeftOut,  ///< There is none, by the choice of the policy that reads the file.
  kMissing,  ///< There is none for another reason, such as a program without the policy.
  kNotRead,  ///< The policy does not read it.
  kUseless,  ///< It matches everything, is damaged, or of a kind that RocksDB no longer reads.
};

/// Whether lookups gain from the filter of a file: the one place that decides it. By default by
/// `place.reader`.
FilterState JudgeFilter(const FileReport& file, const FilterReader& reader);
inline FilterState JudgeFilter(const FileReport& file) {
  return JudgeFilter(file, file.place.reader);
}

/// Whether the options of the column family have a block index, and the file has keys but no index,
/// or one of other options.
bool LacksBlockIndex(const FileReport& file, const rocksdb::ColumnFamilyOptions& family);

/// Whether the state is kMissing, kNotRead or kUseless.
bool IsUnfiltered(const FileReport& file);

/// "no filters" and so on, for one of these states.
std::string StateText(FilterState state, const FilterReader& reader);

/// The policy and the file that is the newest OPTIONS file of the database with one for the family.
/// RocksDB keeps the last few files, and the newest, which it wrote when it opened the database,
/// has nullptr if the policy was not loaded.
std::optional<std::pair<std::string, std::string>> FindNamedPolicy(rocksdb::Env* env,
                                                                   const std::string& database,
                                                                   const std::string& family);

/// An open table file, with its filters and its block index as RocksDB loads them.
struct OpenedTable {
  std::unique_ptr<OpenedBlockIndex> index = std::make_unique<OpenedBlockIndex>();
  std::unique_ptr<rocksdb::SstFileReader> reader = nullptr;
  std::vector<std::string> filters = {};  ///< The bytes of each, in key order.
  std::string filter_damage = "";         ///< Why RocksDB reads the table only without filters.
};

/// Opens the table at `path`, also if its filters or its block index are damaged. RocksDB itself
/// handles footer, partitions, checksums, compression and format version. Replaces the factory of
/// block-based tables in `options`. Without filters if `reads_filters` is false, or the loaded
/// RocksDB has another interface for them. Errors: those of RocksDB.
rocksdb::Status OpenTable(rocksdb::Options options, const std::string& path, bool reads_filters,
                          OpenedTable* table);

/// Describes the filters of a table from their bytes, which are empty if it has none or RocksDB
/// cannot read them; these are unknown.
FilterReport ReportFilters(const rocksdb::TableProperties& properties,
                           const std::vector<std::string>& filters);

/// That of a block index; empty without one.
IndexReport ReportIndex(const OpenedBlockIndex& opened, const rocksdb::TableProperties& properties);

/// What ReadLiveFiles reads of files besides their table properties.
enum class FileParts {
  kNames,    ///< Filters, but only where properties do not tell their origin.
  kIndexes,  ///< Also block indexes, and filters of files that lack one and may answer for ranges.
  kFilters,  ///< Block indexes, and all filters.
};

/// Reads the files of a column family of an open database, in the order of levels; level 0 from the
/// newest to the oldest. Files that are written meanwhile may be missing. Keeps the filters and
/// block indexes of files that `*reports` has from an earlier call. Reads block indexes only if the
/// options have one. Errors: those of RocksDB.
rocksdb::Status ReadLiveFiles(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* column_family,
                              FileParts parts, std::vector<FileReport>* reports);

/// The entries of the file's filters, which include the prefixes of a prefix extractor, but not
/// those of the option `prefixes`; without a readable filter, the entries of the file.
uint64_t FilterKeys(const FileReport& file);

/// One tree for each column family, named after it, in which lookups check runs by the key ranges
/// of files, if they are known. The id of a file is its number in `files`, which are in the order
/// of ListFiles.
std::vector<Tree> BuildTrees(const std::vector<FileReport>& files);

/// Describes the filters of a table, stock ones and ours, from their bytes: one, or one per
/// partition. `num_entries` are the keys and prefixes in all filters. Sets kind, origin, sizes,
/// rate, note and problems of `report`. REQUIRES: there is a filter, and num_entries > 0.
void DescribeFilters(const std::vector<std::string>& filters, uint64_t num_entries,
                     FilterReport* report);

}  // namespace blocksieve::rocksdb_plugin
