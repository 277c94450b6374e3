#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "integration/toylsm/compaction.h"
#include "integration/toylsm/iterator.h"
#include "integration/toylsm/log.h"
#include "integration/toylsm/manifest.h"
#include "integration/toylsm/scan.h"
#include "integration/toylsm/write_batch.h"
#include "lib/base/errors.h"

namespace blocksieve::toylsm {

struct WriteOptions {
  /// The write survives a power loss when it returns. Without it, it survives the end of the
  /// process; after a power loss it may be gone, but then all later ones are gone too.
  bool sync = false;
};

/// A moment that can be read later. Keeps old versions of keys; must not outlive the database.
class Snapshot;

/// A log-structured merge tree. Thread-safe: any number of readers read while one thread at a time
/// writes; writers that wait meanwhile are written together and share one sync.
///
/// Flushes and compactions happen inside the call that makes them necessary: a write, or Open. That
/// call takes longer than it would with a thread for them, but every database and every failure can
/// be reproduced.
///
/// Memory that runs out is ResourceExhausted for what changes the database, a failure as any other.
/// Reads throw std::bad_alloc.
class Db {
 public:
  /// Errors: Corruption, NotSupported (a newer version), InvalidArgument (options),
  /// ResourceExhausted (the file system, memory; somebody else has the database open).
  static Result<std::unique_ptr<Db>> Open(const Options& options, const std::string& directory);

  /// Everything written is synced, if possible. Iterators, scans and snapshots must be gone.
  ~Db();

  /// After an error the write may or may not have happened, and the database may take no more
  /// writes: open it again. (InvalidArgument is no such error; the write did not happen.)
  Status Put(std::string_view key, std::string_view value, const WriteOptions& options = {});
  Status Delete(std::string_view key, const WriteOptions& options = {});
  Status Write(const WriteBatch& batch, const WriteOptions& options = {});

  /// All writes before it survive a power loss.
  Status Sync() { return Write({}, {.sync = true}); }

  /// Null snapshot: now. Nothing if there is no such key.
  Result<std::optional<std::string>> Get(std::string_view key, const Snapshot* at = nullptr);
  /// All at the same moment, in the order of `keys`.
  Result<std::vector<std::optional<std::string>>> MultiGet(std::span<const std::string_view> keys,
                                                           const Snapshot* at = nullptr);
  /// Of the keys in the range: with one that is short, filters may save most of its reads.
  std::unique_ptr<Iterator> NewIterator(const Snapshot* at = nullptr, const KeyRange& range = {});
  std::unique_ptr<toylsm::Scan> Scan(const Predicate& predicate, const Snapshot* at = nullptr,
                                     bool use_index = true, const KeyRange& range = {});
  std::unique_ptr<const Snapshot> GetSnapshot();

  Status Flush();
  /// Flushes, and merges all files into one run. `progress`, if set, is called now and then, from
  /// this thread, with the bytes that are merged so far, and all of them; it must not throw.
  using CompactionProgress = std::function<void(uint64_t done, uint64_t all)>;
  Status Compact(const CompactionProgress& progress = {});

  /// Reads everything: order, checksums, and that no filter and no skip index denies what is
  /// there. Errors: Corruption, ResourceExhausted.
  Status Verify();

  Counters& counters() { return counters_; }                          ///< of reads
  Counters& maintenance_counters() { return maintenance_counters_; }  ///< of compactions, Verify
  BlockCache& cache() { return cache_; }
  /// The files, as of now.
  std::shared_ptr<const Version> version() const;

 private:
  friend class Snapshot;

  // A write that waits for its turn.
  struct Waiting {
    const WriteBatch* batch;
    bool sync;
    bool is_done = false;  // and has succeeded
  };
  // Of those that wait, from the front on, as many as are written together.
  struct Group {
    WriteBatch batch;
    bool sync = false;
    size_t num_writes = 0;
  };

  Db(const Options& options, std::string directory);

  // Of opening (db_open.cc).
  Result<bool> HasManifest();
  Status TakeLock();
  Status Recover();
  Status CheckNothingIsThere(const std::vector<std::string>& names);
  void RemoveLeftovers(const std::vector<std::string>& names);

  // Calls change() with write_mutex_, unless an earlier change has failed. Memory that runs out is
  // a failure as any other: nothing may be built on what was left half done.
  template <class Change>
  Status MakeChange(const Change& change) {
    const std::lock_guard lock(write_mutex_);
    try {
      return failure_.ok() ? change() : failure_;
    } catch (const std::bad_alloc&) {
      return RememberFailure(internal::OutOfMemory());
    }
  }

  Group JoinQueue();

  // The following REQUIRE write_mutex_, and remember their failures.
  Status WriteGroup(const Group& group);
  Status Commit(const WriteBatch& batch, bool sync);
  Status FlushMemtable();
  Status CompactWhileNeeded();
  Status RunCompaction(const Compaction& compaction, const CompactionProgress& progress);
  /// `watch` is called with the number of entries so far.
  using EntryWatch = std::function<void(uint64_t entries)>;
  Result<SstFiles> WriteFiles(EntryIterator* entries, NeededVersions* needed,
                              const KeyFilterOptions& key_filter, int level, uint64_t max_bytes,
                              const EntryWatch& watch);
  Status Install(SstFiles files, std::shared_ptr<Memtable> memtable);
  Status RememberFailure(const Status& status);

  View ViewAt(const Snapshot* at) const;
  Result<std::optional<FoundEntry>> Find(const View& view, std::string_view key);
  std::vector<Sequence> SnapshotSequences() const;
  ReadContext read_context() { return {&counters_, &cache_}; }
  ReadContext maintenance_context() { return {&maintenance_counters_, nullptr}; }

  const Options options_;
  const std::string directory_;
  std::unique_ptr<FileLock> lock_;
  Counters counters_;
  Counters maintenance_counters_;
  BlockCache cache_;

  std::mutex queue_mutex_;  // guards the following; taken after write_mutex_
  std::deque<Waiting*> queue_;
  std::condition_variable turns_;  // some waiting write is done, or comes first

  std::mutex write_mutex_;  // guards the following; taken before view_mutex_
  Status failure_;          // the first one; no writes after it
  Manifest manifest_;       // as it is on disk, or about to be
  std::unique_ptr<LogWriter> log_;
  CompactionPicker picker_;

  mutable std::mutex view_mutex_;  // guards what readers begin with
  std::shared_ptr<const Version> version_;
  Sequence last_sequence_ = 0;
  std::multiset<Sequence> snapshots_;
};

class Snapshot {
 public:
  Snapshot(Db* db, Sequence sequence) : db_(db), sequence_(sequence) {}
  Snapshot(const Snapshot&) = delete;
  Snapshot& operator=(const Snapshot&) = delete;
  ~Snapshot();

  Sequence sequence() const { return sequence_; }

 private:
  Db* const db_;
  const Sequence sequence_;
};

}  // namespace blocksieve::toylsm
