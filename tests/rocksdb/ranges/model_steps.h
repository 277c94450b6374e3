#pragma once

#include <rocksdb/db.h>
#include <rocksdb/utilities/transaction_db.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/rocksdb/ranges/checked_iterator.h"
#include "tests/rocksdb/ranges/concurrent_reads.h"
#include "tests/rocksdb/ranges/model_settings.h"
#include "tests/support/temp_dir.h"

namespace blocksieve::testing {

/// The steps of RunModel: model_writes.cc has those that write, model_reads.cc those that read.
class ModelRun {
 public:
  ModelRun(const ModelKind& kind, uint64_t seed, ModelReport* report)
      : kind_(kind),
        seed_(seed),
        dice_(seed),
        keys_(&dice_),
        traits_(kind, &dice_),
        opening_(kind, traits_, &dice_),
        report_(*report) {
    Open();
    WriteBatch();  // before anything is ingested
  }
  ModelRun(const ModelRun&) = delete;
  ModelRun& operator=(const ModelRun&) = delete;
  ~ModelRun() { Close(); }

  void Step();

 private:
  void Open();
  void Close();
  void Reopen();
  void StopReads();
  void DropIterators() { iterators_.clear(); }
  void DropSnapshots();

  // What is in the database changes.
  void WriteBatch();
  void WriteOne(rocksdb::WriteBatch* batch);
  void Commit();
  void Ingest();
  // Where it is changes.
  void Flush() { MustBeOk(db_->Flush({}), "flush"); }
  void Compact();
  // Nothing changes.
  void LookUp();
  void MoveIterator();
  void AddIterator();
  void AddOrDropSnapshot();
  void Refresh();
  void ScanShortly();
  void ScanAll();
  void ScanOverBatch();
  void ScanOtherInstance();
  void ScanFile();

  void Must(const rocksdb::Status& status, const char* what) {
    if (!status.ok()) report_.Wrong(std::string(what) + ": " + status.ToString());
  }
  std::string Value() { return "v" + std::to_string(next_value_++); }
  rocksdb::ColumnFamilyHandle* Family() const { return db_->DefaultColumnFamily(); }

  /// As an application sets them to have ranges filtered, or not.
  rocksdb::ReadOptions DrawRead();
  void SetTimestamp(rocksdb::ReadOptions* read) {
    if (kind_.timestamps) read->timestamp = &now_slice_;
  }
  void AdvanceTime();

  const ModelKind& kind_;
  const uint64_t seed_;
  Dice dice_;
  ModelKeys keys_;
  const ModelTraits traits_;
  ModelOpening opening_;
  ModelReport& report_;
  const TempDir dir_;
  const std::string path_ = dir_ / "db";

  RowModel model_;
  uint64_t next_value_ = 0;
  uint64_t next_single_ = 0;
  uint64_t time_ = 0;
  std::string now_;  // time_, as RocksDB encodes it
  rocksdb::Slice now_slice_;

  std::unique_ptr<rocksdb::DB> db_;
  rocksdb::TransactionDB* transactions_ = nullptr;  // the same, if it is one
  std::vector<RowView> snapshots_;
  std::vector<std::unique_ptr<CheckedIterator>> iterators_;
  std::optional<ConcurrentReads> reads_;
};

}  // namespace blocksieve::testing
