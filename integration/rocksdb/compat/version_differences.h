#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <rocksdb/cache.h>
#include <rocksdb/comparator.h>
#include <rocksdb/db.h>
#include <rocksdb/merge_operator.h>
#include <rocksdb/options.h>
#include <rocksdb/sst_file_reader.h>
#include <rocksdb/table_properties.h>
#include <rocksdb/types.h>
#include <rocksdb/version.h>
// The members of rocksdb::Cache are declared here since 8.0.
#if __has_include(<rocksdb/advanced_cache.h>)
#include <rocksdb/advanced_cache.h>
#endif

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

// Small differences between versions and builds of RocksDB.

// Since RocksDB 9.3, all entries of an SST can be read as stored. Before, an SstFileReader shows
// only the newest version of each row, no deletes, and no types.
#if ROCKSDB_MAJOR > 9 || (ROCKSDB_MAJOR == 9 && ROCKSDB_MINOR >= 3)
#define BLOCKSIEVE_READS_ALL_VERSIONS 1
#include <rocksdb/utilities/types_util.h>
#else
#define BLOCKSIEVE_READS_ALL_VERSIONS 0
#endif

namespace blocksieve::rocksdb_plugin {

inline constexpr bool kReadsAllVersions = BLOCKSIEVE_READS_ALL_VERSIONS;

/// Calls add(user key, value, type, sequence number) for each point entry of an open SST, in file
/// order, until it returns false. The key has no timestamp. Needs no values, so that blobs, for
/// which iterators of RocksDB 11.9 crash where they are columns of entities, stay references.
template <class Add>
rocksdb::Status ForEachEntry(rocksdb::SstFileReader* reader,
                             [[maybe_unused]] const rocksdb::Comparator* comparator, Add add) {
#if BLOCKSIEVE_READS_ALL_VERSIONS
  const auto entries = reader->NewTableIterator();
  for (entries->SeekToFirst(); entries->Valid(); entries->Next()) {
    rocksdb::ParsedEntryInfo entry;
    rocksdb::Status status = rocksdb::ParseEntry(entries->key(), comparator, &entry);
    if (!status.ok()) return status;
    if (!add(entry.user_key, entries->value(), entry.type, entry.sequence)) break;
  }
  return entries->status();
#else
  rocksdb::ReadOptions options;
  options.total_order_seek = true;
  options.fill_cache = false;
  const std::string latest(comparator->timestamp_size(), '\xff');
  const rocksdb::Slice timestamp = latest;
  if (!latest.empty()) options.timestamp = &timestamp;
  const std::unique_ptr<rocksdb::Iterator> rows(reader->NewIterator(options));
  for (rows->SeekToFirst(); rows->Valid(); rows->Next()) {
    if (!add(rows->key(), rows->value(), rocksdb::kEntryPut, rocksdb::SequenceNumber{0})) break;
  }
  return rows->status();
#endif
}

/// The first user key of an open SST that is `key` or later, without timestamp, or nullopt; since
/// RocksDB 9.3 as stored, so that deletes count. `*kept` is for the next call.
inline std::optional<std::string> FindKey(rocksdb::SstFileReader* reader,
                                          [[maybe_unused]] const rocksdb::ReadOptions& options,
                                          [[maybe_unused]] const rocksdb::Comparator* comparator,
                                          const rocksdb::Slice& key,
                                          std::unique_ptr<rocksdb::Iterator>* kept) {
#if BLOCKSIEVE_READS_ALL_VERSIONS
  if (*kept == nullptr) *kept = reader->NewTableIterator();
  std::string internal_key;
  rocksdb::ParsedEntryInfo entry;
  if (!rocksdb::GetInternalKeyForSeek(key, comparator, &internal_key).ok()) return std::nullopt;
  (*kept)->Seek(internal_key);
  if (!(*kept)->Valid() || !rocksdb::ParseEntry((*kept)->key(), comparator, &entry).ok())
    return std::nullopt;
  return entry.user_key.ToString();
#else
  if (*kept == nullptr) kept->reset(reader->NewIterator(options));
  (*kept)->Seek(key);
  return (*kept)->Valid() ? std::optional((*kept)->key().ToString()) : std::nullopt;
#endif
}

/// Makes flushes and compactions copy the operands of a merge that fails. Returns false before
/// RocksDB 7.10, where they fail with it.
template <class Output = rocksdb::MergeOperator::MergeOperationOutput>
constexpr bool CopyOperands([[maybe_unused]] Output* output = nullptr) {
  if constexpr (requires { output->op_failure_scope; }) {
    if (output != nullptr)
      output->op_failure_scope = decltype(output->op_failure_scope)::kMustMerge;
    return true;
  }
  return false;
}

using TableFilter = std::function<bool(const rocksdb::TableProperties&)>;

/// Lets iterators with `options` read only the tables that `filter` accepts. It must outlive them.
template <class Options>
void SetTableFilter(const TableFilter& filter, Options* options) {
  if constexpr (std::is_pointer_v<decltype(options->table_filter)>) {
    options->table_filter = &filter;  // since RocksDB 11.9
  } else {
    options->table_filter = filter;
  }
}

// The function, or an empty one. A copy, as programs keep a pointed-to one only for their
// iterators.
inline TableFilter ToTableFilter(const TableFilter& option) { return option; }
inline TableFilter ToTableFilter(const TableFilter* option) {
  return option == nullptr ? TableFilter() : *option;
}

/// Keeps readahead from reading blocks that an index leaves out: with this option, RocksDB reads
/// from the first to the last of as many blocks as readahead_size takes, and what is between them.
template <class Options>
void ReadNoBlocksBetween([[maybe_unused]] Options* options) {
  if constexpr (requires { options->auto_readahead_size; }) options->auto_readahead_size = false;
}

/// Whether files may be ingested below all others; since RocksDB 10.2 by column family.
template <class Options>
bool AllowsIngestBehind(const Options& options) {
  if constexpr (requires { options.cf_allow_ingest_behind; }) {
    if (options.cf_allow_ingest_behind) return true;
  }
  return options.allow_ingest_behind;
}

/// Whether iterators turn runs of tombstones into range deletes, and must see every row for it.
template <class Options>
bool ConvertsTombstones([[maybe_unused]] const Options& options) {
  if constexpr (requires { options.min_tombstones_for_range_conversion; }) {
    return options.min_tombstones_for_range_conversion != 0;
  }
  return false;
}

/// Keeps the database from deleting files. Does nothing for read-only databases, which never do.
class NoFileDeletions {
 public:
  explicit NoFileDeletions(rocksdb::DB* db) : db_(db), status_(db->DisableFileDeletions()) {
    is_needed_ = !status_.IsNotSupported();
    if (!is_needed_) status_ = rocksdb::Status::OK();
  }
  NoFileDeletions(const NoFileDeletions&) = delete;
  NoFileDeletions& operator=(const NoFileDeletions&) = delete;
  ~NoFileDeletions() {
    if (is_needed_ && status_.ok()) Enable(db_).PermitUncheckedError();
  }

  const rocksdb::Status& status() const { return status_; }

 private:
  // Until RocksDB 9.0 with an argument, whose default (true) also undoes the calls of others.
  template <class Db>
  static rocksdb::Status Enable(Db* db) {
    if constexpr (requires { db->EnableFileDeletions(false); }) {
      return db->EnableFileDeletions(false);
    } else {
      return db->EnableFileDeletions();
    }
  }

  rocksdb::DB* const db_;
  rocksdb::Status status_;
  bool is_needed_ = true;
};

// rocksdb::DB::Open returns a DB*; since RocksDB 9.11 also a unique_ptr, and since 11.0 only that.

template <class Pointer>
concept OpensInto = requires(const rocksdb::Options& options, const std::string& path,
                             Pointer* db) {
  rocksdb::DB::Open(options, path, db);
};

/// The type that the functions of rocksdb::DB return for an opened database.
using OpenedDb = std::conditional_t<OpensInto<std::unique_ptr<rocksdb::DB>>,
                                    std::unique_ptr<rocksdb::DB>, rocksdb::DB*>;

/// Opens a database with `open`, a function of an OpenedDb*. `*db` is null unless it succeeds.
template <class Open>
rocksdb::Status OpenDb(std::unique_ptr<rocksdb::DB>* db, const Open& open) {
  OpenedDb opened = nullptr;
  rocksdb::Status status = open(&opened);
  // NOLINTNEXTLINE(performance-move-const-arg): a unique_ptr in newer versions.
  *db = std::unique_ptr<rocksdb::DB>(std::move(opened));
  return status;
}

/// rocksdb::DB::Open
inline rocksdb::Status OpenDb(const rocksdb::Options& options, const std::string& path,
                              std::unique_ptr<rocksdb::DB>* db) {
  return OpenDb(db, [&](OpenedDb* opened) { return rocksdb::DB::Open(options, path, opened); });
}

/// `object` if it is of class `Ours`, otherwise null: dynamic_cast without run-time type
/// information, which RocksDB's release builds lack. Names are compared by address, because another
/// version of blocksieve in the process has classes of the same names with other members. So kName
/// must be defined in a source file: compilers may copy a constant of a header.
template <class Ours, class Interface>
requires std::is_array_v<decltype(Ours::kName)>
const Ours* As(const Interface* object) {
  return object != nullptr && object->Name() == Ours::kName ? static_cast<const Ours*>(object)
                                                            : nullptr;
}

}  // namespace blocksieve::rocksdb_plugin
