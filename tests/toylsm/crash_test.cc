#include <random>

#include "tests/toylsm/toy_model.h"

// A workload on a file system that fails at every possible operation, with or without a power loss.

namespace blocksieve::toylsm {
namespace {

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
