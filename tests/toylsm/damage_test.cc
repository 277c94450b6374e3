#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "tests/toylsm/toy_model.h"

// Every truncation and every flipped byte of every file: an error that says where, or the answer.

namespace blocksieve::toylsm {
namespace {

class DamageTest : public ::testing::Test {
 protected:
  static constexpr int kNumKeys = 45;

  static std::string Key(int i) { return "key" + std::to_string(i); }

  DamageTest() {
    options_.block_bytes = 128;
    files_ = Make(&env_, 0);
    EXPECT_EQ(files_.size(), 4u);  // manifest, log, a file of level 0, one of level 1
  }

  using Files = std::map<std::string, std::string>;

  // The database, and before it some more writes that leave nothing.
  Files Make(MemoryEnv* env, int num_more_writes) {
    Options options = options_;
    options.env = env;
    auto db = MustHave(Db::Open(options, "/db"));
    model_.clear();
    states_.clear();
    for (int i = 0; i < num_more_writes; ++i) MustBeOk(db->Put(Key(0), ""));
    const auto put = [&](int i, const std::string& value) {
      model_[Key(i)] = value;
      MustBeOk(db->Put(Key(i), value));
    };
    for (int i = 0; i < kNumKeys; i += 2) put(i, "w" + std::to_string(i % 5) + "\t1");
    MustBeOk(db->Compact());
    for (int i = 0; i < kNumKeys; i += 3) put(i, "w" + std::to_string(i % 7) + "\t2");
    for (int i = 0; i < kNumKeys; i += 8) {
      model_.erase(Key(i));
      MustBeOk(db->Delete(Key(i)));
    }
    MustBeOk(db->Flush());
    // What follows is in the log only.
    states_.push_back(model_);
    for (int i = 1; i < 8; ++i) {
      put(i, "w3\t3");
      states_.push_back(model_);
    }
    for (const std::string& name : MustHave(env->List("/db"))) {
      if (name.ends_with(".log")) crashed_log_ = env->Contents("/db/" + name);
    }
    db = nullptr;
    Files files;
    for (const std::string& name : MustHave(env->List("/db"))) {
      files["/db/" + name] = env->Contents("/db/" + name);
    }
    return files;
  }

  // The log as a crash would leave it: not closed.
  std::string crashed_log_;

  // Opens a copy with one file changed and reads all of it in every way.
  void Check(const std::string& path, const std::string& contents, bool may_end_early) {
    MemoryEnv env;
    for (const auto& [name, original] : files_) env.SetContents(name, original);
    env.SetContents(path, contents);
    Options options = options_;
    options.env = &env;
    auto opened = Db::Open(options, "/db");
    ++num_cases_;
    if (!opened.ok()) return ExpectClear(opened.status());
    Db& db = **opened;
    bool has_error = false;

    const auto rows = ReadAll(db.NewIterator().get());
    const Model* expected = &model_;
    if (rows.ok() && may_end_early) {
      const auto state = std::find(states_.begin(), states_.end(), *rows);
      ASSERT_NE(state, states_.end()) << "no state that ever was";
      expected = &*state;
    }
    if (rows.ok()) {
      ASSERT_EQ(*rows, *expected);
    } else {
      has_error = true;
      ExpectClear(rows.status());
    }
    for (int i = 0; i < kNumKeys + 2; ++i) {
      const auto value = db.Get(Key(i));
      if (!value.ok()) {
        has_error = true;
        ExpectClear(value.status());
        continue;
      }
      const auto row = expected->find(Key(i));
      ASSERT_EQ(value->has_value(), row != expected->end()) << Key(i);
      if (value->has_value()) {
        ASSERT_EQ(**value, row->second);
      }
    }
    for (const Predicate& predicate : predicates_) {
      const auto matches = ReadAll(db.Scan(predicate).get());
      if (matches.ok()) {
        ASSERT_EQ(*matches, Matching(*expected, predicate)) << predicate.ToText();
      } else {
        has_error = true;
        ExpectClear(matches.status());
      }
    }
    if (!has_error) {
      ++num_unharmed_;
      if (db.Verify().ok() && !may_end_early) ++num_unnoticed_;
    }
  }

  static void ExpectClear(const Status& status) {
    EXPECT_TRUE(status.code() == StatusCode::kCorruption ||
                status.code() == StatusCode::kNotSupported)
        << static_cast<int>(status.code()) << " " << status.message();
    EXPECT_GT(status.message().size(), 10u);
  }

  // What byte i is changed by: one bit and all of them, or everything that it can be.
  static std::vector<int> Flips(size_t i) {
    if (!LongTests()) return {1 << i % 8, 0xff};
    std::vector<int> all(0xff);
    std::iota(all.begin(), all.end(), 1);
    return all;
  }

  void CheckAll(const std::string& suffix) {
    for (const auto& [path, contents] : files_) {
      if (!path.ends_with(suffix)) continue;
      const bool is_log = suffix == ".log";
      for (size_t i = 0; i < contents.size() && !HasFatalFailure(); ++i) {
        SCOPED_TRACE(path + ", byte " + std::to_string(i));
        std::string changed = contents;
        for (const int flip : Flips(i)) {
          changed[i] = static_cast<char>(contents[i] ^ flip);
          Check(path, changed, false);
        }
        Check(path, contents.substr(0, i), is_log);
        changed = contents;
        changed.resize(i);
        changed.resize(contents.size(), '\0');
        Check(path, changed, is_log);  // the rest is zeros
      }
    }
    RecordProperty("cases", num_cases_);
    EXPECT_GT(num_cases_, 50);
  }

  MemoryEnv env_;
  Options options_ = SmallOptions(&env_);
  const std::vector<Predicate> predicates_ = {
      *Predicate::Parse("word = 'w1'", options_.value_columns),
      *Predicate::Parse("number > 1 AND word != 'w3'", options_.value_columns)};
  Model model_;
  std::vector<Model> states_;
  Files files_;
  int num_cases_ = 0;
  int num_unharmed_ = 0;   // opened, and all answers right
  int num_unnoticed_ = 0;  // of these, also by Verify
};

TEST_F(DamageTest, Sst) {
  CheckAll(".sst");
  // Damaged filters and value indexes.
  EXPECT_GT(num_unharmed_, 100);
  EXPECT_EQ(num_unnoticed_, 0);
}

TEST_F(DamageTest, Log) { CheckAll(".log"); }

// Nothing says how much of its end had been written, so any state that once was will do.
TEST_F(DamageTest, LogOfACrash) {
  std::string path;
  for (const auto& [name, contents] : files_) {
    if (name.ends_with(".log")) path = name;
  }
  ASSERT_LT(crashed_log_.size(), files_[path].size());
  Check(path, crashed_log_, false);
  for (size_t i = 0; i < crashed_log_.size() && !HasFatalFailure(); ++i) {
    SCOPED_TRACE("byte " + std::to_string(i));
    for (const int flip : Flips(i)) {
      std::string changed = crashed_log_;
      changed[i] = static_cast<char>(changed[i] ^ flip);
      Check(path, changed, true);
    }
    Check(path, crashed_log_.substr(0, i), true);
  }
}

// Of which only the end was not synced.
TEST_F(DamageTest, LogSyncedHalfway) {
  MemoryEnv env;
  Options options = options_;
  options.env = &env;
  std::string log;
  size_t num_synced_bytes = 0;
  std::string path;
  {
    auto db = MustHave(Db::Open(options, "/db"));
    for (const std::string& name : MustHave(env.List("/db"))) {
      if (name.ends_with(".log")) path = "/db/" + name;
    }
    MustBeOk(db->Put("a", "1"));
    MustBeOk(db->Put("b", "2", {.sync = true}));
    num_synced_bytes = env.Contents(path).size();
    MustBeOk(db->Put("c", "3"));
    log = env.Contents(path);
    env.SetContents("/manifest", env.Contents("/db/MANIFEST"));
  }
  for (size_t i = 0; i < log.size(); ++i) {
    MemoryEnv copy;
    copy.SetContents("/db/MANIFEST", env.Contents("/manifest"));
    std::string changed = log;
    changed[i] = static_cast<char>(changed[i] ^ 1);
    copy.SetContents(path, changed);
    options.env = &copy;
    const auto db = Db::Open(options, "/db");
    ASSERT_EQ(db.ok(), i >= num_synced_bytes) << i;
    if (!db.ok()) {
      ExpectClear(db.status());
      continue;
    }
    EXPECT_EQ(MustHave(ReadAll((*db)->NewIterator().get())), (Model{{"a", "1"}, {"b", "2"}})) << i;
  }
}

TEST_F(DamageTest, Manifest) {
  CheckAll("MANIFEST");
  EXPECT_EQ(num_unharmed_, 0);
}

TEST_F(DamageTest, ExchangedFiles) {
  std::vector<std::string> ssts;
  for (const auto& [path, contents] : files_) {
    if (path.ends_with(".sst")) ssts.push_back(path);
  }
  ASSERT_EQ(ssts.size(), 2u);
  ASSERT_NE(files_[ssts[0]], files_[ssts[1]]);
  Check(ssts[0], files_[ssts[1]], false);
  Check(ssts[1], files_[ssts[0]], false);
  // Files of a database that looks the same, but has a longer past.
  MemoryEnv env;
  for (const auto& [path, contents] : Make(&env, 5)) {
    if (path.ends_with(".log")) Check(path, contents, false);
  }
  EXPECT_EQ(num_unharmed_, 0);
}

TEST_F(DamageTest, ExchangedFilesOfOneLength) {
  MemoryEnv env;
  Options options = options_;
  options.env = &env;
  options.key_filters.clear();  // these two compress to different lengths
  options.value_columns.clear();
  {
    auto db = MustHave(Db::Open(options, "/db"));
    for (const char* key : {"a", "b"}) {
      MustBeOk(db->Put(key, "w1\t1"));
      MustBeOk(db->Flush());
    }
  }
  std::vector<std::string> ssts;
  for (const std::string& name : MustHave(env.List("/db"))) {
    if (name.ends_with(".sst")) ssts.push_back("/db/" + name);
  }
  ASSERT_EQ(ssts.size(), 2u);
  const std::string contents[] = {env.Contents(ssts[0]), env.Contents(ssts[1])};
  ASSERT_EQ(contents[0].size(), contents[1].size());
  env.SetContents(ssts[0], contents[1]);
  env.SetContents(ssts[1], contents[0]);
  EXPECT_EQ(Db::Open(options, "/db").status().code(), StatusCode::kCorruption);
}

}  // namespace
}  // namespace blocksieve::toylsm
