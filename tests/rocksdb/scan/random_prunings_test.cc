#include <gtest/gtest.h>
#include <rocksdb/convenience.h>
#include <rocksdb/sst_file_writer.h>
#include <rocksdb/utilities/transaction_db.h>
#include <rocksdb/version.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "blocksieve/rocksdb/filter_policy.h"
#include "blocksieve/rocksdb/prune_reads.h"
#include "integration/rocksdb/compat/open_db.h"
#include "tests/rocksdb/scan/skip_test_db.h"
#include "tests/support/environment.h"

// Random databases of all compaction styles and kinds of writes: iterators that leave out files
// show the same matching rows as iterators that read all files. A decision is used again after
// writes, flushes, compactions and ingestion. BLOCKSIEVE_LONG_TESTS reads BLOCKSIEVE_PRUNED_ROWS
// rows, with seeds from BLOCKSIEVE_PRUNED_SEED on.

namespace blocksieve {
namespace {

using namespace blocksieve::testing;  // NOLINT: test support

constexpr uint64_t kKeys = 300;
constexpr uint64_t kNumbers = 30;

// Universal compactions of RocksDB 9.10 lock its mutex twice if writes are prepared.
constexpr uint64_t kPoliciesWithUniversal = ROCKSDB_MAJOR == 9 ? 2 : 4;

struct PrunedCounts {
  uint64_t rows = 0;    // read by the iterators that read all files
  uint64_t tables = 0;  // that pruned iterators were about to read
  uint64_t left_out = 0;
};

class PrunedDb {
 public:
  PrunedDb(uint64_t seed, PrunedCounts* counts)
      : random_(seed),
        style_(seed % 3),
        transactions_(style_ == 1 ? seed / 3 % kPoliciesWithUniversal : seed / 3 % 4),
        deletes_ranges_(transactions_ == 0 && !OneIn(4)),
        config_(SkipConfig(ShortGranules({"n=int:field:1", "w=words:2"}, 8),
                           {.max_property_bytes = OneIn(2) ? 0 : UINT64_MAX})),
        counts_(*counts) {
    rocksdb::Options& options = config_.options;
    options.create_if_missing = true;
    options.env = UnsyncedEnv();
    options.listeners = {NewListener()};
    options.disable_auto_compactions = OneIn(4);
    constexpr rocksdb::CompactionStyle kStyles[] = {rocksdb::kCompactionStyleLevel,
                                                    rocksdb::kCompactionStyleUniversal,
                                                    rocksdb::kCompactionStyleFIFO};
    options.compaction_style = kStyles[style_];
    options.num_levels = style_ == 2 ? 1 : 5;
    options.write_buffer_size = 64 << 10;
    options.target_file_size_base = 2 << 10;
    options.max_bytes_for_level_base = 6 << 10;
    options.max_bytes_for_level_multiplier = 3;
    options.level0_file_num_compaction_trigger = 3;
    options.level_compaction_dynamic_level_bytes = OneIn(2);
    options.max_subcompactions = 1 + static_cast<uint32_t>(Below(3));
    options.unordered_write = transactions_ == 0 && OneIn(6);
    options.enable_blob_files = OneIn(6);
    options.min_blob_size = 50;
    if (style_ == 1 && OneIn(3)) {
      options.compaction_options_universal.incremental = OneIn(2);
      options.compaction_options_universal.allow_trivial_move = OneIn(2);
    }
    if (OneIn(4)) options.memtable_prefix_bloom_size_ratio = 0.1;
    Open();
  }
  PrunedDb(const PrunedDb&) = delete;
  PrunedDb& operator=(const PrunedDb&) = delete;
  ~PrunedDb() { Close(); }

  void Step() {
    struct Choice {
      uint64_t weight;  // per thousand
      void (PrunedDb::*step)();
    };
    constexpr Choice kChoices[] = {
        {330, &PrunedDb::Write},     {60, &PrunedDb::Flush},         {20, &PrunedDb::CompactRange},
        {15, &PrunedDb::CompactOne}, {20, &PrunedDb::Ingest},        {10, &PrunedDb::IngestOfOther},
        {3, &PrunedDb::DeleteFiles}, {20, &PrunedDb::ChangeMoments}, {4, &PrunedDb::Reopen},
        {2, &PrunedDb::Repair},      {30, &PrunedDb::Transact},      {20, &PrunedDb::Refresh},
        {466, &PrunedDb::Compare},
    };
    uint64_t dice = Below(1000);
    for (const auto& [weight, step] : kChoices) {
      if (dice < weight) return (this->*step)();
      dice -= weight;
    }
  }

 private:
  struct Decided {
    std::string condition;
    rocksdb::ReadOptions read;
    std::shared_ptr<ReadPruning> pruning;
  };
  using Rows = std::vector<std::pair<std::string, std::string>>;

  uint64_t Below(uint64_t bound) { return random_() % bound; }
  bool OneIn(uint64_t times) { return Below(times) == 0; }
  uint64_t AnyKey() { return Below(kKeys); }

  // Mostly numbers in key order, so that most files lack most numbers.
  std::string AnyValue(uint64_t key) {
    const uint64_t number = OneIn(12) ? Below(kNumbers) : key * kNumbers / kKeys;
    return std::to_string(number) + "\tword" + std::to_string(Below(40)) +
           std::string(Below(60), '.');
  }

  std::string AnyCondition() {
    const std::string number = "n = " + std::to_string(Below(kNumbers + 2));
    const std::string word = "w HAS 'word" + std::to_string(Below(42)) + "'";
    switch (Below(6)) {
      case 0:
        return number + " AND " + word;
      case 1:
        return "n BETWEEN 3 AND " + std::to_string(3 + Below(4));
      case 2:
        return number + " OR n = " + std::to_string(Below(kNumbers));
      case 3:
        return word + " AND NOT n > 9";
      default:
        return number;
    }
  }

  void Open() {
    const rocksdb::Options options = config_.ToOptions();
    if (transactions_ == 0) {
      MustBeOk(rocksdb_plugin::OpenDb(options, path_, &db_), "open");
    } else {
      rocksdb::TransactionDBOptions transactions;
      transactions.write_policy = static_cast<rocksdb::TxnDBWritePolicy>(transactions_ - 1);
      rocksdb::TransactionDB* db = nullptr;
      MustBeOk(rocksdb::TransactionDB::Open(options, transactions, path_, &db), "open");
      db_.reset(db);
    }
  }

  void Close() {
    decided_.clear();
    for (const rocksdb::Snapshot* moment : moments_) db_->ReleaseSnapshot(moment);
    moments_.clear();
    db_.reset();
  }

  void Reopen() {
    Close();
    config_.options.level_compaction_dynamic_level_bytes = OneIn(2);
    Open();
  }

  // RocksDB 7.8.3 does not always go on with a repaired database, and RepairDB knows no
  // transactions.
  void Repair() {
    if (transactions_ != 0 || config_.options.enable_blob_files) return;
    Close();
    if (rocksdb::RepairDB(path_, config_.ToOptions()).ok()) {
      Open();
      for (int i = 0; i < 50; ++i) Compare();
      Close();
    }
    MustBeOk(rocksdb::DestroyDB(path_, config_.ToOptions()), "destroy");
    std::filesystem::remove_all(path_);  // RepairDB leaves files that it could not read
    singles_.clear();
    Open();
  }

  void Write() {
    rocksdb::WriteBatch batch;
    for (uint64_t left = 1 + Below(12); left > 0; --left) {
      const uint64_t key = AnyKey();
      const uint64_t dice = Below(100);
      if (dice < 70) {
        MustBeOk(batch.Put(Key(key), AnyValue(key)), "put");
      } else if (dice < 90) {
        MustBeOk(batch.Delete(Key(key)), "delete");
      } else if (dice < 96 || !deletes_ranges_) {
        // SingleDelete requires a key that was written once.
        if (!singles_.empty() && OneIn(2)) {
          MustBeOk(batch.SingleDelete(singles_.back()), "single delete");
          singles_.pop_back();
        } else {
          singles_.push_back(Key(key) + "once" + std::to_string(++num_singles_));
          MustBeOk(batch.Put(singles_.back(), AnyValue(key)), "put");
        }
      } else {
        MustBeOk(batch.DeleteRange(Key(key), Key(key + 1 + Below(40))), "delete range");
      }
    }
    MustBeOk(db_->Write({}, &batch), "write");
  }

  void Flush() { MustBeOk(db_->Flush({}), "flush"); }

  void CompactRange() {
    const std::string begin = Key(AnyKey());
    const std::string end = Key(AnyKey());
    const rocksdb::Slice first(std::min(begin, end));
    const rocksdb::Slice last(std::max(begin, end));
    rocksdb::CompactRangeOptions options;
    if (OneIn(2)) {
      options.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForceOptimized;
    }
    if (style_ == 0 && OneIn(4)) {
      options.change_level = true;
      options.target_level = static_cast<int>(1 + Below(4));
    }
    const bool all = OneIn(3);
    db_->CompactRange(options, all ? nullptr : &first, all ? nullptr : &last)
        .PermitUncheckedError();  // some levels are refused
  }

  // Some files of a level to another, or into files cut at other keys.
  void CompactOne() {
    rocksdb::ColumnFamilyMetaData metadata;
    db_->GetColumnFamilyMetaData(&metadata);
    std::vector<std::string> files;
    int level = static_cast<int>(Below(metadata.levels.size()));
    for (const auto& file : metadata.levels[static_cast<size_t>(level)].files) {
      if (OneIn(2)) files.push_back(file.name);
    }
    if (files.empty() || style_ == 2) return;
    level = std::min(level + static_cast<int>(Below(2)), config_.options.num_levels - 1);
    rocksdb::CompactionOptions options;
    options.output_file_size_limit = 1024 << Below(4);
    db_->CompactFiles(options, files, level).PermitUncheckedError();  // may be busy, or refused
  }

  TestDb::Model SomeRows() {
    TestDb::Model rows;
    uint64_t key = AnyKey();
    for (uint64_t left = 1 + Below(30); left > 0; --left, key += 1 + Below(5)) {
      rows[Key(key)] = AnyValue(key);
    }
    return rows;
  }

  void IngestFile(const rocksdb::IngestExternalFileOptions& options, const std::string& path) {
    db_->IngestExternalFile({path}, options).PermitUncheckedError();  // some overlaps are refused
  }

  void Ingest() {
    if (transactions_ != 0) return;
    rocksdb::Options options = config_.ToOptions();
    if (OneIn(2)) options.table_properties_collector_factories.clear();
    // Sometimes the rows of an earlier file, over what was written meanwhile.
    if (num_ingested_ == 0 || OneIn(2)) {
      WriteSst(options, dir_ / ("ingest" + std::to_string(num_ingested_++)), SomeRows());
    }
    rocksdb::IngestExternalFileOptions ingest;
    ingest.snapshot_consistency = OneIn(2) || !moments_.empty();
    IngestFile(ingest, dir_ / ("ingest" + std::to_string(Below(num_ingested_))));
  }

  // Files that another database wrote, with their indexes. RocksDB 9.10 also takes such files with
  // FIFO compaction, and then its iterators hide their rows, or abort.
  template <class Options = rocksdb::IngestExternalFileOptions>
  void IngestGenerated() {
    if constexpr (requires(Options options) { options.allow_db_generated_files; }) {
      if (transactions_ != 0 || config_.options.enable_blob_files || style_ == 2) return;
      DbConfig config = config_;
      config.options.compaction_style = rocksdb::kCompactionStyleLevel;
      TestDb other(config);
      for (const auto& [key, value] : SomeRows()) other.Put(key, value);
      other.Flush();
      other.Compact();
      Options ingest;
      ingest.allow_db_generated_files = true;
      for (const auto& [path, properties] : FilesOf(other.db())) IngestFile(ingest, path);
    }
  }
  void IngestOfOther() { IngestGenerated(); }

  void DeleteFiles() {
    const std::string begin = Key(AnyKey());
    const std::string end = Key(AnyKey());
    const rocksdb::Slice first(std::min(begin, end));
    const rocksdb::Slice last(std::max(begin, end));
    MustBeOk(rocksdb::DeleteFilesInRange(db_.get(), db_->DefaultColumnFamily(), &first, &last),
             "delete files");
  }

  void ChangeMoments() {
    if (moments_.size() < 4) {
      moments_.push_back(db_->GetSnapshot());
    } else {
      db_->ReleaseSnapshot(moments_.front());
      moments_.erase(moments_.begin());
    }
  }

  // Rows that are in memtables and files before they are committed, or never are.
  void Transact() {
    if (transactions_ == 0) return;
    auto* const db = static_cast<rocksdb::TransactionDB*>(db_.get());
    const std::unique_ptr<rocksdb::Transaction> transaction(db->BeginTransaction({}));
    for (uint64_t left = 1 + Below(20); left > 0; --left) {
      const uint64_t key = AnyKey();
      MustBeOk(OneIn(4) ? transaction->Delete(Key(key)) : transaction->Put(Key(key), AnyValue(key)),
               "transaction");
    }
    MustBeOk(transaction->SetName("t" + std::to_string(++num_transactions_)), "name");
    MustBeOk(transaction->Prepare(), "prepare");
    if (OneIn(2)) Flush();
    if (OneIn(4)) CompactRange();
    Compare();
    MustBeOk(OneIn(3) ? transaction->Rollback() : transaction->Commit(), "end");
  }

  Decided& Decide() {
    if (decided_.size() > 8) decided_.erase(decided_.begin());
    if (!decided_.empty() && OneIn(2)) return decided_[Below(decided_.size())];
    Decided& decided = decided_.emplace_back();
    decided.condition = AnyCondition();
    const rocksdb::Status status =
        PruneReads(db_.get(), nullptr, decided.condition, &decided.read, &decided.pruning);
    EXPECT_TRUE(status.ok()) << status.ToString();
    return decided;
  }

  // Matching rows from a random move on: all of them, or some and then those before.
  Rows Walk(rocksdb::Iterator* iterator, const ReadPruning& pruning, uint64_t seed,
            uint64_t* num_read) {
    std::mt19937_64 random(seed);
    Rows rows;
    const std::string from = Key(random() % kKeys);
    const uint64_t turn = random() % 4 == 0 ? 1 + random() % 5 : UINT64_MAX;
    const bool backward = random() % 3 == 0;
    if (random() % 3 == 0) {
      backward ? iterator->SeekToLast() : iterator->SeekToFirst();
    } else {
      backward ? iterator->SeekForPrev(from) : iterator->Seek(from);
    }
    // Ends at a matching row, as both iterators are there.
    const auto add_rows = [&](bool back, uint64_t limit) {
      for (; iterator->Valid(); back ? iterator->Prev() : iterator->Next()) {
        ++*num_read;
        if (!pruning.Matches(iterator->value())) continue;
        rows.emplace_back(iterator->key().ToString(), iterator->value().ToString());
        if (rows.size() == limit) return;
      }
    };
    add_rows(backward, turn);
    add_rows(!backward, UINT64_MAX);
    EXPECT_TRUE(iterator->status().ok()) << iterator->status().ToString();
    return rows;
  }

  void CompareRows(const Decided& decided, rocksdb::Iterator* pruned, rocksdb::Iterator* plain) {
    const uint64_t seed = random_();
    uint64_t ignored = 0;
    const Rows expected = Walk(plain, *decided.pruning, seed, &counts_.rows);
    EXPECT_EQ(Walk(pruned, *decided.pruning, seed, &ignored), expected) << decided.condition;
  }

  void Compare() {
    const Decided& decided = Decide();
    const ReadPruningCounts before = decided.pruning->counts();
    rocksdb::ReadOptions read;
    const std::string lower = Key(AnyKey());
    const std::string upper = Key(AnyKey());
    const rocksdb::Slice lower_slice(lower);
    const rocksdb::Slice upper_slice(upper);
    if (OneIn(4)) read.iterate_lower_bound = &lower_slice;
    if (OneIn(3)) read.iterate_upper_bound = &upper_slice;
    if (!moments_.empty() && OneIn(2)) read.snapshot = moments_[Below(moments_.size())];
    rocksdb::ReadOptions pruned = read;
    pruned.table_filter = decided.read.table_filter;
    const std::unique_ptr<rocksdb::Iterator> all(db_->NewIterator(read));
    const std::unique_ptr<rocksdb::Iterator> some(db_->NewIterator(pruned));
    for (int i = 0; i < 3; ++i) CompareRows(decided, some.get(), all.get());
    counts_.tables += decided.pruning->counts().tables_asked - before.tables_asked;
    counts_.left_out += decided.pruning->counts().tables_left_out - before.tables_left_out;
  }

  void Refresh() {
    const Decided& decided = Decide();
    const std::unique_ptr<rocksdb::Iterator> all(db_->NewIterator({}));
    const std::unique_ptr<rocksdb::Iterator> some(db_->NewIterator(decided.read));
    CompareRows(decided, some.get(), all.get());
    Write();
    if (OneIn(2)) Flush();
    if (OneIn(2)) CompactRange();
    const rocksdb::Status status = some->Refresh();
    if (status.IsNotSupported()) return;
    MustBeOk(status, "refresh");
    MustBeOk(all->Refresh(), "refresh");
    CompareRows(decided, some.get(), all.get());
  }

  std::mt19937_64 random_;
  const uint64_t style_;
  const uint64_t transactions_;  // 0: none; else a write policy and 1
  const bool deletes_ranges_;
  DbConfig config_;
  PrunedCounts& counts_;
  TempDir dir_;
  const std::string path_ = dir_ / "db";
  std::unique_ptr<rocksdb::DB> db_;
  std::vector<const rocksdb::Snapshot*> moments_;
  std::vector<Decided> decided_;
  std::vector<std::string> singles_;
  uint64_t num_singles_ = 0;
  uint64_t num_ingested_ = 0;
  uint64_t num_transactions_ = 0;
};

TEST(RandomPruningsTest, EveryMatchingRowIsShown) {
  uint64_t seed = NumberFromEnvironment("BLOCKSIEVE_PRUNED_SEED", 0);
  const uint64_t enough =
      LongTests() ? NumberFromEnvironment("BLOCKSIEVE_PRUNED_ROWS", 10'000'000) : 0;
  PrunedCounts counts;
  for (int seeds = 0; (seeds < 12 || counts.rows < enough) && !HasFailure(); ++seed, ++seeds) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    PrunedDb db(seed, &counts);
    for (int step = 0; step < 400 && !HasFailure(); ++step) db.Step();
  }
  std::printf("%lu rows, %lu of %lu tables left out\n", counts.rows, counts.left_out,
              counts.tables);
  EXPECT_GT(counts.left_out * 20, counts.tables);
}

}  // namespace
}  // namespace blocksieve
