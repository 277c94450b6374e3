// SPDX-License-Identifier: Apache-2.0
#include <rocksdb/sst_file_reader.h>
#include <rocksdb/utilities/write_batch_with_index.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "integration/rocksdb/compat/user_index.h"
#include "integration/rocksdb/compat/version_differences.h"
#include "tests/rocksdb/model/model_run.h"

namespace blocksieve::testing {
namespace {

constexpr size_t kMaxIterators = 5;

std::string Hex(const rocksdb::Slice& text) { return text.ToString(/*hex=*/true); }

std::string Position(const rocksdb::Iterator& iterator) {
  if (!iterator.status().ok()) return iterator.status().ToString();
  if (!iterator.Valid()) return "no row";
  return "'" + Hex(iterator.key()) + "' with " + iterator.value().ToString();
}

std::string BoundText(const std::optional<std::string>& bound) {
  return bound ? "'" + Hex(*bound) + "'" : "none";
}

// RocksDB refuses a table filter where it converts tombstones.
template <class Options>
bool AcceptsTableFilter(const Options& options) {
  if constexpr (requires { options.min_tombstones_for_range_conversion; }) {
    return options.min_tombstones_for_range_conversion == 0;
  }
  return true;
}

}  // namespace

TwinIterator::TwinIterator(const MakeIterator& make, rocksdb::ReadOptions read, Bounds bounds,
                           ModelCounts* counts)
    : read_(std::move(read)), bounds_(std::move(bounds)), counts_(*counts) {
  if (bounds_.lower) {
    lower_ = *bounds_.lower;
    read_.iterate_lower_bound = &lower_;
  }
  if (bounds_.upper) {
    upper_ = *bounds_.upper;
    read_.iterate_upper_bound = &upper_;
  }
  filtered_ = make(read_);
  rocksdb::ReadOptions plain;
  plain.total_order_seek = true;
  plain.iterate_lower_bound = read_.iterate_lower_bound;
  plain.iterate_upper_bound = read_.iterate_upper_bound;
  plain.snapshot = read_.snapshot;
  plain.timestamp = read_.timestamp;
  plain.tailing = read_.tailing;
  plain_ = make(plain);
}

void TwinIterator::Both(const std::string& what,
                        const std::function<void(rocksdb::Iterator*)>& move) {
  ++counts_.operations;
  move(filtered_.get());
  move(plain_.get());
  const std::string position = Position(*filtered_);
  is_at_row_ = plain_->Valid();
  if (position == Position(*plain_) && plain_->status().ok()) return;
  is_at_row_ = false;
  ADD_FAILURE() << what << ": at " << position << ", not at " << Position(*plain_) << Describe();
}

void TwinIterator::Seek(const std::string& key) {
  ++counts_.seeks;
  Both("Seek to '" + Hex(key) + "'", [&](auto* iterator) { iterator->Seek(key); });
}
void TwinIterator::SeekForPrev(const std::string& key) {
  ++counts_.seeks;
  Both("SeekForPrev to '" + Hex(key) + "'", [&](auto* iterator) { iterator->SeekForPrev(key); });
}
void TwinIterator::Refresh() {
  is_at_row_ = false;
  const bool is_refreshed = filtered_->Refresh().ok();
  EXPECT_EQ(is_refreshed, plain_->Refresh().ok());
}

// ReadOptions refer to the slice, so its address must not change.
void TwinIterator::MoveBound(const std::string& upper) {
  if (!bounds_.upper) return;
  bounds_.upper = upper;
  if (bounds_.lower && *bounds_.upper < *bounds_.lower) std::swap(bounds_.lower, bounds_.upper);
  upper_ = *bounds_.upper;
  if (bounds_.lower) lower_ = *bounds_.lower;
  is_at_row_ = false;
}

std::string TwinIterator::Describe() const {
  std::string text = "; bounds " + BoundText(bounds_.lower) + " to " + BoundText(bounds_.upper);
  if (read_.auto_prefix_mode) text += ", auto_prefix_mode";
  if (read_.total_order_seek) text += ", total_order_seek";
  if (read_.prefix_same_as_start) text += ", prefix_same_as_start";
  if (read_.tailing) text += ", tailing";
  if (read_.snapshot != nullptr) text += ", at a snapshot";
  return text;
}

void CompareScan(const MakeIterator& make, const rocksdb::ReadOptions& read,
                 const std::string& begin, const std::string& end, ModelCounts* counts) {
  TwinIterator twin(make, read, {std::nullopt, end}, counts);
  for (twin.Seek(begin); twin.is_at_row();) {
    twin.Both("Next", &rocksdb::Iterator::Next);
  }
}

void ModelRun::LookUp() {
  const auto check = [&](const std::string& key, const rocksdb::Status& status,
                         const std::string& value, const char* how) {
    ++counts_.operations;
    const auto row = map_.find(key);
    const bool is_there = row != map_.end();
    if (is_there ? status.ok() && value == row->second : status.IsNotFound()) return;
    ADD_FAILURE() << how << " of '" << Hex(key) << "': " << status.ToString() << ", but it is "
                  << (is_there ? row->second : "not there");
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
  if (dice_.OneIn(10) && AcceptsTableFilter(db_->GetOptions())) {
    rocksdb_plugin::SetTableFilter(all_tables, &read);
  }
  SetTimestamp(&read);
  if (kind_.has_block_index && !dice_.OneIn(4)) {
    std::shared_ptr<ReadPruning>* const pruning = &prunings_.emplace_back();
    Must(PruneReads(db_.get(), nullptr, "", read, pruning), "a read by the block index");
    return (*pruning)->read_options();
  }
  return read;
}

void ModelRun::AddIterator() {
  OpenIterator& added = iterators_.emplace_back();
  rocksdb::ReadOptions read = DrawRead();
  Bounds bounds;
  if (dice_.OneIn(4)) bounds.lower = keys_.Near();
  if (!dice_.OneIn(6)) bounds.upper = keys_.Near();
  if (bounds.lower && bounds.upper && *bounds.upper < *bounds.lower) {
    std::swap(bounds.lower, bounds.upper);
  }
  added.moment.timestamp = now_;
  if (traits_.has_tailing && dice_.OneIn(3) && !opening_.has_other_extractor) {
    read.tailing = true;
    read.pin_data = false;
    bounds.lower.reset();
  } else if (!moments_.empty() && dice_.OneIn(3)) {
    added.moment = moments_[dice_.Below(moments_.size())];
  }
  read.snapshot = added.moment.snapshot;
  if (kind_.timestamps) {
    added.timestamp = added.moment.timestamp;
    read.timestamp = &added.timestamp;
  }
  added.twin = std::make_unique<TwinIterator>(Iterators(db_.get()), read, bounds, &counts_);
}

void ModelRun::MoveIterator() {
  if (iterators_.size() >= kMaxIterators && dice_.OneIn(60)) {
    iterators_.erase(
        std::next(iterators_.begin(), static_cast<ptrdiff_t>(dice_.Below(kMaxIterators))));
  }
  if (iterators_.size() < kMaxIterators) AddIterator();
  OpenIterator& iterator =
      *std::next(iterators_.begin(), static_cast<ptrdiff_t>(dice_.Below(iterators_.size())));
  for (uint64_t left = 1 + dice_.Below(6); left > 0; --left) MoveOnce(&iterator);
}

void ModelRun::MoveOnce(OpenIterator* iterator) {
  TwinIterator& twin = *iterator->twin;
  const bool is_tailing = twin.read().tailing;
  const bool goes_back = !traits_.deletes_ranges && !is_tailing;
  // Refresh shows later writes, but requires a new seek.
  if (is_tailing && iterator->num_changes != num_changes_) twin.ForgetRow();
  iterator->num_changes = num_changes_;
  uint64_t move = dice_.Below(goes_back ? 14 : 11);
  if (move >= 8 && !twin.is_at_row()) move = 0;
  if (move < 8 && !is_tailing && dice_.OneIn(3)) twin.MoveBound(keys_.Near());
  if (move < 5) {
    twin.Seek(SeekKey(twin.bounds()));
  } else if (move == 5 && goes_back) {
    twin.SeekForPrev(SeekKey(twin.bounds()));
  } else if (move == 6 && goes_back) {
    twin.Both("SeekToLast", &rocksdb::Iterator::SeekToLast);
  } else if (move < 8) {
    twin.Both("SeekToFirst", &rocksdb::Iterator::SeekToFirst);
  } else if (move < 11) {
    twin.Both("Next", &rocksdb::Iterator::Next);
  } else {
    twin.Both("Prev", &rocksdb::Iterator::Prev);
  }
}

// Mostly a row right before the upper bound, or the key right after such a row.
std::string ModelRun::SeekKey(const Bounds& bounds) {
  if (!bounds.upper || dice_.OneIn(3)) return keys_.Near();
  auto row = map_.lower_bound(*bounds.upper);
  for (uint64_t before = dice_.Below(3); before > 0 && row != map_.begin(); --before) --row;
  if (row == map_.end()) return keys_.Near();
  return row->first + (dice_.OneIn(2) ? std::string(1, '\0') : "");
}

void ModelRun::Refresh() {
  // An iterator with a timestamp keeps its time.
  if (iterators_.empty() || kind_.timestamps || traits_.deletes_ranges) return;
  OpenIterator& iterator = iterators_.front();
  if (!iterator.twin->read().tailing && iterator.moment.snapshot == nullptr) {
    iterator.twin->Refresh();
  }
}

void ModelRun::ScanShortly() { CompareScans(4, Iterators(db_.get())); }

void ModelRun::CompareScans(int times, const MakeIterator& make) {
  for (int i = 0; i < times; ++i) {
    const auto [begin, end] = keys_.Range();
    CompareScan(make, DrawRead(), begin, end, &counts_);
  }
}

void ModelRun::ScanAll() {
  CompareScan(Iterators(db_.get()), DrawRead(), "", std::string(100, '\xff'), &counts_);
  rocksdb::ReadOptions read;
  read.total_order_seek = true;
  SetTimestamp(&read);
  const std::unique_ptr<rocksdb::Iterator> rows(db_->NewIterator(read));
  Map found;
  for (rows->SeekToFirst(); rows->Valid(); rows->Next()) {
    found[rows->key().ToString()] = rows->value().ToString();
  }
  Must(rows->status(), "a scan of all");
  EXPECT_TRUE(found == map_) << "a scan of all has other rows than were written";
}

// A MultiScan by the block index, which RocksDB announces all ranges.
void ModelRun::ScanRanges() {
#if BLOCKSIEVE_HAS_USER_INDEX
  // MultiScans of RocksDB 11.2 crash without a block cache.
  if (!kind_.has_block_index || opening_.config.table.no_block_cache) return;
  std::vector<std::pair<std::string, std::string>> ranges;
  for (uint64_t left = 1 + dice_.Below(40); left > 0; --left) ranges.push_back(keys_.Range());
  std::ranges::sort(ranges);
  rocksdb::MultiScanArgs args(rocksdb::BytewiseComparator());
  args.use_async_io = dice_.OneIn(2);
  Map expected;
  const std::string* last_end = nullptr;
  for (const auto& [begin, end] : ranges) {
    if (begin == end || (last_end != nullptr && begin < *last_end)) continue;
    args.insert(begin, end);
    expected.insert(map_.lower_bound(begin), map_.lower_bound(end));
    last_end = &end;
  }
  if (args.empty()) return;
  rocksdb::ReadOptions read;
  read.total_order_seek = true;
  std::shared_ptr<ReadPruning>& pruning = prunings_.emplace_back();
  Must(PruneReads(db_.get(), nullptr, "", read, &pruning), "a MultiScan");
  Map found;
  const auto scans = db_->NewMultiScan(pruning->read_options(), Family(), args);
  for (auto scan : *scans) {
    for (auto row : scan) found[row.first.ToString()] = row.second.ToString();
  }
  counts_.operations += ranges.size();
  EXPECT_TRUE(found == expected) << "a MultiScan has other rows than were written";
#endif
}

void ModelRun::ScanOverBatch() {
  if (kind_.timestamps) return;
  rocksdb::WriteBatchWithIndex batch(rocksdb::BytewiseComparator(), 0, /*overwrite_key=*/true);
  for (uint64_t left = dice_.Below(10); left > 0; --left) {
    const std::string& key = keys_.Any();
    Must(dice_.OneIn(3) ? batch.Delete(key) : batch.Put(key, "batch"), "batch");
  }
  CompareScans(4, [&](const rocksdb::ReadOptions& read) {
    return std::unique_ptr<rocksdb::Iterator>(
        batch.NewIteratorWithBase(Family(), db_->NewIterator(read), &read));
  });
}

void ModelRun::ScanOtherInstance() {
  const rocksdb_plugin::NoFileDeletions keep(db_.get());
  // RocksDB requires this for a secondary instance.
  rocksdb::Options options = opening_.config.ToOptions();
  options.max_open_files = -1;
  const std::unique_ptr<rocksdb::DB> other = dice_.OneIn(2)
                                                 ? OpenReadOnly(options, path_)
                                                 : OpenSecondary(options, path_, dir_ / "second");
  CompareScans(50, Iterators(other.get()));
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
  CompareScans(20, [&](const rocksdb::ReadOptions& read) {
    return std::unique_ptr<rocksdb::Iterator>(reader.NewIterator(read));
  });
}

void ModelRun::StartReads() {
  stop_ = false;
  for (int i = 0; i < 2; ++i) {
    threads_.emplace_back([this, seed = dice_.Bits()] { ReadBeside(seed); });
  }
}

void ModelRun::StopReads() {
  stop_ = true;
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

void ModelRun::ReadBeside(uint64_t seed) {
  Dice dice(seed);
  ModelKeys keys(&dice);
  const std::string latest(8, '\xff');
  const rocksdb::Slice timestamp(latest);
  while (!stop_ && !::testing::Test::HasFailure()) {
    rocksdb::ReadOptions read;
    read.auto_prefix_mode = !kind_.plain_reads;
    read.snapshot = db_->GetSnapshot();
    if (kind_.timestamps) read.timestamp = &timestamp;
    for (int i = 0; i < 20; ++i) {
      const auto [begin, end] = keys.Range();
      CompareScan(Iterators(db_.get()), read, begin, end, &counts_);
    }
    db_->ReleaseSnapshot(read.snapshot);
  }
}

}  // namespace blocksieve::testing
