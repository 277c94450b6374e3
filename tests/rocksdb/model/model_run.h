#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>
#include <rocksdb/db.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "blocksieve/rocksdb/prune_reads.h"
#include "tests/rocksdb/model/model_settings.h"
#include "tests/support/temp_dir.h"

namespace blocksieve::testing {

/// Counts of a run, in all threads. A wrong answer is a failure of the test.
struct ModelCounts {
  std::atomic<uint64_t> operations = 0;
  std::atomic<uint64_t> seeks = 0;
};

/// Creates an iterator over the compared data.
using MakeIterator = std::function<std::unique_ptr<rocksdb::Iterator>(const rocksdb::ReadOptions&)>;

/// [lower, upper)
struct Bounds {
  std::optional<std::string> lower;
  std::optional<std::string> upper;
};

/// An iterator that uses filters, and one in total order, for which RocksDB checks no prefix
/// filter. Both make the same moves, and must be at the same row after each.
class TwinIterator {
 public:
  TwinIterator(const MakeIterator& make, rocksdb::ReadOptions read, Bounds bounds,
               ModelCounts* counts);
  TwinIterator(const TwinIterator&) = delete;
  TwinIterator& operator=(const TwinIterator&) = delete;

  void Seek(const std::string& key);
  void SeekForPrev(const std::string& key);
  /// Any other move.
  void Both(const std::string& what, const std::function<void(rocksdb::Iterator*)>& move);
  void Refresh();

  /// Changes the upper bound, if it is set. REQUIRES: a seek follows.
  void MoveBound(const std::string& upper);

  /// Whether both are at the same row.
  bool is_at_row() const { return is_at_row_; }
  void ForgetRow() { is_at_row_ = false; }

  const rocksdb::ReadOptions& read() const { return read_; }
  const Bounds& bounds() const { return bounds_; }

 private:
  std::string Describe() const;

  rocksdb::ReadOptions read_;
  Bounds bounds_;
  rocksdb::Slice lower_;
  rocksdb::Slice upper_;
  ModelCounts& counts_;
  std::unique_ptr<rocksdb::Iterator> filtered_;
  std::unique_ptr<rocksdb::Iterator> plain_;
  bool is_at_row_ = false;
};

/// Scans from `begin` to `end` with a new iterator, as most applications do.
void CompareScan(const MakeIterator& make, const rocksdb::ReadOptions& read,
                 const std::string& begin, const std::string& end, ModelCounts* counts);

/// Random operations on a database in its own directory. Compares lookups and full scans with a
/// map, and every move of an iterator with one in total order. model_reads.cc has the steps
/// that only read.
class ModelRun {
 public:
  ModelRun(const ModelKind& kind, uint64_t seed, ModelCounts* counts);
  ModelRun(const ModelRun&) = delete;
  ModelRun& operator=(const ModelRun&) = delete;
  ~ModelRun() { Close(); }

  void Step();

 private:
  using Map = std::map<std::string, std::string>;

  // A past state for reads: a snapshot or, with timestamps, a time.
  struct Moment {
    const rocksdb::Snapshot* snapshot = nullptr;
    std::string timestamp;
  };

  // An iterator over several steps.
  struct OpenIterator {
    Moment moment;
    rocksdb::Slice timestamp;
    std::unique_ptr<TwinIterator> twin;
    uint64_t num_changes = 0;  // when a tailing iterator was last at a row
  };

  void Open();
  void Close();
  void Reopen();

  // Steps that change the contents.
  void WriteBatch();
  void WriteOne(rocksdb::WriteBatch* batch);
  void Commit();
  void Ingest();
  // Steps that move contents between files.
  void Flush() { MustBeOk(db_->Flush({}), "flush"); }
  void Compact();
  // Steps that only read.
  void LookUp();
  void AddIterator();
  void MoveIterator();
  void MoveOnce(OpenIterator* iterator);
  std::string SeekKey(const Bounds& bounds);
  void AddOrDropSnapshot();
  void DropSnapshots();
  void Refresh();
  void ScanShortly();
  void ScanAll();
  void ScanRanges();
  void ScanOverBatch();
  void ScanOtherInstance();
  void ScanFile();
  // Threads with short scans at one snapshot after another.
  void StartReads();
  void StopReads();
  void ReadBeside(uint64_t seed);

  void Must(const rocksdb::Status& status, const char* what) {
    EXPECT_TRUE(status.ok()) << what << ": " << status.ToString();
  }
  std::string Value() { return "v" + std::to_string(next_value_++); }
  rocksdb::ColumnFamilyHandle* Family() const { return db_->DefaultColumnFamily(); }
  MakeIterator Iterators(rocksdb::DB* db) const {
    return [db](const auto& read) {
      return std::unique_ptr<rocksdb::Iterator>(db->NewIterator(read));
    };
  }
  /// `times` short scans, with or without the options that use range filters.
  void CompareScans(int times, const MakeIterator& make);

  rocksdb::ReadOptions DrawRead();
  void SetTimestamp(rocksdb::ReadOptions* read) {
    if (kind_.timestamps) read->timestamp = &now_slice_;
  }
  void AdvanceTime();

  const ModelKind& kind_;
  Dice dice_;
  ModelKeys keys_;
  const ModelTraits traits_;
  ModelOpening opening_;
  ModelCounts& counts_;
  const TempDir dir_;
  const std::string path_ = dir_ / "db";

  Map map_;
  uint64_t num_changes_ = 0;
  uint64_t next_value_ = 0;
  uint64_t next_single_ = 0;
  uint64_t time_ = 0;
  std::string now_;  // time_, as RocksDB encodes it
  rocksdb::Slice now_slice_;

  std::unique_ptr<rocksdb::DB> db_;
  std::vector<std::shared_ptr<ReadPruning>> prunings_;  // of reads by a block index
  rocksdb::TransactionDB* transactions_ = nullptr;      // the same object, if it is one
  std::vector<Moment> moments_;
  std::list<OpenIterator> iterators_;

  std::atomic<bool> stop_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace blocksieve::testing
