// SPDX-License-Identifier: Apache-2.0

#include "tests/toylsm/toy_model.h"

// Random operations on a database and on a map, which must agree: through flushes, compactions,
// failed writes, power losses and reopening.

namespace blocksieve::toylsm {
namespace {

class RandomOperationsTest : public ::testing::TestWithParam<unsigned> {
 protected:
  RandomOperationsTest() : random_(GetParam()), db_(RandomOptions()) { MustBeOk(db_.Reopen()); }

  Options RandomOptions() {
    Options options = SmallOptions(&env_);
    options.memtable_bytes = uint64_t{4} << (10 + Below(4));
    options.level0_files = static_cast<uint32_t>(1 + Below(4));
    options.size_ratio = 2 + static_cast<double>(Below(4));
    options.filter_granule_blocks = static_cast<uint32_t>(Below(5));
    options.cache_bytes = Below(2) * (256 << 10);
    has_filters_ = GetParam() % 4 != 0;
    if (!has_filters_) options.key_filters.clear();
    for (FilterOptions& filter : options.key_filters) {
      filter.target_fpr = Below(2) == 0 ? 0.01 : 0.3;
      filter.kind = Below(2) == 0 ? FilterKind::kRibbon : FilterKind::kBlockedBloom;
    }
    for (const char* text : {"word = 'w3'", "word = 'w1' AND number < 100", "number > 990",
                             "number BETWEEN 100 AND 110 OR word = 'absent'", "word IS NULL",
                             "NOT word = 'w2'", "tags IS NOT NULL"}) {
      predicates_.push_back(*Predicate::Parse(text, options.skip_index.columns));
    }
    return options;
  }

  uint64_t Below(uint64_t bound) { return random_() % bound; }

  std::string RandomKey() {
    if (Below(100) == 0) return std::string(Below(3), Below(2) == 0 ? '\0' : '\xff');
    return "k" + std::to_string(Below(Below(2) == 0 ? 1500 : 60));
  }

  // Mostly a short range; also empty ones, and some without an end.
  KeyRange RandomRange() {
    KeyRange range{.begin = RandomKey(), .end = RandomKey()};
    if (Below(2) == 0) range.end = range.begin + std::to_string(Below(10));
    if (Below(10) == 0) range.end = std::nullopt;
    if (Below(2) == 0) range.begin += std::to_string(Below(10));
    return range;
  }

  std::string RandomValue() {
    if (Below(20) == 0) return {};
    std::string value = "w" + std::to_string(Below(40));
    if (Below(10) != 0) value += "\t" + std::to_string(Below(1000));
    if (Below(3) == 0) return value;
    return value + "\t" + std::string(Below(60), '.') + (Below(3) == 0 ? "tag" : "");
  }

  Status Step() {
    const uint64_t dice = Below(10'000);
    if (dice < 5500) return db_.Write(RandomKey(), RandomValue(), Below(10) == 0);
    if (dice < 8000) return db_.Write(RandomKey(), std::nullopt);
    if (dice < 9500) CheckKey();
    if (dice >= 9500 && dice < 9700) CheckRange();
    if (dice >= 9700 && dice < 9730) CheckScan();
    if (dice >= 9730 && dice < 9740) return db_.Flush();
    if (dice >= 9740 && dice < 9742) return db_.Compact();
    if (dice >= 9742 && dice < 9745) return db_.Reopen();
    if (dice >= 9745 && dice < 9765) env_.FailChange(1 + Below(60), will_lose_power_ = Below(2));
    return Status::Ok();
  }

  // After a failure of the file system, perhaps at a power loss.
  void Recover() {
    ++num_failures_;
    env_.FailChange(0, false);
    const auto unsynced = Below(2) == 0 ? FaultEnv::Unsynced::kLost : FaultEnv::Unsynced::kMixed;
    if (will_lose_power_) env_.LosePower(unsynced, Below(UINT64_MAX));
    MustBeOk(db_.Reopen(will_lose_power_));
    will_lose_power_ = false;
  }

  void CheckKey() {
    const std::string key = RandomKey();
    const auto row = db_.model().find(key);
    const auto value = Must(db_->Get(key));
    ASSERT_EQ(value.has_value(), row != db_.model().end()) << key;
    ASSERT_EQ(value.value_or(""), value ? row->second : "") << key;
  }

  void CheckRange() {
    const KeyRange range = RandomRange();
    const auto rows = db_->NewIterator(range);
    const Model expected = Within(db_.model(), range);
    ASSERT_EQ(Must(ReadAll(rows)), expected) << range.begin << ", " << range.end.value_or("-");
    const std::string middle = range.begin + "1";
    rows->Seek(middle);
    const auto next = expected.lower_bound(middle);
    ASSERT_EQ(rows->Valid(), next != expected.end());
    ASSERT_TRUE(!rows->Valid() || rows->key() == next->first);
  }

  void CheckScan() {
    const Predicate& predicate = predicates_[Below(predicates_.size())];
    const Model expected = Matching(db_.model(), predicate);
    ASSERT_EQ(Must(ReadAll(db_->Scan(predicate))), expected) << predicate.ToText();
  }

  std::mt19937_64 random_;
  FaultEnv env_;
  bool has_filters_ = true;
  std::vector<Predicate> predicates_;
  ModelDb db_;
  bool will_lose_power_ = false;
  int num_failures_ = 0;
};

TEST_P(RandomOperationsTest, AgreeWithTheModel) {
  const int num_steps = LongTests() ? 200'000 : 10'000;
  bool has_saved_lookups = false;
  bool has_saved_ranges = false;
  for (int step = 0; step < num_steps && !HasFailure(); ++step) {
    SCOPED_TRACE("step " + std::to_string(step));
    if (!Step().ok()) Recover();
    has_saved_lookups |= db_->counters().filter_negatives > 0;
    has_saved_ranges |= db_->counters().range_negatives > 0;
    ASSERT_EQ(db_->counters().filters_unreadable, 0U);
  }
  EXPECT_TRUE(CheckReads(db_.get(), db_.model(), predicates_).empty());
  // Without failures, files or negative filters, the test would be weak.
  EXPECT_GT(num_failures_, 5);
  EXPECT_GT(db_->version()->runs.size(), 0U);
  EXPECT_EQ(has_saved_lookups, has_filters_);
  EXPECT_EQ(has_saved_ranges, has_filters_);
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomOperationsTest, ::testing::Range(1U, LongTests() ? 11U : 5U));

// A workload on a file system that fails at every possible operation, with or without a power loss.

using Unsynced = FaultEnv::Unsynced;

constexpr int kNumWrites = 150;

Options TinyOptions(Env* env) {
  Options options = SmallOptions(env);
  options.memtable_bytes = 3000;
  options.level0_files = 2;
  options.level1_bytes = 1500;
  options.size_ratio = 2;
  options.file_bytes = 800;
  return options;
}

// Opens, writes, flushes, compacts and reopens until an operation fails. Deterministic.
void RunWorkload(ModelDb* db) {
  std::mt19937 random(1);
  Status status;
  for (int n = 0; n < kNumWrites && status.ok(); ++n) {
    if (n % 60 == 0) status = db->Reopen();
    if (!status.ok()) return;
    const std::string key = "key" + std::to_string(random() % 25);
    std::optional<std::string> value = "w" + std::to_string(n % 8) + "\t" + std::to_string(n);
    if (random() % 3 == 0) value = std::nullopt;
    status = db->Write(key, value, random() % 4 == 0);
    if (status.ok() && n % 50 == 49) status = n % 100 == 99 ? db->Compact() : db->Flush();
  }
}

uint64_t CountChanges() {
  FaultEnv env;
  ModelDb db(TinyOptions(&env));
  RunWorkload(&db);
  EXPECT_GE(db->version()->runs.size(), 2U);
  return env.num_changes();
}

// Unsynced data at a power loss; nullopt: no power loss.
class CrashTest : public ::testing::TestWithParam<std::optional<Unsynced>> {};

INSTANTIATE_TEST_SUITE_P(Crashes, CrashTest,
                         ::testing::Values(std::nullopt, Unsynced::kLost, Unsynced::kMixed));

TEST_P(CrashTest, AtEveryOperation) {
  const bool loses_power = GetParam().has_value();
  const uint64_t num_changes = CountChanges();
  ASSERT_GT(num_changes, 300U);
  for (uint64_t n = 1; n <= num_changes && !HasFailure(); ++n) {
    SCOPED_TRACE("operation " + std::to_string(n));
    FaultEnv env;
    ModelDb db(TinyOptions(&env));
    env.FailChange(n, loses_power);
    RunWorkload(&db);
    env.FailChange(0, false);
    if (loses_power) env.LosePower(*GetParam(), n);
    MustBeOk(db.Reopen(loses_power));
    MustBeOk(db.Reopen());  // recovering must not change anything either
  }
}

// The next process finds data that the stopped one did not sync, and a power loss may still drop
// it, including the manifest: then its predecessor is in effect, and needs its files.
TEST_P(CrashTest, AtEveryOperationOfRecovering) {
  const bool loses_power = GetParam().has_value();
  const uint64_t num_changes = CountChanges();
  for (uint64_t first = 1; first <= num_changes; first += LongTests() ? 1 : 23) {
    bool is_recovered = false;
    for (uint64_t second = 1; !is_recovered && !HasFailure(); ++second) {
      SCOPED_TRACE("operations " + std::to_string(first) + ", " + std::to_string(second));
      FaultEnv env;
      ModelDb db(TinyOptions(&env));
      env.FailChange(first, true);
      RunWorkload(&db);
      env.FailChange(second, true);
      const uint64_t end = env.num_changes() + second;
      is_recovered = db.Reopen().ok() && env.num_changes() < end;
      env.FailChange(0, false);
      if (loses_power) env.LosePower(*GetParam(), first + second);
      MustBeOk(db.Reopen(loses_power));
    }
  }
}

}  // namespace
}  // namespace blocksieve::toylsm
