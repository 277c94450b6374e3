#include "tests/rocksdb/ranges/model_run.h"

#include <rocksdb/sst_file_reader.h>
#include <rocksdb/sst_file_writer.h>
#include <rocksdb/utilities/transaction_db.h>
#include <rocksdb/utilities/write_batch_with_index.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "integration/rocksdb/compat/file_deletions.h"
#include "integration/rocksdb/compat/open_db.h"
#include "tests/rocksdb/ranges/checked_iterator.h"
#include "tests/rocksdb/ranges/concurrent_reads.h"

namespace blocksieve::testing {
namespace {

constexpr size_t kMostIterators = 5;
constexpr size_t kMostSnapshots = 3;

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

void ModelRun::Open() {
  report_.where =
      std::string(kind_.name) + ", seed " + std::to_string(seed_) + ", " + opening_.name;
  const rocksdb::Options options = opening_.config.ToOptions();
  if (traits_.transactions) {
    MustBeOk(rocksdb::TransactionDB::Open(options, {}, path_, &transactions_), report_.where);
    db_.reset(transactions_);
  } else {
    MustBeOk(rocksdb_plugin::OpenDb(options, path_, &db_), report_.where);
  }
  AdvanceTime();
}

void ModelRun::Close() {
  StopReads();
  DropIterators();
  DropSnapshots();
  db_.reset();
}

void ModelRun::Reopen() {
  Close();
  opening_ = ModelOpening(kind_, traits_, &dice_);
  Open();
}

void ModelRun::StopReads() {
  if (reads_) reads_->Stop(&report_);
  reads_.reset();
}

void ModelRun::DropSnapshots() {
  for (const RowView& view : snapshots_) {
    if (view.snapshot != nullptr) db_->ReleaseSnapshot(view.snapshot);
  }
  snapshots_.clear();
}

void ModelRun::AdvanceTime() {
  ++time_;
  now_.assign(sizeof(time_), '\0');
  std::memcpy(now_.data(), &time_, sizeof(time_));  // as EncodeU64Ts on little-endian
  now_slice_ = now_;
}

void ModelRun::Step() {
  if (kind_.reads_in_threads && !reads_) {
    reads_.emplace(db_.get(), 2, kind_.timestamps, kind_.plain_reads, dice_.Bits());
  }
  const uint64_t dice = dice_.Below(1000);
  if (dice < 230) {
    WriteBatch();
  } else if (dice < 260) {
    LookUp();
  } else if (dice < 750) {
    MoveIterator();
  } else if (dice < 910) {
    ScanShortly();
  } else if (dice < 920) {
    AddOrDropSnapshot();
  } else if (dice < 930) {
    Refresh();
  } else if (dice < 945) {
    Flush();
  } else if (dice < 948) {
    Compact();
  } else if (dice < 952) {
    Ingest();
  } else if (dice < 953) {
    Reopen();
  } else if (dice < 963) {
    Commit();
  } else if (dice < 980) {
    ScanOverBatch();
  } else if (dice < 981) {
    ScanOtherInstance();
  } else if (dice < 985) {
    ScanFile();
  } else if (dice < 986) {
    ScanAll();
  }
}

void ModelRun::WriteBatch() {
  AdvanceTime();
  rocksdb::WriteBatch batch;
  for (uint64_t left = 1 + dice_.Below(8); left > 0; --left) WriteOne(&batch);
  Must(db_->Write({}, &batch), "write");
}

void ModelRun::WriteOne(rocksdb::WriteBatch* batch) {
  ++report_.operations;
  const std::string& key = keys_.Any();
  const uint64_t dice = dice_.Below(100);
  if (dice < 55 || (dice >= 82 && !traits_.merges && !traits_.deletes_ranges)) {
    const std::string value = Value();
    Must(kind_.timestamps ? batch->Put(Family(), key, now_, value) : batch->Put(key, value), "put");
    model_.Put(key, value);
  } else if (dice < 82) {
    Must(kind_.timestamps ? batch->Delete(Family(), key, now_) : batch->Delete(key), "delete");
    model_.Delete(key);
  } else if (traits_.merges) {
    const std::string operand = "m" + std::to_string(next_value_++);
    Must(batch->Merge(key, operand), "merge");
    model_.Append(key, operand);
  } else if (dice < 97) {
    // A key that is written once, as it has to be.
    const std::string single = keys_.Any() + "single" + std::to_string(next_single_++);
    Must(batch->Put(single, "single"), "put");
    if (dice_.OneIn(2)) {
      Must(db_->Write({}, batch), "write");
      batch->Clear();
      Flush();
    }
    Must(batch->SingleDelete(single), "single delete");
  } else {
    auto [begin, end] = keys_.Range();
    if (!dice_.OneIn(3)) {  // a few rows
      const auto& rows = model_.map();
      auto last = rows.lower_bound(begin);
      for (uint64_t left = dice_.Below(20); left > 0 && last != rows.end(); --left) ++last;
      if (last != rows.end()) end = last->first;
    }
    if (begin < end) {
      Must(batch->DeleteRange(begin, end), "delete range");
      model_.DeleteRange(begin, end);
    }
  }
}

void ModelRun::Commit() {
  if (transactions_ == nullptr) return;
  const std::unique_ptr<rocksdb::Transaction> transaction(transactions_->BeginTransaction({}));
  RowModel changed = model_;
  for (uint64_t left = 1 + dice_.Below(10); left > 0; --left) {
    ++report_.operations;
    const std::string& key = keys_.Any();
    if (dice_.OneIn(3)) {
      Must(transaction->Delete(key), "delete");
      changed.Delete(key);
    } else {
      const std::string value = Value();
      Must(transaction->Put(key, value), "put");
      changed.Put(key, value);
    }
  }
  const auto [begin, end] = keys_.Range();
  const rocksdb::Slice bound(end);
  rocksdb::ReadOptions read = DrawRead();
  read.iterate_upper_bound = &bound;
  std::unique_ptr<rocksdb::Iterator> iterator(transaction->GetIterator(read));
  CheckScan(iterator.get(), *changed.Now(), begin, end, "a scan in a transaction", &report_);
  iterator.reset();
  if (dice_.OneIn(3)) return;  // rolled back
  Must(transaction->Commit(), "commit");
  model_ = changed;
}

void ModelRun::Ingest() {
  if (!traits_.ingests) return;
  DropIterators();
  DropSnapshots();
  const rocksdb::Options options = opening_.config.ToOptions();
  rocksdb::SstFileWriter writer(rocksdb::EnvOptions(), options);
  const std::string path = dir_ / "ingested.sst";
  Must(writer.Open(path), "a file to ingest");
  RowModel::Map rows;
  for (uint64_t left = 1 + dice_.Below(15); left > 0; --left) rows[keys_.Any()] = Value();
  for (const auto& [key, value] : rows) Must(writer.Put(key, value), "a row to ingest");
  if (traits_.deletes_ranges && dice_.OneIn(4)) {
    const auto [begin, end] = keys_.Range();
    if (begin < end) {
      Must(writer.DeleteRange(begin, end), "a range to delete by ingesting");
      model_.DeleteRange(begin, end);  // not the rows of the same file
    }
  }
  Must(writer.Finish(), "a file to ingest");
  rocksdb::IngestExternalFileOptions ingest;
  ingest.move_files = true;
  Must(db_->IngestExternalFile({path}, ingest), "ingest");
  for (const auto& [key, value] : rows) model_.Put(key, value);
  report_.operations += rows.size();
}

void ModelRun::Compact() {
  const auto [begin, end] = keys_.Range();
  const rocksdb::Slice first(begin);
  const rocksdb::Slice last(end);
  rocksdb::CompactRangeOptions options;
  if (dice_.OneIn(2)) {
    options.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForceOptimized;
  }
  bool everything = dice_.OneIn(3);
  rocksdb::Slice oldest;
  if (kind_.timestamps && !kind_.reads_in_threads && dice_.OneIn(4)) {
    DropIterators();
    DropSnapshots();
    oldest = now_slice_;
    options.full_history_ts_low = &oldest;
    everything = true;
  }
  Must(db_->CompactRange(options, everything ? nullptr : &first, everything ? nullptr : &last),
       "compact");
}

void ModelRun::LookUp() {
  const auto check = [&](const std::string& key, const rocksdb::Status& status,
                         const std::string& value, const char* how) {
    ++report_.operations;
    const auto row = model_.map().find(key);
    const bool is_there = row != model_.map().end();
    if (is_there ? status.ok() && value == row->second : status.IsNotFound()) return;
    report_.Wrong(std::string(how) + " of '" + Hex(key) + "': " + status.ToString() +
                  (is_there ? ", but it is " + row->second : ", but it is not there"));
  };
  rocksdb::ReadOptions read;
  SetTimestamp(&read);
  for (int i = 0; i < 10; ++i) {
    const std::string key = dice_.OneIn(5) ? "" : dice_.OneIn(4) ? keys_.Near() : keys_.Any();
    read.total_order_seek = dice_.OneIn(8);
    std::string value;
    const rocksdb::Status status = db_->Get(read, key, &value);
    check(key, status, value, "Get");
  }
  constexpr size_t kKeys = 12;
  std::vector<std::string> keys;
  for (size_t i = 0; i < kKeys; ++i) keys.push_back(dice_.OneIn(5) ? "" : keys_.Any());
  const std::vector<rocksdb::Slice> slices(keys.begin(), keys.end());
  rocksdb::PinnableSlice values[kKeys];
  rocksdb::Status statuses[kKeys];
  read.total_order_seek = false;
  db_->MultiGet(read, Family(), kKeys, slices.data(), values, statuses);
  for (size_t i = 0; i < kKeys; ++i) check(keys[i], statuses[i], values[i].ToString(), "MultiGet");
}

rocksdb::ReadOptions ModelRun::DrawRead() {
  rocksdb::ReadOptions read;
  read.auto_prefix_mode = dice_.Below(10) < (kind_.plain_reads ? 2 : 7);
  read.total_order_seek = dice_.OneIn(10);
  read.prefix_same_as_start = dice_.OneIn(12);
  if (opening_.has_other_extractor) {
    read.prefix_same_as_start = false;
    if (!read.auto_prefix_mode) read.total_order_seek = true;
  }
  read.pin_data = !kind_.timestamps && dice_.OneIn(8);
  read.fill_cache = !dice_.OneIn(4);
  read.readahead_size = dice_.OneIn(8) ? 4096 : 0;
  read.adaptive_readahead = dice_.OneIn(4);
  read.verify_checksums = dice_.OneIn(2);
  if (dice_.OneIn(10)) read.table_filter = [](const rocksdb::TableProperties&) { return true; };
  SetTimestamp(&read);
  return read;
}

void ModelRun::AddIterator() {
  IteratorSettings settings;
  settings.read = DrawRead();
  settings.goes_back = !traits_.deletes_ranges;
  if (dice_.OneIn(4)) settings.bounds.lower = keys_.Near();
  if (!dice_.OneIn(6)) settings.bounds.upper = keys_.Near();
  if (settings.bounds.lower && settings.bounds.upper &&
      *settings.bounds.upper < *settings.bounds.lower) {
    std::swap(settings.bounds.lower, settings.bounds.upper);
  }
  if (dice_.OneIn(12)) {
    settings.read.read_tier = rocksdb::kBlockCacheTier;
    settings.read.pin_data = false;
  }
  RowView view{model_.Now(), nullptr, kind_.timestamps ? now_ : ""};
  if (traits_.has_tailing && dice_.OneIn(3) && !opening_.has_other_extractor) {
    settings.read.tailing = true;
    settings.read.pin_data = false;
    settings.read.read_tier = rocksdb::kReadAllTier;
    settings.bounds.lower.reset();
    settings.moves_bound = false;
    settings.goes_back = false;
  } else if (!snapshots_.empty() && dice_.OneIn(3)) {
    view = snapshots_[dice_.Below(snapshots_.size())];
  }
  iterators_.push_back(std::make_unique<CheckedIterator>(
      db_.get(), std::move(settings), std::move(view), &keys_, &dice_, &report_));
}

void ModelRun::MoveIterator() {
  if (iterators_.size() >= kMostIterators && dice_.OneIn(60)) {
    iterators_.erase(iterators_.begin() + static_cast<ptrdiff_t>(dice_.Below(kMostIterators)));
  }
  if (iterators_.size() < kMostIterators) AddIterator();
  CheckedIterator& iterator = *iterators_[dice_.Below(iterators_.size())];
  if (iterator.is_tailing()) iterator.Follow(model_.Now());
  for (uint64_t left = 1 + dice_.Below(6); left > 0; --left) iterator.Move();
}

void ModelRun::AddOrDropSnapshot() {
  if (snapshots_.size() < kMostSnapshots) {
    // With timestamps, a time is enough.
    snapshots_.push_back(kind_.timestamps ? RowView{model_.Now(), nullptr, now_}
                                          : RowView{model_.Now(), db_->GetSnapshot(), ""});
    return;
  }
  const rocksdb::Snapshot* const dropped = snapshots_.front().snapshot;
  snapshots_.erase(snapshots_.begin());
  if (dropped == nullptr) return;
  std::erase_if(iterators_, [&](const auto& each) { return each->snapshot() == dropped; });
  db_->ReleaseSnapshot(dropped);
}

void ModelRun::Refresh() {
  // With a timestamp an iterator stays at its time.
  if (iterators_.empty() || kind_.timestamps || traits_.deletes_ranges) return;
  CheckedIterator& iterator = *iterators_[dice_.Below(iterators_.size())];
  if (iterator.can_refresh()) iterator.Refresh(model_.Now());
}

// As most applications do it: an iterator for one range.
void ModelRun::ScanShortly() {
  for (int i = 0; i < 4; ++i) {
    const auto [begin, end] = keys_.Range();
    const rocksdb::Slice bound(end);
    rocksdb::ReadOptions read;
    read.iterate_upper_bound = &bound;
    read.auto_prefix_mode = !kind_.plain_reads || opening_.has_other_extractor;
    SetTimestamp(&read);
    const std::unique_ptr<rocksdb::Iterator> iterator(db_->NewIterator(read));
    CheckScan(iterator.get(), *model_.Now(), begin, end, "a short scan", &report_);
  }
}

void ModelRun::ScanAll() {
  rocksdb::ReadOptions read = DrawRead();
  const std::unique_ptr<rocksdb::Iterator> iterator(db_->NewIterator(read));
  CheckScan(iterator.get(), *model_.Now(), "", std::string(100, '\xff'), "a scan of all", &report_);
}

void ModelRun::ScanOverBatch() {
  if (kind_.timestamps) return;
  rocksdb::WriteBatchWithIndex batch(rocksdb::BytewiseComparator(), 0, /*overwrite_key=*/true);
  RowModel changed = model_;
  for (uint64_t left = dice_.Below(10); left > 0; --left) {
    ++report_.operations;
    const std::string& key = keys_.Any();
    if (dice_.OneIn(3)) {
      Must(batch.Delete(key), "delete");
      changed.Delete(key);
    } else {
      Must(batch.Put(key, "batch"), "put");
      changed.Put(key, "batch");
    }
  }
  for (int i = 0; i < 4; ++i) {
    const auto [begin, end] = keys_.Range();
    const rocksdb::Slice bound(end);
    rocksdb::ReadOptions read = DrawRead();
    read.iterate_upper_bound = &bound;
    const std::unique_ptr<rocksdb::Iterator> iterator(
        batch.NewIteratorWithBase(Family(), db_->NewIterator(read), &read));
    CheckScan(iterator.get(), *changed.Now(), begin, end, "a scan over a batch", &report_);
  }
}

void ModelRun::ScanOtherInstance() {
  const rocksdb_plugin::NoFileDeletions keep(db_.get());
  // RocksDB wants it so for a secondary.
  rocksdb::Options options = opening_.config.ToOptions();
  options.max_open_files = -1;
  const bool read_only = dice_.OneIn(2);
  const std::unique_ptr<rocksdb::DB> other =
      read_only ? OpenReadOnly(options, path_) : OpenSecondary(options, path_, dir_ / "secondary");
  for (int i = 0; i < 50; ++i) {
    const auto [begin, end] = keys_.Range();
    const rocksdb::Slice bound(end);
    rocksdb::ReadOptions read = DrawRead();
    read.iterate_upper_bound = &bound;
    const std::unique_ptr<rocksdb::Iterator> iterator(other->NewIterator(read));
    CheckScan(iterator.get(), *model_.Now(), begin, end,
              read_only ? "a scan of a read-only instance" : "a scan of a secondary", &report_);
  }
}

void ModelRun::ScanFile() {
  if (kind_.timestamps) return;
  const rocksdb_plugin::NoFileDeletions keep(db_.get());
  std::vector<rocksdb::LiveFileMetaData> files;
  db_->GetLiveFilesMetaData(&files);
  if (files.empty()) return;
  const rocksdb::LiveFileMetaData& file = files[dice_.Below(files.size())];
  rocksdb::SstFileReader reader(opening_.config.ToOptions());
  Must(reader.Open(file.db_path + file.name), "a file");
  rocksdb::ReadOptions all;
  all.total_order_seek = true;
  Rows rows;
  std::unique_ptr<rocksdb::Iterator> iterator(reader.NewIterator(all));
  for (iterator->SeekToFirst(); iterator->Valid(); iterator->Next()) {
    rows.emplace_back(iterator->key().ToString(), iterator->value().ToString());
  }
  for (int i = 0; i < 20; ++i) {
    const auto [begin, end] = keys_.Range();
    const rocksdb::Slice bound(end);
    rocksdb::ReadOptions read = DrawRead();
    read.iterate_upper_bound = &bound;
    iterator.reset(reader.NewIterator(read));
    CheckScan(iterator.get(), rows, begin, end, "a scan of one file", &report_);
  }
}

}  // namespace

void RunModel(const ModelKind& kind, uint64_t seed, uint64_t operations, ModelReport* report) {
  ModelRun run(kind, seed, report);
  const uint64_t end = report->operations + operations;
  while (report->operations < end && report->num_wrong == 0) run.Step();
}

}  // namespace blocksieve::testing
