#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <random>

#include "tests/support/temp_dir.h"
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

// A writing process is killed. The operating system keeps running, so every acknowledged write must
// survive, synced or not.

// Writes depend only on their number, so that the parent knows them.
std::string NthKey(uint64_t n) { return "key" + std::to_string(n * 7919 % 307); }
std::string NthValue(uint64_t n) { return "w" + std::to_string(n % 8) + "\t" + std::to_string(n); }

// Writes from number n on and reports acknowledged writes, until killed.
[[noreturn]] void WriteUntilKilled(const std::string& directory, uint64_t n, int pipe) {
  const auto db = Db::Open(SmallOptions(Env::Posix()), directory);
  while (db.ok() && (*db)->Put(NthKey(n), NthValue(n)).ok()) {
    ++n;
    if (::write(pipe, &n, sizeof(n)) != sizeof(n)) break;
  }
  ::_exit(1);
}

// Kills a writer after `enough` writes. Returns the number of acknowledged writes.
uint64_t RunAndKill(const std::string& directory, uint64_t begin, uint64_t enough) {
  int pipe[2];
  EXPECT_EQ(::pipe(pipe), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(pipe[0]);
    WriteUntilKilled(directory, begin, pipe[1]);
  }
  ::close(pipe[1]);
  uint64_t acknowledged = begin;
  bool is_killed = false;
  for (uint64_t told = 0; ::read(pipe[0], &told, sizeof(told)) == sizeof(told);) {
    acknowledged = told;
    if (told >= enough && !std::exchange(is_killed, true)) ::kill(child, SIGKILL);
  }
  ::close(pipe[0]);
  int how = 0;
  EXPECT_EQ(::waitpid(child, &how, 0), child);
  EXPECT_TRUE(WIFSIGNALED(how)) << "the writer failed";
  return acknowledged;
}

TEST(KillTest, NoAcknowledgedWriteIsLost) {
  testing::TempDir dir;
  std::mt19937_64 random(1);
  Model model;
  uint64_t num_written = 0;
  for (int round = 0; round < (LongTests() ? 200 : 12) && !HasFailure(); ++round) {
    const uint64_t acknowledged = RunAndKill(dir / "db", num_written, num_written + random() % 600);
    for (; num_written < acknowledged; ++num_written)
      model[NthKey(num_written)] = NthValue(num_written);
    const auto db = Must(Db::Open(SmallOptions(Env::Posix()), dir / "db"));
    const Model found = Must(ReadAll(db->NewIterator()));
    if (found == model) continue;
    // The last write may have happened.
    model[NthKey(num_written)] = NthValue(num_written);
    ++num_written;
    ASSERT_EQ(found, model) << "round " << round << ", acknowledged " << acknowledged;
  }
  EXPECT_GT(num_written, 1000U);
}

}  // namespace
}  // namespace blocksieve::toylsm
