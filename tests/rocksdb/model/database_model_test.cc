// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <rocksdb/perf_context.h>
#include <rocksdb/sst_file_writer.h>

#include <cstring>
#include <iostream>

#include "blocksieve/rocksdb/filter_policy.h"
#include "integration/rocksdb/compat/user_index.h"
#include "integration/rocksdb/compat/version_differences.h"
#include "tests/rocksdb/model/model_run.h"
#include "tests/support/environment.h"

// Compares databases with filters with a map, and with iterators that use no filter: all answers
// must be equal. BLOCKSIEVE_LONG_TESTS runs BLOCKSIEVE_RANGE_OPERATIONS operations, all kinds
// together, with seeds from BLOCKSIEVE_RANGE_SEED on.

namespace blocksieve::testing {

ModelRun::ModelRun(const ModelKind& kind, uint64_t seed, ModelCounts* counts)
    : kind_(kind),
      dice_(seed),
      keys_(&dice_, kind.is_repeatable),
      traits_(kind, &dice_),
      opening_(kind, traits_, &dice_),
      counts_(*counts) {
  Open();
  WriteBatch();  // before anything is ingested
}

void ModelRun::Open() {
  const rocksdb::Options options = opening_.config.ToOptions();
  if (traits_.transactions) {
    auto db = OpenTransactionDb(options, rocksdb::WRITE_COMMITTED, path_);
    transactions_ = db.get();
    db_ = std::move(db);
  } else {
    MustBeOk(rocksdb_plugin::OpenDb(options, path_, &db_), "open");
  }
  AdvanceTime();
}

void ModelRun::Close() {
  StopReads();
  iterators_.clear();
  DropSnapshots();
  db_.reset();
  prunings_.clear();
}

void ModelRun::Reopen() {
  Close();
  opening_ = ModelOpening(kind_, traits_, &dice_);
  Open();
}

void ModelRun::DropSnapshots() {
  for (const Moment& moment : moments_) {
    if (moment.snapshot != nullptr) db_->ReleaseSnapshot(moment.snapshot);
  }
  moments_.clear();
}

void ModelRun::AddOrDropSnapshot() {
  constexpr size_t kMaxSnapshots = 3;
  if (moments_.size() < kMaxSnapshots) {
    moments_.push_back(kind_.timestamps ? Moment{nullptr, now_} : Moment{db_->GetSnapshot(), ""});
    return;
  }
  const rocksdb::Snapshot* const dropped = moments_.front().snapshot;
  moments_.erase(moments_.begin());
  if (dropped == nullptr) return;
  iterators_.remove_if([&](const auto& each) { return each.moment.snapshot == dropped; });
  db_->ReleaseSnapshot(dropped);
}

void ModelRun::AdvanceTime() {
  ++time_;
  now_.assign(sizeof(time_), '\0');
  std::memcpy(now_.data(), &time_, sizeof(time_));  // as EncodeU64Ts on little-endian
  now_slice_ = now_;
}

void ModelRun::Step() {
  if (kind_.reads_in_threads && threads_.empty()) StartReads();
  struct Choice {
    uint64_t weight;  // per thousand
    void (ModelRun::*step)();
  };
  constexpr Choice kChoices[] = {
      {230, &ModelRun::WriteBatch},
      {30, &ModelRun::LookUp},
      {490, &ModelRun::MoveIterator},
      {160, &ModelRun::ScanShortly},
      {10, &ModelRun::AddOrDropSnapshot},
      {10, &ModelRun::Refresh},
      {15, &ModelRun::Flush},
      {3, &ModelRun::Compact},
      {4, &ModelRun::Ingest},
      {1, &ModelRun::Reopen},
      {10, &ModelRun::Commit},
      {17, &ModelRun::ScanOverBatch},
      {1, &ModelRun::ScanOtherInstance},
      {4, &ModelRun::ScanFile},
      {1, &ModelRun::ScanAll},
      {14, &ModelRun::ScanRanges},
  };
  uint64_t dice = dice_.Below(1000);
  for (const auto& [weight, step] : kChoices) {
    if (dice < weight) return (this->*step)();
    dice -= weight;
  }
}

// Steps that write.

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

namespace {

// Settings differ by seed, so each has few operations.
constexpr uint64_t kOperationsOfSeed = 20'000;

// Runs this many random operations, or fewer after an error. Adds to the counts.
void RunModel(const ModelKind& kind, uint64_t seed, ModelCounts* counts) {
  SCOPED_TRACE(std::string(kind.name) + ", seed " + std::to_string(seed));
  ModelRun run(kind, seed, counts);
  const uint64_t end = counts->operations + kOperationsOfSeed;
  while (counts->operations < end && !::testing::Test::HasFailure()) run.Step();
}

const ModelKind kKinds[] = {
    {.name = "Bounds"},
    {.name = "PlainReads", .plain_reads = true},
    {.name = "Timestamps", .timestamps = true},
    {.name = "Threads", .reads_in_threads = true},
    {.name = "Prefixes", .has_prefixes = true},
    {.name = "Points", .points_only = true},
    {.name = "Repeatable", .is_repeatable = true},
#if BLOCKSIEVE_HAS_USER_INDEX
    {.name = "BlockIndex", .has_block_index = true},
#endif
};

class DatabaseModelTest : public ::testing::TestWithParam<ModelKind> {};

TEST_P(DatabaseModelTest, FindsEveryRow) {
  const ModelKind& kind = GetParam();
  uint64_t first = 1;
  uint64_t seeds = kThreadSanitizer || kind.is_repeatable ? 1 : 3;
  if (LongTests()) {
    first = NumberFromEnvironment("BLOCKSIEVE_RANGE_SEED", 1000);
    seeds = NumberFromEnvironment("BLOCKSIEVE_RANGE_OPERATIONS", 100'000'000) / std::size(kKinds) /
            kOperationsOfSeed;
  }
  rocksdb::SetPerfLevel(rocksdb::kEnableCount);
  const uint64_t ranges_before = GetRangeFilterCounts().no;
  const uint64_t lookups_before = rocksdb::get_perf_context()->bloom_sst_miss_count;
  ModelCounts counts;
  for (uint64_t seed = first; seed < first + seeds && !HasFailure(); ++seed) {
    RunModel(kind, seed, &counts);
  }
  const uint64_t ranges = GetRangeFilterCounts().no - ranges_before;
  const uint64_t lookups = rocksdb::get_perf_context()->bloom_sst_miss_count - lookups_before;
  std::cout << "  " << counts.operations << " operations, " << counts.seeks << " seeks, " << ranges
            << " ranges and " << lookups << " lookups denied\n";
  // The number of files that can answer "no" depends on background compactions and threads.
  if (kind.is_repeatable) {
    EXPECT_GT(ranges, counts.seeks / 4);
    EXPECT_GT(lookups, 0u);
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, DatabaseModelTest, ::testing::ValuesIn(kKinds), ParamNames());

}  // namespace
}  // namespace blocksieve::testing
