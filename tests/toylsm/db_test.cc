#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "integration/toylsm/db.h"
#include "tests/support/temp_dir.h"
#include "tests/toylsm/memory_env.h"
#include "tests/toylsm/toy_model.h"

// Single behaviours of the engine.

namespace blocksieve::toylsm {
namespace {

class DbTest : public ::testing::Test {
 protected:
  DbTest() { Reopen(); }

  void Reopen() {
    db_ = nullptr;
    db_ = MustHave(Db::Open(options_, "/db"));
  }
  std::optional<std::string> Get(const std::string& key, const Snapshot* at = nullptr) {
    return MustHave(db_->Get(key, at));
  }
  Predicate Parse(const std::string& text) {
    return *Predicate::Parse(text, options_.value_columns);
  }

  MemoryEnv env_;
  Options options_ = SmallOptions(&env_);
  std::unique_ptr<Db> db_;
};

TEST_F(DbTest, PutDeleteGet) {
  EXPECT_EQ(Get("a"), std::nullopt);
  MustBeOk(db_->Put("a", "1"));
  MustBeOk(db_->Put("", "empty"));
  MustBeOk(db_->Put(std::string("\0\xff", 2), ""));
  EXPECT_EQ(Get("a"), "1");
  EXPECT_EQ(Get(""), "empty");
  EXPECT_EQ(Get(std::string("\0\xff", 2)), "");
  MustBeOk(db_->Delete("a"));
  MustBeOk(db_->Delete("never there"));
  EXPECT_EQ(Get("a"), std::nullopt);
  MustBeOk(db_->Flush());
  EXPECT_EQ(Get("a"), std::nullopt);
  EXPECT_EQ(Get(""), "empty");
  Reopen();
  EXPECT_EQ(Get("a"), std::nullopt);
  EXPECT_EQ(Get(std::string("\0\xff", 2)), "");
}

TEST_F(DbTest, ReopenWithoutFlush) {
  for (int i = 0; i < 10; ++i) {
    MustBeOk(db_->Put("key" + std::to_string(i), std::to_string(i)));
    Reopen();
  }
  for (int i = 0; i < 10; ++i) EXPECT_EQ(Get("key" + std::to_string(i)), std::to_string(i));
}

TEST_F(DbTest, BatchIsOneWrite) {
  WriteBatch batch;
  batch.Put("a", "1");
  batch.Put("b", "2");
  batch.Delete("a");
  MustBeOk(db_->Write(batch));
  EXPECT_EQ(Get("a"), std::nullopt);
  EXPECT_EQ(Get("b"), "2");
  WriteBatch bad;
  bad.Put("c", "3");
  bad.Put(std::string(kMaxKeyBytes + 1, 'k'), "");
  EXPECT_EQ(db_->Write(bad).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(Get("c"), std::nullopt);
  MustBeOk(db_->Put(std::string(kMaxKeyBytes, 'k'), "longest"));
  EXPECT_EQ(Get(std::string(kMaxKeyBytes, 'k')), "longest");
}

TEST_F(DbTest, NoBatchIsLongerThanTheLogCanSay) {
  WriteBatch batch;
  batch.Put("a", std::string(kMaxValueBytes, 'v'));
  batch.Append(batch);
  MustBeOk(batch.status());
  const size_t num_bytes = batch.bytes().size();
  batch.Append(batch);
  EXPECT_EQ(batch.status().message(), "batch of " + std::to_string(2 * num_bytes) +
                                          " bytes; allowed are " + std::to_string(kMaxBatchBytes));
  EXPECT_EQ(batch.bytes().size(), num_bytes);
  batch.Put("b", "too late");
  EXPECT_EQ(db_->Write(batch).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(Get("a"), std::nullopt);
  MustBeOk(db_->Put("a", "1"));
}

TEST_F(DbTest, MultiGetKeepsTheOrderOfKeys) {
  MustBeOk(db_->Put("a", "1"));
  MustBeOk(db_->Put("b", "2"));
  MustBeOk(db_->Flush());
  MustBeOk(db_->Put("b", "3"));
  const std::vector<std::string_view> keys = {"c", "b", "a", "b"};
  const auto values = MustHave(db_->MultiGet(keys));
  EXPECT_EQ(values, (std::vector<std::optional<std::string>>{std::nullopt, "3", "1", "3"}));
}

TEST_F(DbTest, SnapshotSurvivesFlushAndCompaction) {
  MustBeOk(db_->Put("a", "old"));
  MustBeOk(db_->Put("b", "old"));
  auto snapshot = db_->GetSnapshot();
  MustBeOk(db_->Put("a", "new"));
  MustBeOk(db_->Delete("b"));
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(Get("a", snapshot.get()), "old");
    EXPECT_EQ(Get("b", snapshot.get()), "old");
    EXPECT_EQ(Get("a"), "new");
    EXPECT_EQ(Get("b"), std::nullopt);
    MustBeOk(db_->Compact());
  }
  snapshot = nullptr;
  MustBeOk(db_->Put("c", "makes the next compaction do something"));
  MustBeOk(db_->Compact());
  const auto version = db_->version();
  ASSERT_EQ(version->runs.size(), 1u);
  EXPECT_EQ(version->runs[0].files[0]->index().num_entries, 2u);  // a and c, one version each
}

TEST_F(DbTest, IteratorTurnsAround) {
  for (const char* key : {"a", "c", "e"}) MustBeOk(db_->Put(key, "old"));
  MustBeOk(db_->Flush());
  for (const char* key : {"b", "c", "d"}) MustBeOk(db_->Put(key, "new"));
  MustBeOk(db_->Delete("d"));
  auto iterator = db_->NewIterator();
  iterator->Seek("bb");
  ASSERT_TRUE(iterator->Valid());
  EXPECT_EQ(iterator->key(), "c");
  EXPECT_EQ(iterator->value(), "new");
  iterator->Prev();
  EXPECT_EQ(iterator->key(), "b");
  iterator->Next();
  EXPECT_EQ(iterator->key(), "c");
  iterator->Next();
  EXPECT_EQ(iterator->key(), "e");
  iterator->Prev();
  EXPECT_EQ(iterator->key(), "c");
  EXPECT_EQ(iterator->value(), "new");
  iterator->SeekToFirst();
  iterator->Prev();
  EXPECT_FALSE(iterator->Valid());
  iterator->SeekToLast();
  EXPECT_EQ(iterator->key(), "e");
  iterator->Next();
  EXPECT_FALSE(iterator->Valid());
}

TEST_F(DbTest, OneRowManyVersionsUnderSnapshots) {
  std::vector<std::unique_ptr<const Snapshot>> snapshots;
  for (int i = 0; i < 50; ++i) {
    MustBeOk(db_->Put("k", std::string(100, 'v') + std::to_string(i)));
    snapshots.push_back(db_->GetSnapshot());
  }
  MustBeOk(db_->Put("l", "behind it"));
  MustBeOk(db_->Compact());
  for (int i = 0; i < 50; ++i) {
    EXPECT_EQ(Get("k", snapshots[static_cast<size_t>(i)].get()),
              std::string(100, 'v') + std::to_string(i));
  }
  EXPECT_EQ(Get("l"), "behind it");
  MustBeOk(db_->Verify());
}

TEST_F(DbTest, ScanDoesNotBringOldVersionsBack) {
  MustBeOk(db_->Put("a", "red\t1"));
  MustBeOk(db_->Put("b", "red\t2"));
  MustBeOk(db_->Put("c", "red\t3"));
  MustBeOk(db_->Flush());
  auto snapshot = db_->GetSnapshot();
  MustBeOk(db_->Put("a", "blue\t1"));
  MustBeOk(db_->Delete("b"));
  MustBeOk(db_->Flush());
  auto scan = db_->Scan(Parse("word = 'red'"));
  EXPECT_EQ(MustHave(ReadAll(scan.get())), (Model{{"c", "red\t3"}}));
  EXPECT_EQ(scan->stats().rows_stale, 2u);
  scan = db_->Scan(Parse("word = 'red'"), snapshot.get());
  EXPECT_EQ(MustHave(ReadAll(scan.get())).size(), 3u);
  scan = db_->Scan(Parse("word = 'green'"));
  EXPECT_EQ(MustHave(ReadAll(scan.get())).size(), 0u);
  EXPECT_EQ(scan->stats().blocks_selected, 0u);
}

TEST_F(DbTest, FilesAreAsManyAsNeeded) {
  for (int i = 0; i < 3000; ++i) {
    MustBeOk(db_->Put("key" + std::to_string(i * 7919 % 1000), "word\t" + std::to_string(i)));
  }
  MustBeOk(db_->Compact());
  const auto version = db_->version();
  EXPECT_EQ(version->runs.size(), 1u);
  // Those, manifest and log; what was replaced is gone.
  EXPECT_EQ(MustHave(env_.List("/db")).size(), version->AllFiles().size() + 2);
  MustBeOk(db_->Verify());
}

TEST_F(DbTest, Level0StaysSmallHoweverItIsFilled) {
  for (int i = 0; i < 20; ++i) {
    MustBeOk(db_->Put("key" + std::to_string(i), "word\t" + std::to_string(i)));
    i % 2 == 0 ? MustBeOk(db_->Flush()) : Reopen();
    const auto version = db_->version();
    EXPECT_LT(std::count_if(version->runs.begin(), version->runs.end(),
                            [](const auto& run) { return run.level == 0; }),
              options_.level0_files);
  }
}

TEST_F(DbTest, OldFilesLiveAsLongAsTheirReaders) {
  MustBeOk(db_->Put("a", "1"));
  MustBeOk(db_->Flush());
  auto iterator = db_->NewIterator();
  MustBeOk(db_->Put("a", "2"));
  MustBeOk(db_->Compact());
  iterator->SeekToFirst();
  ASSERT_TRUE(iterator->Valid());
  EXPECT_EQ(iterator->value(), "1");
}

TEST_F(DbTest, OpenOnlyOnce) {
  EXPECT_EQ(Db::Open(options_, "/db").status().code(), StatusCode::kResourceExhausted);
}

// Another process makes the database just before this one gets the lock.
class OvertakenEnv final : public MemoryEnv {
 public:
  Result<std::unique_ptr<FileLock>> Lock(const std::string& path) override {
    if (!std::exchange(is_overtaken_, true)) {
      MustBeOk(MustHave(Db::Open(SmallOptions(this), "/db"))->Put("a", "1"));
    }
    return MemoryEnv::Lock(path);
  }

 private:
  bool is_overtaken_ = false;
};

TEST(OvertakenDbTest, TheDatabaseIsTheOneUnderTheLock) {
  OvertakenEnv env;
  const auto db = MustHave(Db::Open(SmallOptions(&env), "/db"));
  EXPECT_EQ(MustHave(db->Get("a")), "1");
}

TEST_F(DbTest, OnlyItsOwnFilesAreRemoved) {
  MustBeOk(db_->Put("a", "1"));
  db_ = nullptr;
  const std::string somebodys[] = {"thesis.tmp",  "MANIFEST.old",  "access.log", "2024.log",
                                   "x000777.log", "000777.log.gz", "stars.sst"};
  const std::string left_over[] = {"MANIFEST.tmp", "000777.log", "000778.sst", "1000000.sst"};
  const std::string contents(1000, 'x');
  for (const std::string& name : somebodys) {
    env_.SetContents("/db/" + name, contents);
    env_.SetContents("/new/" + name, contents);
  }
  for (const std::string& name : left_over) env_.SetContents("/db/" + name, contents);
  Reopen();
  EXPECT_EQ(Get("a"), "1");
  // Where there is no database yet, files of others are none that has lost its manifest.
  MustHave(Db::Open(options_, "/new"));
  for (const std::string& name : somebodys) {
    EXPECT_EQ(env_.Contents("/db/" + name), contents) << name;
    EXPECT_EQ(env_.Contents("/new/" + name), contents) << name;
  }
  for (const std::string& name : left_over) EXPECT_FALSE(*env_.Exists("/db/" + name)) << name;
}

// A database in "/full", of which the manifest says that so many writes have been.
class FullDbTest : public DbTest {
 protected:
  void Make(Sequence last_sequence, const WriteBatch& in_log) {
    const Manifest manifest{
        .next_file_number = 2, .last_sequence = last_sequence, .log_number = 1, .files = {}};
    MustBeOk(manifest.Write(&env_, "/full"));
    const auto log = MustHave(LogWriter::Create(&env_, LogPath("/full", 1), 1));
    MustBeOk(log->Append(in_log.bytes(), last_sequence + 1));
  }
};

TEST_F(FullDbTest, TheLastSequenceIsWrittenAndNoneBeyond) {
  Make(kMaxSequence - 1, {});
  auto db = MustHave(Db::Open(options_, "/full"));
  MustBeOk(db->Put("last", "1"));
  EXPECT_EQ(db->Put("beyond", "2").message(),
            "sequence of a write is 72057594037927936; allowed is up to 72057594037927935");
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(MustHave(db->Get("last")), "1");
    EXPECT_EQ(MustHave(db->Get("beyond")), std::nullopt);
    db = nullptr;
    db = MustHave(Db::Open(options_, "/full"));
  }
}

TEST_F(FullDbTest, ALogThatGoesOnBeyondTheLastSequenceIsDamaged) {
  WriteBatch two;
  two.Put("last", "1");
  two.Put("beyond", "2");
  Make(kMaxSequence - 1, two);
  EXPECT_EQ(Db::Open(options_, "/full").status().code(), StatusCode::kCorruption);
}

TEST_F(DbTest, LostManifestIsNoNewDatabase) {
  MustBeOk(db_->Put("a", "1"));
  db_ = nullptr;
  MustBeOk(env_.Remove("/db/MANIFEST"));
  EXPECT_EQ(Db::Open(options_, "/db").status().code(), StatusCode::kCorruption);
}

TEST_F(DbTest, AnotherLogUnderItsName) {
  const auto log_path = [this] {
    for (const std::string& name : MustHave(env_.List("/db"))) {
      if (name.ends_with(".log")) return "/db/" + name;
    }
    return std::string();
  };
  MustBeOk(db_->Put("a", "1"));
  const std::string contents = env_.Contents(log_path());
  MustBeOk(db_->Flush());
  MustBeOk(db_->Put("b", "2", {.sync = true}));
  db_ = nullptr;
  env_.SetContents(log_path(), contents);
  EXPECT_EQ(Db::Open(options_, "/db").status().code(), StatusCode::kCorruption);
}

TEST_F(DbTest, BadOptionsAreNamed) {
  Options bad = options_;
  bad.size_ratio = 1;
  EXPECT_EQ(Db::Open(bad, "/other").status().message(),
            "size_ratio is 1.000000; allowed is more than 1");
  bad = options_;
  bad.key_filters = {{.target_fpr = 2}};
  EXPECT_EQ(Db::Open(bad, "/other").status().code(), StatusCode::kInvalidArgument);
  bad = options_;
  bad.create_if_missing = false;
  EXPECT_EQ(Db::Open(bad, "/other").status().code(), StatusCode::kInvalidArgument);
}

TEST(PosixDbTest, ReopenOnDisk) {
  testing::TempDir dir;
  Options options = SmallOptions(Env::Posix());
  Model model;
  for (int round = 0; round < 3; ++round) {
    auto db = MustHave(Db::Open(options, dir / "db"));
    EXPECT_FALSE(Db::Open(options, dir / "db").ok());
    EXPECT_EQ(MustHave(ReadAll(db->NewIterator().get())), model);
    for (int i = 0; i < 1000; ++i) {
      const std::string key = "key" + std::to_string(i * (round + 1));
      model[key] = "round\t" + std::to_string(round);
      MustBeOk(db->Put(key, model[key], {.sync = i % 100 == 0}));
    }
  }
}

}  // namespace
}  // namespace blocksieve::toylsm
