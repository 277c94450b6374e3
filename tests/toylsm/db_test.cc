// SPDX-License-Identifier: Apache-2.0
#include "tests/toylsm/toy_model.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

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

}  // namespace
}  // namespace blocksieve::toylsm
