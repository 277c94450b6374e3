#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "tests/toylsm/fault_env.h"
#include "tests/toylsm/workload.h"

// A workload on a file system that fails, at every place where it can.

namespace blocksieve::toylsm {
namespace {

constexpr uint64_t kNumWrites = 150;
constexpr uint64_t kNumKeys = 25;

class FaultTest : public ::testing::Test {
 protected:
  struct Progress {
    uint64_t issued = 0;        // writes that were tried
    uint64_t acknowledged = 0;  // of these, the first so many
    uint64_t synced = 0;        // of these
  };

  static Options TinyOptions(Env* env) {
    Options options = SmallOptions(env);
    options.memtable_bytes = 3000;
    options.level0_files = 2;
    options.level1_bytes = 1500;
    options.size_ratio = 2;
    options.file_bytes = 800;
    return options;
  }

  // Opens, writes, flushes, compacts and reopens, until something fails.
  static Progress Run(Env* env) {
    Progress progress;
    std::unique_ptr<Db> db;
    for (uint64_t n = 0; n < kNumWrites; ++n) {
      if (n % 60 == 0) {
        db = nullptr;
        auto opened = Db::Open(TinyOptions(env), "/db");
        if (!opened.ok()) return progress;
        db = *std::move(opened);
        progress.synced = n;
      }
      const Write write = NthWrite(n, kNumKeys);
      ++progress.issued;
      if (!db->Write(write.batch, {.sync = write.sync}).ok()) return progress;
      ++progress.acknowledged;
      if (write.sync) progress.synced = n + 1;
      if (n % 50 == 49) {
        if (!(n % 100 == 99 ? db->Compact() : db->Flush()).ok()) return progress;
        progress.synced = n + 1;
      }
    }
    return progress;
  }

  // Opens again, and expects the state after some number of writes between the two.
  void CheckAfter(MemoryEnv* env, uint64_t at_least, uint64_t at_most, const std::string& where) {
    SCOPED_TRACE(where);
    uint64_t found = 0;
    for (int round = 0; round < 2; ++round) {  // recovering must not change anything either
      auto db = Db::Open(TinyOptions(env), "/db");
      ASSERT_TRUE(db.ok()) << db.status().message();
      const Model all = MustHave(ReadAll((*db)->NewIterator().get()));
      const auto first = states_.begin() + static_cast<ptrdiff_t>(at_least);
      const auto last = states_.begin() + static_cast<ptrdiff_t>(at_most) + 1;
      const auto state = std::find(first, last, all);
      ASSERT_NE(state, last) << "lost, resurrected or torn, after writes " << at_least << " to "
                             << at_most;
      found = static_cast<uint64_t>(state - states_.begin());
      for (uint64_t i = 0; i < kNumKeys; ++i) {
        const std::string key = "key" + std::to_string(i);
        const auto value = MustHave((*db)->Get(key));
        ASSERT_EQ(value.has_value(), all.count(key) == 1) << key;
      }
      MustBeOk((*db)->Verify());
      if (round == 0) {
        // Life goes on.
        MustBeOk((*db)->Put("key0", "after the fault", {.sync = true}));
        ASSERT_EQ(MustHave((*db)->Get("key0")), "after the fault");
        MustBeOk((*db)->Delete("key0"));
        const auto key0 = all.find("key0");
        if (key0 != all.end()) MustBeOk((*db)->Put("key0", key0->second));
        *db = nullptr;
        env->LosePower(MemoryEnv::Unsynced::kMixed, ++seed_);  // a closed database is all synced
      }
    }
    num_found_.resize(kNumWrites + 1);
    ++num_found_[found];
  }

  uint64_t CountWrites() {
    MemoryEnv memory;
    FaultEnv env(&memory);
    EXPECT_EQ(Run(&env).acknowledged, kNumWrites);
    return env.num_writes();
  }

  const std::vector<Model> states_ = StatesOf(kNumWrites, kNumKeys);
  std::vector<uint64_t> num_found_;  // by state
  uint64_t seed_ = 0;
};

TEST_F(FaultTest, PowerLossAtEveryOperation) {
  const uint64_t num_operations = CountWrites();
  EXPECT_GT(num_operations, 300u);
  for (const auto unsynced : {MemoryEnv::Unsynced::kLost, MemoryEnv::Unsynced::kKept,
                              MemoryEnv::Unsynced::kMixed, MemoryEnv::Unsynced::kMixed}) {
    for (uint64_t n = 1; n <= num_operations && !HasFailure(); ++n) {
      MemoryEnv memory;
      FaultEnv env(&memory);
      env.FailWrite(n, /*for_good=*/true);
      const Progress progress = Run(&env);
      ++seed_;
      memory.LosePower(unsynced, seed_);
      CheckAfter(&memory, progress.synced, progress.issued,
                 "operation " + std::to_string(n) + ", mode " +
                     std::to_string(static_cast<int>(unsynced)) + ", seed " +
                     std::to_string(seed_));
    }
  }
  RecordProperty("operations", static_cast<int>(num_operations));
  // Most writes have been the last one somewhere, else the test does not reach them.
  EXPECT_GT(std::count_if(num_found_.begin(), num_found_.end(), [](auto n) { return n > 0; }),
            static_cast<ptrdiff_t>(kNumWrites / 2));
}

// What happens first may be a power loss, or only the end of the process: then what it had not
// synced is found by the next one, and may still be lost with the power.
TEST_F(FaultTest, PowerLossAtEveryOperationOfRecovering) {
  using enum MemoryEnv::Unsynced;
  const uint64_t num_operations = CountWrites();
  uint64_t num_points = 0;
  for (uint64_t first = 1; first <= num_operations && !HasFailure();
       first += LongTests() ? 1 : 41) {
    for (const bool is_power_loss : {true, false}) {
      for (const auto unsynced : {kLost, kMixed}) {
        bool is_recovered = false;
        for (uint64_t second = 1; !is_recovered && !HasFailure(); ++second, ++num_points) {
          MemoryEnv memory;
          FaultEnv env(&memory);
          env.FailWrite(first, true);
          const Progress progress = Run(&env);
          if (is_power_loss) memory.LosePower(unsynced, ++seed_);
          FaultEnv again(&memory);
          again.FailWrite(second, true);
          is_recovered = Db::Open(TinyOptions(&again), "/db").ok() && again.num_writes() < second;
          memory.LosePower(unsynced, ++seed_);
          CheckAfter(&memory, progress.synced, progress.issued,
                     "operations " + std::to_string(first) + ", " + std::to_string(second) +
                         (is_power_loss ? "" : " after the end of the process") + ", seed " +
                         std::to_string(seed_));
        }
      }
    }
  }
  RecordProperty("points", static_cast<int>(num_points));
  EXPECT_GT(num_points, 300u);
}

// A process is killed between putting its manifest in place and syncing that; the next one finds
// it; and then the power is lost, and with it the manifest, so that the one before counts.
TEST_F(FaultTest, AManifestThatWasFoundMayStillBeLost) {
  bool is_compacted = false;
  for (uint64_t first = 1; !is_compacted && !HasFailure(); ++first) {
    for (uint64_t second = 1; second < 15 && !HasFailure(); ++second) {
      for (int seed = 0; seed < 8; ++seed) {
        MemoryEnv memory;
        {
          FaultEnv env(&memory);
          const auto db = MustHave(Db::Open(TinyOptions(&env), "/db"));
          MustBeOk(db->Put("a", "1", {.sync = true}));
          MustBeOk(db->Flush());
          MustBeOk(db->Put("b", "2", {.sync = true}));
          env.FailWrite(first, true);
          is_compacted = db->Compact().ok();
        }
        FaultEnv env(&memory);
        env.FailWrite(second, true);
        (void)Db::Open(TinyOptions(&env), "/db");
        memory.LosePower(MemoryEnv::Unsynced::kMixed, ++seed_);
        const auto db = Db::Open(TinyOptions(&memory), "/db");
        ASSERT_TRUE(db.ok()) << db.status().message() << ", operations " << first << ", " << second;
        ASSERT_EQ(MustHave(ReadAll((*db)->NewIterator().get())), (Model{{"a", "1"}, {"b", "2"}}));
      }
    }
  }
}

TEST_F(FaultTest, EveryWriteOperationFailsOnce) {
  const uint64_t num_operations = CountWrites();
  for (uint64_t n = 1; n <= num_operations && !HasFailure(); ++n) {
    MemoryEnv memory;
    FaultEnv env(&memory);
    env.FailWrite(n, /*for_good=*/false);
    const Progress progress = Run(&env);
    // No power loss: what was acknowledged is there, synced or not.
    CheckAfter(&memory, progress.acknowledged, progress.issued, "operation " + std::to_string(n));
  }
}

TEST_F(FaultTest, EveryReadFailsOnceOrIsDamagedOrShort) {
  MemoryEnv memory;
  FaultEnv env(&memory);
  Run(&env);
  Options options = TinyOptions(&env);
  options.cache_bytes = 0;  // so that everything is read each time
  std::vector<Predicate> predicates;
  predicates.reserve(8);
  for (int i = 0; i < 8; ++i) {
    predicates.push_back(
        *Predicate::Parse("word = 'w" + std::to_string(i) + "'", options.value_columns));
  }
  const Model& model = states_.back();
  uint64_t num_errors = 0;
  uint64_t num_answers = 0;
  // Reads everything; whatever can be read must be right.
  const auto read_all = [&] {
    auto db = Db::Open(options, "/db");
    if (!db.ok()) {
      ++num_errors;
      return;
    }
    for (uint64_t i = 0; i < kNumKeys; ++i) {
      const std::string key = "key" + std::to_string(i);
      const auto value = (*db)->Get(key);
      ++(value.ok() ? num_answers : num_errors);
      const auto expected = model.find(key);
      if (value.ok()) {
        ASSERT_EQ(value->has_value(), expected != model.end());
        if (value->has_value()) {
          ASSERT_EQ(**value, expected->second);
        }
      }
    }
    const auto rows = ReadAll((*db)->NewIterator().get());
    ++(rows.ok() ? num_answers : num_errors);
    if (rows.ok()) {
      ASSERT_EQ(*rows, model);
    }
    // What an iterator shows before it fails must be right, too.
    auto expected = model.rbegin();
    const auto backward = (*db)->NewIterator();
    for (backward->SeekToLast(); backward->Valid(); backward->Prev(), ++expected) {
      ASSERT_NE(expected, model.rend());
      ASSERT_EQ(backward->key(), expected->first);
      ASSERT_EQ(backward->value(), expected->second);
    }
    ++(backward->status().ok() ? num_answers : num_errors);
    for (const Predicate& predicate : predicates) {
      const auto matches = ReadAll((*db)->Scan(predicate).get());
      ++(matches.ok() ? num_answers : num_errors);
      if (matches.ok()) {
        ASSERT_EQ(*matches, Matching(model, predicate)) << predicate.ToText();
      }
    }
  };
  const uint64_t before = env.num_reads();
  read_all();
  EXPECT_EQ(num_errors, 0u);
  const uint64_t num_reads = env.num_reads() - before;
  for (uint64_t n = 1; n <= num_reads && !HasFailure(); ++n) {
    env.FailRead(n);
    read_all();
    env.FailRead(0);
    env.FlipBitOfRead(n);
    read_all();
    env.FlipBitOfRead(0);
  }
  EXPECT_GT(num_errors, num_reads);
  num_errors = 0;
  env.ShortenReads(true);
  read_all();
  EXPECT_EQ(num_errors, 0u);
}

TEST_F(FaultTest, NoSpace) {
  for (uint64_t bytes = 0; bytes < 20'000 && !HasFailure(); bytes += 173) {
    MemoryEnv memory;
    FaultEnv env(&memory);
    env.LimitSpace(bytes);
    const Progress progress = Run(&env);
    CheckAfter(&memory, progress.acknowledged, progress.issued, std::to_string(bytes) + " bytes");
  }
}

TEST_F(FaultTest, AnIteratorMayTryAgain) {
  MemoryEnv memory;
  FaultEnv env(&memory);
  Options options = TinyOptions(&env);
  options.cache_bytes = 0;
  auto db = MustHave(Db::Open(options, "/db"));
  MustBeOk(db->Put("a", "1"));
  MustBeOk(db->Flush());
  auto iterator = db->NewIterator();
  env.FailRead(1);
  iterator->SeekToFirst();
  EXPECT_FALSE(iterator->Valid());
  EXPECT_EQ(iterator->status().code(), StatusCode::kResourceExhausted);
  iterator->Seek("b");  // needs no block
  EXPECT_FALSE(iterator->Valid());
  MustBeOk(iterator->status());
  iterator->SeekToFirst();
  ASSERT_TRUE(iterator->Valid());
  EXPECT_EQ(iterator->value(), "1");
}

// Several writers, one power loss: whoever was told that a write is synced finds it.
TEST_F(FaultTest, GroupedWritesSurviveIfOneOfThemIsSynced) {
  constexpr int kNumWriters = 6;
  uint64_t num_synced = 0;
  for (uint64_t operation = 40; operation < 200 && !HasFailure(); operation += 4) {
    MemoryEnv memory;
    FaultEnv env(&memory);
    auto db = MustHave(Db::Open(SmallOptions(&env), "/db"));
    env.SlowSyncsDown(std::chrono::microseconds(200));
    env.FailWrite(operation, true);
    std::vector<std::thread> writers;
    writers.reserve(kNumWriters);
    std::vector<int> synced(kNumWriters);  // so many writes of each
    for (int writer = 0; writer < kNumWriters; ++writer) {
      writers.emplace_back([&db, &synced, writer] {
        for (int i = 0;; ++i) {
          const std::string key = std::to_string(writer) + "/" + std::to_string(i);
          const bool sync = i % 3 == 0;
          if (!db->Put(key, "w\t1", {.sync = sync}).ok()) break;
          if (sync) synced[static_cast<size_t>(writer)] = i + 1;
        }
      });
    }
    for (std::thread& writer : writers) writer.join();
    db = nullptr;
    memory.LosePower(MemoryEnv::Unsynced::kLost);
    db = MustHave(Db::Open(SmallOptions(&memory), "/db"));
    for (int writer = 0; writer < kNumWriters; ++writer) {
      for (int i = 0; i < synced[static_cast<size_t>(writer)]; ++i, ++num_synced) {
        const std::string key = std::to_string(writer) + "/" + std::to_string(i);
        ASSERT_TRUE(MustHave(db->Get(key)).has_value()) << key << ", operation " << operation;
      }
    }
  }
  EXPECT_GT(num_synced, 1000u);
}

TEST_F(FaultTest, WritersThatWaitShareASync) {
  constexpr uint64_t kNumWriters = 6;
  constexpr uint64_t kNumWrites = 30;
  MemoryEnv memory;
  FaultEnv env(&memory);
  Options options;  // no flushes
  options.env = &env;
  const auto db = MustHave(Db::Open(options, "/db"));
  env.SlowSyncsDown(std::chrono::milliseconds(1));
  const uint64_t before = env.num_syncs();
  std::vector<std::thread> writers;
  writers.reserve(kNumWriters);
  for (uint64_t writer = 0; writer < kNumWriters; ++writer) {
    writers.emplace_back([&db] {
      for (uint64_t i = 0; i < kNumWrites; ++i) MustBeOk(db->Put("key", "", {.sync = true}));
    });
  }
  for (std::thread& writer : writers) writer.join();
  EXPECT_LT(env.num_syncs() - before, kNumWriters * kNumWrites / 2);
}

TEST_F(FaultTest, AFailedWriteEndsWritingNotReading) {
  MemoryEnv memory;
  FaultEnv env(&memory);
  auto db = MustHave(Db::Open(TinyOptions(&env), "/db"));
  MustBeOk(db->Put("a", "1"));
  env.FailWrite(1, false);
  const Status failed = db->Put("b", "2");
  EXPECT_EQ(failed.code(), StatusCode::kResourceExhausted);
  EXPECT_NE(failed.message().find(".log"), std::string::npos) << failed.message();
  EXPECT_EQ(db->Put("c", "3").message(), failed.message());
  EXPECT_EQ(MustHave(db->Get("a")), "1");
  EXPECT_EQ(MustHave(db->Get("c")), std::nullopt);
}

}  // namespace
}  // namespace blocksieve::toylsm
