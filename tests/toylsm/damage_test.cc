#include <gtest/gtest.h>

#include <algorithm>
#include <climits>
#include <map>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/damage.h"
#include "tests/support/reseal_toylsm.h"
#include "tests/toylsm/toy_model.h"

// Every truncation and every flipped byte of every file: an error that says where, or the answer.

namespace blocksieve::toylsm {
namespace {

using Files = std::map<std::string, std::string>;

Files FilesIn(MemoryEnv* env) {
  Files files;
  for (const std::string& name : MustHave(env->List("/db"))) {
    files["/db/" + name] = env->Contents("/db/" + name);
  }
  return files;
}

std::vector<std::string> PathsOf(const Files& files, std::string_view suffix) {
  std::vector<std::string> paths;
  for (const auto& [path, contents] : files) {
    if (path.ends_with(suffix)) paths.push_back(path);
  }
  return paths;
}

// What may come of a damaged file besides an error that is clear.
enum class Allowed {
  kAllRows,
  kAnyState,  ///< That once was: nothing says how much of the end of a log had been written.
  kAnything,  ///< Checksums are right, so that the damage cannot be told from what was written.
};

class DamageTest : public ::testing::Test {
 protected:
  static constexpr int kNumKeys = 45;

  static std::string Key(int i) { return "key" + std::to_string(i); }

  DamageTest() {
    options_.block_bytes = 128;
    files_ = Make(&env_, 0);
    EXPECT_EQ(files_.size(), 4u);  // manifest, log, a file of level 0, one of level 1
  }

  Options OptionsOn(Env* env) const {
    Options options = options_;
    options.env = env;
    return options;
  }

  // The database, and before it some more writes that leave nothing.
  Files Make(MemoryEnv* env, int num_more_writes) {
    auto db = MustHave(Db::Open(OptionsOn(env), "/db"));
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
    files_before_close_ = FilesIn(env);
    db = nullptr;
    return FilesIn(env);
  }

  // Opens a copy with one file changed and reads all of it in every way.
  void Check(const std::string& path, ByteView contents, Allowed allowed) {
    MemoryEnv env;
    for (const auto& [name, original] : files_) env.SetContents(name, original);
    env.SetContents(path, std::string(AsText(contents)));
    ++num_cases_;
    bool has_error = false;
    const auto is_right = [&](const auto& result) {
      if (!result.ok()) ExpectClear(result.status());
      has_error |= !result.ok();
      return result.ok() && allowed != Allowed::kAnything;
    };
    const auto db = Db::Open(OptionsOn(&env), "/db");
    is_right(db);
    if (!db.ok()) return;
    const auto rows = ReadAll((*db)->NewIterator().get());
    const Model* expected = &model_;
    if (is_right(rows)) {
      if (allowed == Allowed::kAnyState) {
        const auto state = std::find(states_.begin(), states_.end(), *rows);
        ASSERT_NE(state, states_.end()) << "no state that ever was";
        expected = &*state;
      }
      EXPECT_EQ(*rows, *expected);
    }
    for (int i = 0; i < kNumKeys + 2; ++i) {
      const auto value = (*db)->Get(Key(i));
      if (!is_right(value)) continue;
      const auto row = expected->find(Key(i));
      EXPECT_EQ(value->has_value(), row != expected->end()) << Key(i);
      EXPECT_EQ(value->value_or(""), row != expected->end() ? row->second : "") << Key(i);
      const KeyRange range{.begin = Key(i), .end = Key(i) + '\0'};
      const auto in_range = ReadAll((*db)->NewIterator(nullptr, range).get());
      if (!is_right(in_range)) continue;
      EXPECT_EQ(*in_range, Within(*expected, range)) << Key(i);
    }
    for (const Predicate& predicate : predicates_) {
      const auto matches = ReadAll((*db)->Scan(predicate).get());
      EXPECT_TRUE(!is_right(matches) || *matches == Matching(*expected, predicate))
          << predicate.ToText();
    }
    if (has_error) return;
    ++num_unharmed_;
    num_unnoticed_ += (*db)->Verify().ok() && allowed == Allowed::kAllRows;
  }

  static void ExpectClear(const Status& status) {
    EXPECT_TRUE(status.code() == StatusCode::kCorruption ||
                status.code() == StatusCode::kNotSupported)
        << static_cast<int>(status.code()) << " " << status.message();
    EXPECT_GT(status.message().size(), 10u);
  }

  MemoryEnv env_;
  Options options_ = SmallOptions(&env_);
  const std::vector<Predicate> predicates_ = {
      *Predicate::Parse("word = 'w1'", options_.value_columns),
      *Predicate::Parse("number > 1 AND word != 'w3'", options_.value_columns)};
  Model model_;
  std::vector<Model> states_;
  Files files_;
  Files files_before_close_;
  int num_cases_ = 0;
  int num_unharmed_ = 0;   // opened, and all answers right
  int num_unnoticed_ = 0;  // of these, also by Verify
};

struct DamagedFile {
  const char* name;
  const char* suffix;
  Allowed if_changed;
  Allowed if_cut;
  std::optional<std::string> (*reseal)(ByteView file);
  // Cases after which all rows are still found.
  int least_unharmed = 0;
  int most_unharmed = INT_MAX;
};

void PrintTo(const DamagedFile& file, std::ostream* out) { *out << file.name; }

std::optional<std::string> ResealOneSst(ByteView sst) {
  return testing::ResealSst(sst, testing::SstNumberOf(sst));
}

const DamagedFile kDamagedFiles[] = {
    // Filters and skip indexes may be damaged.
    {"Sst", ".sst", Allowed::kAllRows, Allowed::kAllRows, &ResealOneSst, 100},
    {"Manifest", "MANIFEST", Allowed::kAllRows, Allowed::kAllRows, &testing::ResealManifest, 0, 0},
    {"Log", ".log", Allowed::kAllRows, Allowed::kAnyState, &testing::ResealLog},
    {"LogOfACrash", ".log", Allowed::kAnyState, Allowed::kAnyState, &testing::ResealLog},
};

class DamagedFileTest : public DamageTest, public ::testing::WithParamInterface<DamagedFile> {
 protected:
  DamagedFileTest() {
    if (GetParam().name != std::string_view("LogOfACrash")) return;
    const std::string log = PathsOf(files_, ".log").front();
    EXPECT_LT(files_before_close_[log].size(), files_[log].size());
    files_[log] = files_before_close_[log];
  }

  // check(path, contents), of each file of the kind.
  template <class CheckFile>
  void ForEachFile(CheckFile check) {
    for (const std::string& path : PathsOf(files_, GetParam().suffix)) {
      SCOPED_TRACE(path);
      check(path, files_[path]);
    }
    RecordProperty("cases", num_cases_);
    EXPECT_GT(num_cases_, 40);
  }

  // One bit and all of them, or everything that a byte can be.
  static testing::Masks MasksOf(size_t at) {
    if (LongTests()) return testing::EveryChange();
    return {static_cast<uint8_t>(1 << at % 8), 0xff};
  }
};

INSTANTIATE_TEST_SUITE_P(Files, DamagedFileTest, ::testing::ValuesIn(kDamagedFiles),
                         [](const auto& info) { return info.param.name; });

TEST_P(DamagedFileTest, EveryByteChangedAndEveryLength) {
  ForEachFile([&](const std::string& path, const std::string& contents) {
    testing::ForEachFlip(AsBytes(contents), &MasksOf, [&](ByteView changed, size_t) {
      Check(path, changed, GetParam().if_changed);
    });
    for (size_t size = 0; size < contents.size() && !HasFailure(); ++size) {
      SCOPED_TRACE("first " + std::to_string(size));
      std::string cut = contents.substr(0, size);
      Check(path, AsBytes(cut), GetParam().if_cut);
      cut.resize(contents.size(), '\0');
      Check(path, AsBytes(cut), GetParam().if_cut);  // the rest is zeros
    }
  });
  EXPECT_GE(num_unharmed_, GetParam().least_unharmed);
  EXPECT_LE(num_unharmed_, GetParam().most_unharmed);
  if (GetParam().if_cut == Allowed::kAllRows) {
    EXPECT_EQ(num_unnoticed_, 0);
  }
}

TEST_P(DamagedFileTest, EveryByteChangedUnderRightChecksums) {
  ForEachFile([&](const std::string& path, const std::string& contents) {
    testing::ForEachFlip(AsBytes(contents), &MasksOf, [&](ByteView changed, size_t) {
      const std::optional<std::string> resealed = GetParam().reseal(changed);
      if (resealed) Check(path, AsBytes(*resealed), Allowed::kAnything);
    });
  });
}

TEST_P(DamagedFileTest, IsSoundAsItIs) {
  for (const std::string& path : PathsOf(files_, GetParam().suffix)) {
    Check(path, AsBytes(files_[path]), Allowed::kAllRows);
    EXPECT_EQ(num_unharmed_, num_cases_);
  }
}

// Of which only the end was not synced.
TEST_F(DamageTest, LogSyncedHalfway) {
  MemoryEnv env;
  std::string log;
  size_t num_synced_bytes = 0;
  std::string path;
  {
    auto db = MustHave(Db::Open(OptionsOn(&env), "/db"));
    path = PathsOf(FilesIn(&env), ".log").front();
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
    const auto db = Db::Open(OptionsOn(&copy), "/db");
    ASSERT_EQ(db.ok(), i >= num_synced_bytes) << i;
    if (!db.ok()) {
      ExpectClear(db.status());
      continue;
    }
    EXPECT_EQ(MustHave(ReadAll((*db)->NewIterator().get())), (Model{{"a", "1"}, {"b", "2"}})) << i;
  }
}

TEST_F(DamageTest, ExchangedFiles) {
  const std::vector<std::string> ssts = PathsOf(files_, ".sst");
  ASSERT_EQ(ssts.size(), 2u);
  ASSERT_NE(files_[ssts[0]], files_[ssts[1]]);
  Check(ssts[0], AsBytes(files_[ssts[1]]), Allowed::kAllRows);
  Check(ssts[1], AsBytes(files_[ssts[0]]), Allowed::kAllRows);
  // Files of a database that looks the same, but has a longer past.
  MemoryEnv env;
  for (const auto& [path, contents] : Make(&env, 5)) {
    if (path.ends_with(".log")) Check(path, AsBytes(contents), Allowed::kAllRows);
  }
  EXPECT_EQ(num_unharmed_, 0);
}

TEST_F(DamageTest, ExchangedFilesOfOneLength) {
  MemoryEnv env;
  Options options = OptionsOn(&env);
  options.key_filters.clear();  // these two compress to different lengths
  options.value_columns.clear();
  {
    auto db = MustHave(Db::Open(options, "/db"));
    for (const char* key : {"a", "b"}) {
      MustBeOk(db->Put(key, "w1\t1"));
      MustBeOk(db->Flush());
    }
  }
  const std::vector<std::string> ssts = PathsOf(FilesIn(&env), ".sst");
  ASSERT_EQ(ssts.size(), 2u);
  const std::string contents[] = {env.Contents(ssts[0]), env.Contents(ssts[1])};
  ASSERT_EQ(contents[0].size(), contents[1].size());
  env.SetContents(ssts[0], contents[1]);
  env.SetContents(ssts[1], contents[0]);
  EXPECT_EQ(Db::Open(options, "/db").status().code(), StatusCode::kCorruption);
}

}  // namespace
}  // namespace blocksieve::toylsm
