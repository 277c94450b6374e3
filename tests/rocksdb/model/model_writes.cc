#include <rocksdb/sst_file_writer.h>

#include "tests/rocksdb/model/model_run.h"

namespace blocksieve::testing {

void ModelRun::WriteBatch() {
  AdvanceTime();
  ++num_changes_;
  rocksdb::WriteBatch batch;
  for (uint64_t left = 1 + dice_.Below(8); left > 0; --left) WriteOne(&batch);
  Must(db_->Write({}, &batch), "write");
}

void ModelRun::WriteOne(rocksdb::WriteBatch* batch) {
  ++counts_.operations;
  const std::string& key = keys_.Any();
  const uint64_t dice = dice_.Below(100);
  if (dice < 55 || (dice >= 82 && !traits_.merges && !traits_.deletes_ranges)) {
    const std::string value = Value();
    Must(kind_.timestamps ? batch->Put(Family(), key, now_, value) : batch->Put(key, value), "put");
    map_[key] = value;
  } else if (dice < 82) {
    Must(kind_.timestamps ? batch->Delete(Family(), key, now_) : batch->Delete(key), "delete");
    map_.erase(key);
  } else if (traits_.merges) {
    const std::string operand = "m" + std::to_string(next_value_++);
    Must(batch->Merge(key, operand), "merge");
    MergeInto(&map_[key], operand);
  } else if (dice < 97) {
    // SingleDelete requires a key that was written once.
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
      auto last = map_.lower_bound(begin);
      for (uint64_t left = dice_.Below(20); left > 0 && last != map_.end(); --left) ++last;
      if (last != map_.end()) end = last->first;
    }
    if (begin < end) {
      Must(batch->DeleteRange(begin, end), "delete range");
      map_.erase(map_.lower_bound(begin), map_.lower_bound(end));
    }
  }
}

void ModelRun::Commit() {
  if (transactions_ == nullptr) return;
  ++num_changes_;
  const std::unique_ptr<rocksdb::Transaction> transaction(transactions_->BeginTransaction({}));
  Map changed = map_;
  for (uint64_t left = 1 + dice_.Below(10); left > 0; --left) {
    ++counts_.operations;
    const std::string& key = keys_.Any();
    if (dice_.OneIn(3)) {
      Must(transaction->Delete(key), "delete");
      changed.erase(key);
    } else {
      changed[key] = Value();
      Must(transaction->Put(key, changed[key]), "put");
    }
  }
  CompareScans(1, [&](const rocksdb::ReadOptions& read) {
    return std::unique_ptr<rocksdb::Iterator>(transaction->GetIterator(read));
  });
  if (dice_.OneIn(3)) return;  // rolled back
  Must(transaction->Commit(), "commit");
  map_ = std::move(changed);
}

void ModelRun::Ingest() {
  if (!traits_.ingests) return;
  iterators_.clear();
  DropSnapshots();
  ++num_changes_;
  const rocksdb::Options options = opening_.config.ToOptions();
  rocksdb::SstFileWriter writer(rocksdb::EnvOptions(), options);
  const std::string path = dir_ / "ingested.sst";
  Must(writer.Open(path), "a file to ingest");
  Map rows;
  for (uint64_t left = 1 + dice_.Below(15); left > 0; --left) rows[keys_.Any()] = Value();
  for (const auto& [key, value] : rows) Must(writer.Put(key, value), "a row to ingest");
  if (traits_.deletes_ranges && dice_.OneIn(4)) {
    const auto [begin, end] = keys_.Range();
    if (begin < end) {
      Must(writer.DeleteRange(begin, end), "a range to delete by ingesting");
      map_.erase(map_.lower_bound(begin), map_.lower_bound(end));  // but no rows of the same file
    }
  }
  Must(writer.Finish(), "a file to ingest");
  rocksdb::IngestExternalFileOptions ingest;
  ingest.move_files = true;
  Must(db_->IngestExternalFile({path}, ingest), "ingest");
  for (const auto& [key, value] : rows) map_[key] = value;
  counts_.operations += rows.size();
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
    iterators_.clear();
    DropSnapshots();
    oldest = now_slice_;
    options.full_history_ts_low = &oldest;
    everything = true;
  }
  Must(db_->CompactRange(options, everything ? nullptr : &first, everything ? nullptr : &last),
       "compact");
}

}  // namespace blocksieve::testing
