#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "integration/toylsm/compaction.h"
#include "integration/toylsm/iterator.h"
#include "integration/toylsm/log.h"
#include "integration/toylsm/manifest.h"
#include "integration/toylsm/value_scan.h"

namespace blocksieve::toylsm {

struct WriteOptions {
  /// The write survives a power loss when it returns. If false, it survives only the end of the
  /// process; a power loss may drop it together with all later writes.
  bool sync = false;
};

/// A log-structured merge tree. Not thread-safe.
///
/// Flushes and compactions happen inside the call that makes them necessary: a write, or Open. This
/// call is slower than with a background thread, but every database and every failure can be
/// reproduced.
///
/// After a failed write, which may or may not have happened, the database refuses writes until it
/// is opened again, because its log may end in half a record.
class Db {
 public:
  /// Creates the database if there is none. Only one Db at a time may have a directory open.
  /// Errors: Corruption, InvalidArgument (options), ResourceExhausted (the file system).
  static Result<std::unique_ptr<Db>> Open(const Options& options, const std::string& directory);

  /// Errors: ResourceExhausted.
  Status Put(std::string_view key, std::string_view value, const WriteOptions& options = {}) {
    return Write({.key = key, .value = value}, options);
  }
  Status Delete(std::string_view key, const WriteOptions& options = {}) {
    return Write({.key = key, .value = std::nullopt}, options);
  }

  /// Returns nullopt if the key does not exist.
  Result<std::optional<std::string>> Get(std::string_view key);

  /// Iterates over the keys in a range. Range filters save reads of short ranges.
  std::unique_ptr<Iterator> NewIterator(const KeyRange& range = {});

  /// Iterates over the rows whose value matches. Skip indexes save reads.
  std::unique_ptr<ValueScan> Scan(const Predicate& predicate, bool use_index = true);

  /// Writes the memtable to a file.
  Status Flush();
  /// Flushes, and merges all files into one run.
  Status Compact();

  Counters& counters() { return counters_; }  ///< reads, without compactions
  BlockCache& cache() { return cache_; }
  std::shared_ptr<const Version> version() const { return version_; }

 private:
  Db(const Options& options, std::string directory);

  Status Recover();
  Status ReadManifestAndLog();

  // Runs `change` unless an earlier one has failed.
  template <class Change>
  Status MakeChange(const Change& change) {
    if (failure_.ok()) failure_ = change();
    return failure_;
  }
  Status Write(const Entry& entry, const WriteOptions& options);
  Status FlushMemtable();
  Status RunCompaction(const std::vector<Run>& inputs, int output_level);
  /// Writes entries to new files of `level`. These, `others` and `memtable` become the database.
  Status WriteRun(EntryIterator* entries, uint64_t num_entries, int level, SstFiles others,
                  std::shared_ptr<Memtable> memtable);
  Status Install(SstFiles files, std::shared_ptr<Memtable> memtable);
  void RemoveObsoleteFiles();

  ReadContext read_context() { return {&counters_, &cache_}; }
  // Compactions read each block once, so caching would only evict others.
  ReadContext compaction_context() { return {&compaction_counters_, nullptr}; }

  const Options options_;
  FileShares filter_shares_;
  const std::string directory_;
  Counters counters_;
  Counters compaction_counters_;
  BlockCache cache_;
  CompactionPicker picker_;
  Manifest manifest_;  // as on disk, or about to be written
  std::unique_ptr<LogWriter> log_;
  std::shared_ptr<const Version> version_ = std::make_shared<Version>();
  Status failure_;  // the first failed write
};

}  // namespace blocksieve::toylsm
