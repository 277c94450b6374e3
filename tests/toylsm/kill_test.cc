#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <random>

#include "tests/support/temp_dir.h"
#include "tests/toylsm/toy_model.h"

// A writing process is killed. The operating system keeps running, so every acknowledged write must
// survive, synced or not.

namespace blocksieve::toylsm {
namespace {

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
    const auto db = MustHave(Db::Open(SmallOptions(Env::Posix()), dir / "db"));
    const Model found = MustHave(ReadAll(db->NewIterator()));
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
