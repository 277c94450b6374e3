// SPDX-License-Identifier: Apache-2.0
#include "tests/toylsm/toy_model.h"

#include <cmath>

#include "tests/support/damage.h"

// Behaviour that the model does not cover.

namespace blocksieve::toylsm {
namespace {

class DbTest : public ::testing::Test {
 protected:
  Predicate Parse(const std::string& text) {
    return *Predicate::Parse(text, options_.skip_index.columns);
  }
  Model Fill(int num_writes, const std::string& padding) {
    Model model;
    for (int i = 0; i < num_writes; ++i) {
      const std::string key = "key" + std::to_string(i * 7 % 25);
      model[key] = "w" + std::to_string(i % 8) + "\t" + std::to_string(i) + padding;
      MustBeOk(db_->Put(key, model[key]));
    }
    return model;
  }
  void Reopen() {
    db_ = nullptr;
    db_ = Must(Db::Open(options_, "/db"));
  }

  FaultEnv env_;
  Options options_ = SmallOptions(&env_);
  std::unique_ptr<Db> db_ = Must(Db::Open(options_, "/db"));
};

TEST_F(DbTest, FilesLiveAsLongAsTheirReaders) {
  MustBeOk(db_->Put("a", "1"));
  MustBeOk(db_->Flush());
  const auto iterator = db_->NewIterator();
  for (int i = 0; i < 3000; ++i) {
    MustBeOk(db_->Put("key" + std::to_string(i * 7919 % 1000), "word\t" + std::to_string(i)));
  }
  MustBeOk(db_->Put("a", "2"));
  MustBeOk(db_->Compact());
  EXPECT_EQ(db_->version()->runs.size(), 1U);
  ASSERT_TRUE(iterator->Valid());
  EXPECT_EQ(iterator->value(), "1");
  // Leftovers of a crash are removed, too; foreign files are not.
  for (const char* path : {"/db/000777.log", "/db/000778.sst", "/db/a note"}) {
    env_.SetContents(path, "x");
  }
  Reopen();
  const size_t num_files = db_->version()->AllFiles().size() + 3;  // manifest, log, note
  EXPECT_EQ(Must(env_.List("/db")).size(), num_files);
}

TEST_F(DbTest, AFailedWriteStopsWritesNotReads) {
  MustBeOk(db_->Put("a", "1"));
  env_.FailChange(1, false);
  const Status failed = db_->Put("b", "2");
  EXPECT_NE(failed.message().find(".log"), std::string::npos) << failed.message();
  EXPECT_EQ(db_->Put("c", "3").message(), failed.message());
  EXPECT_EQ(Must(db_->Get("a")), "1");
}

TEST_F(DbTest, EveryReadFailsOnce) {
  options_.cache_bytes = 0;
  Reopen();
  const Model model = Fill(200, std::string(80, '.'));
  ASSERT_GT(db_->version()->runs.size(), 1U);
  const Predicate predicate = Parse("word = 'w3'");
  const auto read_all = [&]() -> size_t {
    const auto db = Db::Open(options_, "/db");
    if (!db.ok()) return 1;
    return CheckReads(db->get(), model, {predicate}).size();
  };
  const uint64_t before = env_.num_reads();
  EXPECT_EQ(read_all(), 0U);
  const uint64_t num_reads = env_.num_reads() - before;
  uint64_t num_errors = 0;
  for (uint64_t n = 1; n <= num_reads && !HasFailure(); ++n) {
    env_.FailRead(n);
    num_errors += read_all();
  }
  // Failed reads of filters and skip indexes are no errors.
  EXPECT_GT(num_errors, num_reads / 4);
  EXPECT_LT(num_errors, num_reads);
}

TEST_F(DbTest, BadOptionsAreNamed) {
  const struct {
    const char* name;
    void (*change)(Options*);
  } cases[] = {
      {"level0_files", [](Options* o) { o->level0_files = 0; }},
      {"size_ratio", [](Options* o) { o->size_ratio = 1; }},
      {"size_ratio is nan", [](Options* o) { o->size_ratio = NAN; }},
      {"block_bytes is 0", [](Options* o) { o->block_bytes = 0; }},
      {"target_fpr", [](Options* o) { o->key_filters = {{.target_fpr = 2}}; }},
      {"target_fpr", [](Options* o) { o->skip_index.target_fpr = 2; }},
      {"range_fpr", [](Options* o) { o->key_filters = {{.ranges = true, .range_fpr = 0.5}}; }},
      {"bits_per_key", [](Options* o) { o->bits_per_key = 50; }},
      {"exclude each other", [](Options* o) { o->bits_per_key = o->wasted_reads = 1; }},
  };
  for (const auto& each : cases) {
    Options bad = options_;
    each.change(&bad);
    const Status status = Db::Open(bad, "/other").status();
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
    EXPECT_NE(status.message().find(each.name), std::string::npos) << status.message();
  }
}

TEST_F(DbTest, ExtremeOptionsWork) {
  for (const uint64_t bytes : {uint64_t{0}, uint64_t{1}, UINT64_MAX}) {
    options_.memtable_bytes = options_.level1_bytes = options_.file_bytes = bytes;
    options_.cache_bytes = bytes;
    options_.block_bytes = std::clamp<uint64_t>(bytes, 1, UINT32_MAX);
    options_.filter_granule_blocks = static_cast<uint32_t>(bytes);
    options_.skip_index.granule_rows = options_.skip_index.granule_bytes = bytes;
    options_.size_ratio = bytes == 0 ? 2 : 1e9;
    db_ = Must(Db::Open(options_, "/db" + std::to_string(bytes)));
    const Model model = Fill(60, "");
    MustBeOk(db_->Compact());
    db_ = Must(Db::Open(options_, "/db" + std::to_string(bytes)));
    EXPECT_EQ(CheckReads(db_.get(), model, {Parse("word = 'w3'")}).size(), 0U) << bytes;
  }
}

// Every truncation and every changed byte of every file gives an error with a reason, or the
// correct result.

constexpr int kMaxKeys = 45;

std::string Key(int i) { return "key" + std::to_string(i); }

class DamageTest : public ::testing::Test {
 protected:
  // A manifest, a file of level 1, a file of level 0, and a log.
  DamageTest() {
    options_.block_bytes = 128;
    const auto db = Must(Db::Open(options_, "/db"));
    const auto put = [&](int i, const std::string& value) {
      model_[Key(i)] = value;
      MustBeOk(db->Put(Key(i), value, {.sync = true}));
      states_.push_back(model_);
    };
    for (int i = 0; i < kMaxKeys; i += 2) put(i, "w" + std::to_string(i % 5) + "\t1");
    MustBeOk(db->Compact());
    for (int i = 0; i < kMaxKeys; i += 3) put(i, "w" + std::to_string(i % 7) + "\t2");
    for (int i = 0; i < kMaxKeys; i += 8) {
      model_.erase(Key(i));
      MustBeOk(db->Delete(Key(i)));
    }
    MustBeOk(db->Flush());
    states_ = {model_};
    for (int i = 1; i < 8; ++i) put(i, "w3\t3");  // in the log only
    EXPECT_EQ(Must(env_.List("/db")).size(), 4U);
  }

  std::vector<std::string> ListPaths(std::string_view suffix) {
    std::vector<std::string> paths;
    for (const std::string& name : Must(env_.List("/db"))) {
      if (name.ends_with(suffix)) paths.push_back("/db/" + name);
    }
    return paths;
  }

  // Opens a copy with one file changed, and reads all of it in every way.
  void Check(const std::string& path, ByteView contents) {
    FaultEnv env = env_;
    env.SetContents(path, std::string(AsText(contents)));
    Options options = options_;
    options.env = &env;
    const auto db = Db::Open(options, "/db");
    if (!db.ok()) return ExpectClear(db.status());
    Model expected = model_;
    if (path.ends_with(".log")) {
      // A truncated log looks like one that was never written to the end.
      expected = Must(ReadAll((*db)->NewIterator()));
      ASSERT_NE(std::find(states_.begin(), states_.end(), expected), states_.end());
    }
    const std::vector<Status> errors = CheckReads(db->get(), expected, predicates_);
    for (const Status& error : errors) ExpectClear(error);
    num_unharmed_ += errors.empty() ? 1 : 0;
  }

  static void ExpectClear(const Status& status) {
    EXPECT_EQ(status.code(), StatusCode::kCorruption) << status.message();
    EXPECT_GT(status.message().size(), 10U);
  }

  void CheckEveryChange(const std::string& path) {
    SCOPED_TRACE(path);
    const std::string& contents = env_.Contents(path);
    const auto masks_of = [](size_t at) {
      return LongTests() ? testing::EveryChange()
                         : testing::Masks{static_cast<uint8_t>(1 << at % 8), 0xff};
    };
    testing::ForEachDamage(AsBytes(contents), masks_of,
                           [&](ByteView damaged) { Check(path, damaged); });
  }

  FaultEnv env_;
  Options options_ = SmallOptions(&env_);
  const std::vector<Predicate> predicates_ = {
      *Predicate::Parse("word = 'w1'", options_.skip_index.columns),
      *Predicate::Parse("number > 1 AND word != 'w3'", options_.skip_index.columns)};
  Model model_;
  std::vector<Model> states_;  // all states since the last flush
  int num_unharmed_ = 0;       // opened, and all results correct
};

TEST_F(DamageTest, Sst) {
  for (const std::string& path : ListPaths(".sst")) CheckEveryChange(path);
  EXPECT_GT(num_unharmed_, 100);  // filters and skip indexes may be damaged
}

TEST_F(DamageTest, Manifest) {
  CheckEveryChange("/db/MANIFEST");
  EXPECT_EQ(num_unharmed_, 0);
}

TEST_F(DamageTest, Log) {
  const std::string path = ListPaths(".log").front();
  CheckEveryChange(path);
  // A record that had been synced is damaged, not torn.
  std::string changed = env_.Contents(path);
  changed[0] = static_cast<char>(changed[0] ^ 1);
  num_unharmed_ = 0;
  Check(path, AsBytes(changed));
  EXPECT_EQ(num_unharmed_, 0);
}

// Bytes that look like lengths of the rest of the log, at every offset; a hole before many records.
TEST_F(DamageTest, DamagedLogsAreReadInLinearTime) {
  const auto count_checked = [&](size_t num_bytes, bool has_hole) {
    LogWriter log(Must(env_.NewWritableFile("/log")), 7);
    MustBeOk(log.Append({.key = "first", .value = "value"}));
    const size_t hole = env_.Contents("/log").size();
    std::string lengths;
    while (lengths.size() < num_bytes) AppendVarint(&lengths, (num_bytes - lengths.size()) / 2);
    const size_t value_bytes = has_hole ? 100 : num_bytes;
    for (size_t begin = 0; begin + value_bytes <= num_bytes; begin += value_bytes) {
      MustBeOk(log.Append({"key", std::string_view(lengths).substr(begin, value_bytes)}));
    }
    std::string torn = env_.Contents("/log");
    torn[has_hole ? hole : torn.size() - 1] ^= 1;
    size_t num_entries = 0;
    uint64_t num_checked = 0;
    const auto visit = [&](const Entry&) { ++num_entries; };
    MustBeOk(ReadLog(AsBytes(torn), 7, visit, &num_checked));
    EXPECT_EQ(num_entries, 1U);
    return num_checked;
  };
  for (const bool has_hole : {false, true}) {
    const uint64_t num_checked = count_checked(4 << 10, has_hole);
    EXPECT_GT(num_checked, 4U << 10);
    EXPECT_LE(count_checked(64 << 10, has_hole), 20 * num_checked);
  }
}

TEST_F(DamageTest, ExchangedFiles) {
  const std::vector<std::string> ssts = ListPaths(".sst");
  ASSERT_EQ(ssts.size(), 2U);
  Check(ssts[0], AsBytes(env_.Contents(ssts[1])));
  Check(ssts[1], AsBytes(env_.Contents(ssts[0])));
  EXPECT_EQ(num_unharmed_, 0);
}

TEST_F(DamageTest, ALostManifestIsNotANewDatabase) {
  MustBeOk(env_.Remove("/db/MANIFEST"));
  EXPECT_EQ(Db::Open(options_, "/db").status().code(), StatusCode::kCorruption);
}

TEST_F(DamageTest, AFileMayEndEarly) {
  const auto file = Must(Env::Posix()->OpenFile(testing::SourcePath("README.md")));
  EXPECT_EQ(file->Read(1, file->size()).status().code(), StatusCode::kCorruption);
}

}  // namespace
}  // namespace blocksieve::toylsm
