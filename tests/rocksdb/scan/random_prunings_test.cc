// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <rocksdb/convenience.h>
#include <rocksdb/sst_file_writer.h>
#include <rocksdb/utilities/checkpoint.h>
#include <rocksdb/version.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "blocksieve/rocksdb/filter_policy.h"
#include "blocksieve/rocksdb/prune_reads.h"
#include "integration/rocksdb/compat/version_differences.h"
#include "tests/rocksdb/block_index/use_block_index.h"
#include "tests/rocksdb/scan/skip_test_db.h"
#include "tests/support/environment.h"

// Random databases of all compaction styles and kinds of writes: iterators that leave out files
// show the same matching rows as iterators that read all files. A decision is used again after
// writes, flushes, compactions and ingestion; options are made from those of another decision, and
// iterators are kept. Databases are adopted half-way: opened again without index, with another one,
// or with other columns, so that files of all kinds lie beside each other. BLOCKSIEVE_LONG_TESTS
// reads BLOCKSIEVE_PRUNED_ROWS rows, with seeds from BLOCKSIEVE_PRUNED_SEED on.

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
  uint64_t blocks_left_out = 0;
};

class PrunedDb {
 public:
  PrunedDb(uint64_t seed, bool by_block, PrunedCounts* counts)
      : random_(seed),
        by_block_(by_block),
        style_(seed % 3),
        transactions_(style_ == 1 ? seed / 3 % kPoliciesWithUniversal : seed / 3 % 4),
        deletes_ranges_(transactions_ == 0 && !OneIn(4)),
        has_equal_lengths_(OneIn(2)),
        config_(SkipConfig(ShortGranules({"n=int:field:1", "w=words:2"}, 8),
                           {.max_property_bytes = OneIn(2) ? 0 : UINT64_MAX})),
        counts_(*counts) {
    rocksdb::Options& options = config_.options;
    options.create_if_missing = true;
    options.env = UnsyncedEnv();
    options.listeners = {NewListener()};
    options.disable_auto_compactions = OneIn(4);
    options.compaction_style = static_cast<rocksdb::CompactionStyle>(style_);
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
    const bool moves = style_ == 1 && OneIn(3);
    options.compaction_options_universal.incremental = moves && OneIn(2);
    options.compaction_options_universal.allow_trivial_move = moves && OneIn(2);
    if (OneIn(4)) options.memtable_prefix_bloom_size_ratio = 0.1;
    // RocksDB asserts that files placed by age have no blobs.
    places_ = style_ == 1 && !options.enable_blob_files && OneIn(3);
    options.preclude_last_level_data_seconds = places_ ? 1 + Below(2) : 0;
    if (by_block_) config_.table.block_size = 1 << (5 + Below(5));
    // RocksDB opens no file without its primary index.
    is_uniform_ = OneIn(3);
    ChooseIndex();
    Open();
  }
  ~PrunedDb() { Close(); }

  void Step() {
    // Weights, per thousand.
    constexpr std::pair<uint64_t, void (PrunedDb::*)()> kChoices[] = {
        {330, &PrunedDb::Write},     {60, &PrunedDb::Flush},         {20, &PrunedDb::CompactRange},
        {15, &PrunedDb::CompactOne}, {20, &PrunedDb::Ingest},        {10, &PrunedDb::IngestOther<>},
        {2, &PrunedDb::DeleteFiles}, {20, &PrunedDb::ChangeMoments}, {8, &PrunedDb::Reopen},
        {2, &PrunedDb::Repair},      {30, &PrunedDb::Transact},      {20, &PrunedDb::Refresh},
        {1, &PrunedDb::Import},      {40, &PrunedDb::CompareKept},   {422, &PrunedDb::Compare},
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
    std::shared_ptr<ReadPruning> pruning;
  };
  /// Iterators of one moment, with and without pruning.
  struct Kept {
    Decided decided;
    std::unique_ptr<rocksdb::Iterator> pruned;
    std::unique_ptr<rocksdb::Iterator> plain;
  };
  using Rows = std::vector<std::pair<std::string, std::string>>;

  uint64_t Below(uint64_t bound) { return random_() % bound; }
  bool OneIn(uint64_t times) { return Below(times) == 0; }
  uint64_t AnyKey() { return Below(kKeys); }
  auto AnyRange() { return std::minmax({Key(AnyKey()), Key(AnyKey())}); }

  // Mostly numbers in key order, so that most files lack most numbers.
  std::string AnyValue(uint64_t key) {
    const uint64_t number = OneIn(12) ? Below(kNumbers) : key * kNumbers / kKeys;
    std::string value = std::to_string(number) + "\tword" + std::to_string(Below(40));
    // Of equal length, so that files of the same keys differ in nothing else.
    return value.append(has_equal_lengths_ ? 40 - value.size() : Below(60), '.');
  }

  std::string AnyCondition() {
    std::string number = "n = " + std::to_string(Below(kNumbers + 2));
    const std::string word = "w HAS 'word" + std::to_string(Below(42)) + "'";
    if (OneIn(3)) return number;
    const std::string conditions[] = {number + " AND " + word, word + " AND NOT n > 9",
                                      number + " OR n = " + std::to_string(Below(kNumbers)),
                                      "n BETWEEN 3 AND " + std::to_string(3 + Below(4))};
    return conditions[Below(std::size(conditions))];
  }

  void Open() {
    const rocksdb::Options options = config_.ToOptions();
    if (transactions_ == 0) return MustBeOk(rocksdb_plugin::OpenDb(options, path_, &db_), "open");
    const auto policy = static_cast<rocksdb::TxnDBWritePolicy>(transactions_ - 1);
    db_ = OpenTransactionDb(options, policy, path_);
  }

  // What new files get from the next opening on.
  void ChooseIndex() {
    if (!by_block_) return;
    DbConfig without = config_;
    without.options.table_properties_collector_factories.clear();
    without.table = {};
    without.table.filter_policy = config_.table.filter_policy;
    without.table.block_size = config_.table.block_size;
    const auto columns = OneIn(3) ? Columns({"w=words:2", "n=int:field:1"}) : AllColumns();
    if (is_uniform_ || !OneIn(4)) {
      const bool is_primary = is_uniform_ && (is_primary_ || OneIn(2));
      is_primary_ = is_primary;
      UseBlockIndex({.ranges = OneIn(2), .columns = columns}, is_primary, &without);
      // A text of options may lack the collector.
      if (!is_uniform_ && OneIn(6)) without.options.table_properties_collector_factories.clear();
    } else {
      without.options.table_properties_collector_factories.push_back(NewCollectorFactory(
          ShortGranules({"n=int:field:1", "w=words:2"}, 8), {.max_property_bytes = UINT64_MAX}));
    }
    config_ = without;
  }

  static std::vector<Column> AllColumns() { return Columns({"n=int:field:1", "w=words:2"}); }

  void Close() {
    kept_.clear();
    decided_.clear();
    for (const rocksdb::Snapshot* moment : moments_) db_->ReleaseSnapshot(moment);
    moments_.clear();
    db_.reset();
  }

  void Reopen() {
    Close();
    config_.options.level_compaction_dynamic_level_bytes = OneIn(2);
    const DbConfig with = config_;
    if (!is_uniform_ && OneIn(3)) {  // as before the program knew of indexes
      config_.options.table_properties_collector_factories.clear();
      config_.options.listeners.clear();
      config_.table = {};
      config_.table.block_size = with.table.block_size;
      Open();
      for (uint64_t left = Below(10); left > 0; --left) {
        Write();
        if (OneIn(2)) Flush();
      }
      if (OneIn(3)) CompactRange();
      Close();
      config_ = with;
    }
    ChooseIndex();
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
      } else if (dice >= 96 && deletes_ranges_) {
        MustBeOk(batch.DeleteRange(Key(key), Key(key + 1 + Below(40))), "delete range");
      } else if (singles_.empty() || OneIn(2)) {
        // SingleDelete requires a key that was written once.
        singles_.push_back(Key(key) + "once" + std::to_string(++num_names_));
        MustBeOk(batch.Put(singles_.back(), AnyValue(key)), "put");
      } else {
        MustBeOk(batch.SingleDelete(singles_.back()), "single delete");
        singles_.pop_back();
      }
    }
    MustBeOk(db_->Write({}, &batch), "write");
  }

  void Flush() { MustBeOk(db_->Flush({}), "flush"); }

  void CompactRange() {
    const auto [begin, end] = AnyRange();
    const rocksdb::Slice bounds[] = {begin, end};
    rocksdb::CompactRangeOptions options;
    using Bottommost = rocksdb::BottommostLevelCompaction;
    if (OneIn(2)) options.bottommost_level_compaction = Bottommost::kForceOptimized;
    options.change_level = style_ == 0 && OneIn(4);
    if (options.change_level) options.target_level = static_cast<int>(1 + Below(4));
    const bool all = OneIn(3);
    db_->CompactRange(options, all ? nullptr : &bounds[0], all ? nullptr : &bounds[1])
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
    if (files.empty() || style_ == 2 || places_) return;
    level = std::min(level + static_cast<int>(Below(2)), config_.options.num_levels - 1);
    rocksdb::CompactionOptions options;
    options.output_file_size_limit = 1024 << Below(4);
    db_->CompactFiles(options, files, level).PermitUncheckedError();  // may be busy, or refused
  }

  TestDb::Model SomeRows() {
    TestDb::Model rows;
    for (uint64_t key = AnyKey(), left = 1 + Below(30); left > 0; --left, key += 1 + Below(5))
      rows[Key(key)] = AnyValue(key);
    return rows;
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
    const std::string path = dir_ / ("ingest" + std::to_string(Below(num_ingested_)));
    db_->IngestExternalFile({path}, ingest).PermitUncheckedError();  // some overlaps are refused
  }

  // Files that another database wrote, with their indexes. RocksDB 9.10 also takes such files with
  // FIFO compaction, and then its iterators hide their rows, or abort.
  template <class Options = rocksdb::IngestExternalFileOptions>
  void IngestOther() {
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
      for (const auto& [path, properties] : FilesOf(other.db()))
        db_->IngestExternalFile({path}, ingest).PermitUncheckedError();
    }
  }

  // The files in another column family, with their levels and sequence numbers.
  void Import() {
    if (transactions_ != 0 || config_.options.enable_blob_files) return;
    rocksdb::Checkpoint* checkpoint = nullptr;
    MustBeOk(rocksdb::Checkpoint::Create(db_.get(), &checkpoint), "checkpoint");
    rocksdb::ExportImportFilesMetaData* files = nullptr;
    const std::string dir = dir_ / ("export" + std::to_string(++num_names_));
    MustBeOk(checkpoint->ExportColumnFamily(db_->DefaultColumnFamily(), dir, &files), "export");
    const std::unique_ptr<rocksdb::Checkpoint> owned_checkpoint(checkpoint);
    const std::unique_ptr<rocksdb::ExportImportFilesMetaData> owned_files(files);
    decided_.clear();
    // Some ingested files are refused.
    const auto options = config_.ToOptions();
    if (!db_->CreateColumnFamilyWithImport(options, dir, {}, *files, &family_).ok()) return;
    for (int i = 0; i < 50; ++i) Compare();
    decided_.clear();
    MustBeOk(db_->DropColumnFamily(family_), "drop");
    MustBeOk(db_->DestroyColumnFamilyHandle(family_), "drop");
    family_ = nullptr;
  }

  void DeleteFiles() {
    const auto [begin, end] = AnyRange();
    const rocksdb::Slice bounds[] = {begin, end};
    MustBeOk(
        rocksdb::DeleteFilesInRange(db_.get(), db_->DefaultColumnFamily(), &bounds[0], &bounds[1]),
        "delete files");
  }

  void ChangeMoments() {
    if (moments_.size() < 4) return moments_.push_back(db_->GetSnapshot());
    db_->ReleaseSnapshot(moments_.front());
    moments_.erase(moments_.begin());
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
    MustBeOk(transaction->SetName("t" + std::to_string(++num_names_)), "name");
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
    const size_t others = decided_.size() - 1;
    const rocksdb::ReadOptions base = others != 0 && OneIn(3)
                                          ? decided_[Below(others)].pruning->read_options()
                                          : rocksdb::ReadOptions();
    MustBeOk(PruneReads(db_.get(), family_, decided.condition, base, &decided.pruning),
             decided.condition);
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
    const std::string keys[] = {Key(AnyKey()), Key(AnyKey())};
    const rocksdb::Slice bounds[] = {keys[0], keys[1]};
    if (OneIn(4)) read.iterate_lower_bound = &bounds[0];
    if (OneIn(3)) read.iterate_upper_bound = &bounds[1];
    if (!moments_.empty() && OneIn(2)) read.snapshot = moments_[Below(moments_.size())];
    rocksdb::ColumnFamilyHandle* const family =
        family_ == nullptr ? db_->DefaultColumnFamily() : family_;
    std::unique_ptr<rocksdb::Iterator> all(db_->NewIterator(read, family));
    rocksdb::ReadOptions pruned = decided.pruning->read_options();
    pruned.iterate_lower_bound = read.iterate_lower_bound;
    pruned.iterate_upper_bound = read.iterate_upper_bound;
    pruned.snapshot = read.snapshot;
    std::unique_ptr<rocksdb::Iterator> some(db_->NewIterator(pruned, family));
    for (int i = 0; i < 3; ++i) CompareRows(decided, some.get(), all.get());
    if (by_block_ && !config_.options.unordered_write && OneIn(10)) {
      const Predicate condition = Where(decided.condition, AllColumns());
      SkipScanOptions full = AlwaysSkip();
      full.use_index = false;
      EXPECT_EQ(Scan(db_.get(), family, condition, OneIn(2) ? SkipScanOptions() : AlwaysSkip()),
                Scan(db_.get(), family, condition, full));
    }
    const bool has_bounds =
        read.iterate_lower_bound != nullptr || read.iterate_upper_bound != nullptr;
    if (family_ == nullptr && !has_bounds && read.snapshot == nullptr && OneIn(8)) {
      if (kept_.size() > 3) kept_.erase(kept_.begin());
      kept_.push_back({decided, std::move(some), std::move(all)});
    }
    counts_.tables += decided.pruning->counts().tables_asked - before.tables_asked;
    counts_.left_out += decided.pruning->counts().tables_left_out - before.tables_left_out;
    counts_.blocks_left_out += decided.pruning->counts().blocks_left_out - before.blocks_left_out;
  }

  // Iterators that were made before other steps.
  void CompareKept() {
    if (kept_.empty()) return;
    const Kept& kept = kept_[Below(kept_.size())];
    if (OneIn(3) && kept.pruned->Refresh().ok()) MustBeOk(kept.plain->Refresh(), "refresh");
    CompareRows(kept.decided, kept.pruned.get(), kept.plain.get());
  }

  void Refresh() {
    const Decided& decided = Decide();
    const std::unique_ptr<rocksdb::Iterator> all(db_->NewIterator({}));
    const std::unique_ptr<rocksdb::Iterator> some(
        db_->NewIterator(decided.pruning->read_options()));
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
  const bool by_block_;          // by a block index, not by files
  const uint64_t style_;         // level, universal or FIFO, as in RocksDB's enum
  const uint64_t transactions_;  // 0: none; else a write policy and 1
  const bool deletes_ranges_;
  const bool has_equal_lengths_;
  bool places_ = false;      // keys by age
  bool is_uniform_ = false;  // all files have a block index of these columns
  bool is_primary_ = false;
  DbConfig config_;
  PrunedCounts& counts_;
  TempDir dir_;
  const std::string path_ = dir_ / "db";
  std::unique_ptr<rocksdb::DB> db_;
  rocksdb::ColumnFamilyHandle* family_ = nullptr;  // one that was imported, while it is compared
  std::vector<const rocksdb::Snapshot*> moments_;
  std::vector<Decided> decided_;
  std::vector<Kept> kept_;
  std::vector<std::string> singles_;
  uint64_t num_names_ = 0;  // of keys for SingleDelete, and of transactions
  uint64_t num_ingested_ = 0;
};

void ReadRandomDatabases(bool by_block) {
  uint64_t seed = NumberFromEnvironment("BLOCKSIEVE_PRUNED_SEED", 0);
  uint64_t enough = 0;
  if (LongTests()) enough = NumberFromEnvironment("BLOCKSIEVE_PRUNED_ROWS", 10'000'000);
  PrunedCounts counts;
  for (int seeds = 0; (seeds < 12 || counts.rows < enough) && !::testing::Test::HasFailure();
       ++seed, ++seeds) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    PrunedDb db(seed, by_block, &counts);
    for (int step = 0; step < 200 && !::testing::Test::HasFailure(); ++step) db.Step();
  }
  std::printf("%lu rows, %lu of %lu tables left out, %lu blocks of others\n", counts.rows,
              counts.left_out, counts.tables, counts.blocks_left_out);
  EXPECT_GT((counts.left_out + counts.blocks_left_out) * 20, counts.tables);
}

TEST(RandomPruningsTest, EveryMatchingRowIsShown) { ReadRandomDatabases(/*by_block=*/false); }

TEST(RandomPruningsTest, EveryMatchingRowIsShownByBlock) {
  if (!kHasBlockIndexes) GTEST_SKIP() << "needs RocksDB 11.2";
  ReadRandomDatabases(/*by_block=*/true);
}

}  // namespace
}  // namespace blocksieve
