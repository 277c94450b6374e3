#include <rocksdb/sst_file_reader.h>
#include <rocksdb/utilities/write_batch_with_index.h>

#include <utility>

#include "integration/rocksdb/compat/file_deletions.h"
#include "integration/rocksdb/compat/table_filter.h"
#include "tests/rocksdb/ranges/model_steps.h"

namespace blocksieve::testing {

namespace {

constexpr size_t kMostIterators = 5;

}  // namespace

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
  static const rocksdb_plugin::TableFilter all_tables = [](const rocksdb::TableProperties&) {
    return true;
  };
  if (dice_.OneIn(10)) rocksdb_plugin::SetTableFilter(all_tables, &read);
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
  if (!traits_.deletes_ranges && dice_.OneIn(12)) {
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

}  // namespace blocksieve::testing
