#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <rocksdb/db.h>
#include <rocksdb/utilities/transaction_db.h>
#include <rocksdb/utilities/write_batch_with_index.h>

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "tests/rocksdb/random/reads.h"
#include "tests/rocksdb/random/settings.h"
#include "tests/support/temp_dir.h"

namespace blocksieve::testing {

/// Runs operations on a database in its own directory and on a map, the oracle, and compares what
/// each read shows. The verbs are those of the table in database.cc. An operation that makes no
/// sense where it stands does nothing, so that any part of a text can be run.
///
/// Where RocksDB may itself lose rows or bring back old ones (DeleteFilesInRange, RepairDB,
/// imports, and ingestion under universal compaction), the oracle is an iterator in total order,
/// for which RocksDB checks no filter.
class RandomDb {
 public:
  RandomDb(ReadTotals* totals, const Fault& fault = {});
  RandomDb(const RandomDb&) = delete;
  RandomDb& operator=(const RandomDb&) = delete;
  ~RandomDb() { Close(); }

  /// Runs the operations after those of the last call, until one fails. REQUIRES: they start with
  /// those of the last call.
  void Run(const Operations& text);

  bool has_failed() const { return comparer_.has_failed(); }
  std::string failure() const { return comparer_.failure(); }

  const Settings& settings() const { return *settings_; }
  const Rows& rows() const { return *rows_; }
  bool is_written_at_once() const { return batch_ != nullptr || transaction_ != nullptr; }

 private:
  // A past state for reads: a snapshot or, with timestamps, a time.
  struct Moment {
    RowsPtr rows;
    const rocksdb::Snapshot* snapshot = nullptr;
    std::string timestamp;
  };
  struct Entry {
    const char* verb;
    void (RandomDb::*run)(const Operation&);
    bool is_read = false;
    bool is_simple = is_read;  // begins nothing, and keeps the settings
  };
  static const Entry kEntries[];
  static const Entry* Find(const std::string& verb);
  static bool IsSimple(const Operation& operation);

  void RunOne(const Operation& operation);

  void Open(const Operation& operation);
  void Close();
  void Reopen(const Operation& operation);
  /// Ends the life of a repaired or an imported database, which is only read.
  void EndDetour();

  void Write(const Operation& operation);  // put, delete, merge, single_delete and delete_range
  void Apply(const Operation& operation, Rows* rows);
  void Begin(const Operation& operation);
  void Prepare(const Operation& operation);
  void End(const Operation& operation);  // commit and rollback
  void Flush(const Operation& operation);
  void Compact(const Operation& operation);
  void CompactFiles(const Operation& operation);
  void DeleteFiles(const Operation& operation);
  void Ingest(const Operation& operation);
  void IngestFrom(const Operation& operation, const std::vector<std::string>& paths,
                  const Operation& rows, bool is_db_generated);
  void Repair(const Operation& operation);
  void Import(const Operation& operation);
  void Rewrite(const Operation& operation);
  void PassPlace(const Operation& operation);
  void PassInChild(const Operation& operation, size_t end);
  void CheckFiles(const Operation& operation);
  void Snapshot(const Operation& operation);
  void Release(const Operation& operation);

  void Read(const Operation& operation);  // get, multiget, scan and multiscan
  void ReadElsewhere(const Operation& operation, const std::string& of);
  void SkipScan(const Operation& operation);
  void MakeDecision(const Operation& operation);
  void NewIterator(const Operation& operation);
  void MoveIterator(const Operation& operation);
  void RefreshIterator(const Operation& operation);

  // Threads that read at one snapshot after another.
  void StartThreads();
  void StopThreads();
  void ReadBeside(uint64_t seed);

  View MakeView(const Operation& operation);
  std::shared_ptr<ReadPruning> FindDecision(const Operation& operation, const View& view);
  RowsPtr Load(rocksdb::ColumnFamilyHandle* family, const rocksdb::Snapshot* snapshot = nullptr);
  Rows* Changed();
  void DropDecisions();
  void AdvanceTime();
  bool takes_files() const {
    return transactions_ == nullptr && !settings_->has_timestamps() && !settings_->Has("places");
  }
  ReadContext context() { return {&*settings_, &comparer_, &totals_}; }
  bool Must(const Operation& operation, const rocksdb::Status& status) {
    return comparer_.Must(operation, status);
  }

  ReadTotals& totals_;
  Fault fault_;
  Comparer comparer_{&fault_};
  const TempDir dir_;
  std::string path_ = dir_ / "db";  // or that of the parent process
  bool is_replaying_ = false;       // what a child process wrote, in the oracle
  const Operations* text_ = nullptr;
  size_t next_ = 0;  // in *text_

  std::optional<Settings> settings_;
  std::unique_ptr<rocksdb::DB> db_;
  rocksdb::TransactionDB* transactions_ = nullptr;  // the same object, if it is one
  std::shared_ptr<Rows> rows_;
  bool trusts_database_ = false;  // its iterators are the oracle
  bool is_repaired_ = false;
  bool loses_order_ = false;  // if it is repaired; once files were ingested
  bool has_entities_ = false;
  bool is_scanning_ = false;  // at a snapshot
  rocksdb::ColumnFamilyHandle* imported_ = nullptr;
  std::set<std::string> written_;               // since the last flush
  std::map<std::string, uint64_t> num_writes_;  // by key
  uint64_t time_ = 0;
  std::string now_;  // time_, as RocksDB encodes it; empty without timestamps
  uint64_t num_names_ = 0;
  Operation last_ingested_;
  std::string last_ingested_path_;

  // Writes that become visible at once.
  std::unique_ptr<rocksdb::WriteBatchWithIndex> batch_;
  std::unique_ptr<rocksdb::Transaction> transaction_;
  std::shared_ptr<Rows> changed_;

  std::map<std::string, Moment> moments_;
  std::map<std::string, std::shared_ptr<ReadPruning>> decisions_;
  std::map<std::string, std::unique_ptr<KeptIterator>> iterators_;

  std::atomic<bool> stop_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace blocksieve::testing
