// SPDX-License-Identifier: Apache-2.0
#include "tests/support/damage.h"

#include <algorithm>
#include <string>
#include <vector>

#include "tests/support/environment.h"
#include "tests/toylsm/toy_model.h"

// Every truncation and every changed byte of every file gives an error with a reason, or the
// correct result.

namespace blocksieve::toylsm {
namespace {

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
    testing::ForEachFlip(AsBytes(contents), masks_of,
                         [&](ByteView changed, size_t) { Check(path, changed); });
    for (size_t size = 0; size < contents.size() && !HasFailure(); ++size) {
      SCOPED_TRACE("first " + std::to_string(size));
      Check(path, AsBytes(std::string_view(contents).substr(0, size)));
    }
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
