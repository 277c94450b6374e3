#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <random>
#include <string>

#include "tests/support/temp_dir.h"
#include "tests/toylsm/workload.h"

// A writing process is killed. The operating system goes on, so every acknowledged write must be
// there, synced or not.

namespace blocksieve::toylsm {
namespace {

constexpr uint64_t kWriterKeys = 300;

Options KillOptions() {
  Options options = SmallOptions(Env::Posix());
  options.memtable_bytes = 16 << 10;
  return options;
}

// Writes from the n-th write on, telling each number when it has been acknowledged, for ever.
[[noreturn]] void WriteUntilKilled(const std::string& directory, uint64_t n, int pipe) {
  auto db = Db::Open(KillOptions(), directory);
  while (db.ok()) {
    Write write = NthWrite(n, kWriterKeys);
    // Syncing takes time and matters only to power losses.
    if (!(*db)->Write(write.batch, {.sync = write.sync && n % 8 == 0}).ok()) break;
    ++n;
    if (::write(pipe, &n, sizeof(n)) != sizeof(n)) break;
  }
  ::_exit(1);
}

TEST(KillTest, NoAcknowledgedWriteIsLost) {
  testing::TempDir dir;
  const std::string directory = dir / "db";
  std::mt19937_64 random(1);
  Model model;
  uint64_t num_written = 0;
  const int rounds = LongTests() ? 200 : 12;
  for (int round = 0; round < rounds; ++round) {
    int pipe[2];
    ASSERT_EQ(::pipe(pipe), 0);
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      ::close(pipe[0]);
      WriteUntilKilled(directory, num_written, pipe[1]);
    }
    ::close(pipe[1]);
    uint64_t acknowledged = num_written;
    uint64_t told = 0;
    // The child is killed in the midst of something after so many writes.
    const uint64_t enough = num_written + random() % 600;
    bool is_killed = false;
    while (::read(pipe[0], &told, sizeof(told)) == sizeof(told)) {
      acknowledged = told;
      if (acknowledged >= enough && !is_killed) {
        ::usleep(static_cast<useconds_t>(random() % 3000));
        ::kill(child, SIGKILL);
        is_killed = true;
      }
    }
    ::close(pipe[0]);
    int how = 0;
    ASSERT_EQ(::waitpid(child, &how, 0), child);
    ASSERT_TRUE(WIFSIGNALED(how)) << "the writer failed";

    for (; num_written < acknowledged; ++num_written)
      Apply(NthWrite(num_written, kWriterKeys), &model);
    auto db = Db::Open(KillOptions(), directory);
    ASSERT_TRUE(db.ok()) << db.status().message();
    const Model all = MustHave(ReadAll((*db)->NewIterator().get()));
    if (all != model) {
      // The write that was under way may have happened.
      Apply(NthWrite(num_written++, kWriterKeys), &model);
      ASSERT_EQ(all, model) << "round " << round << ", acknowledged " << acknowledged;
    }
    if (round % 10 == 0) MustBeOk((*db)->Verify());
  }
  EXPECT_GT(num_written, 1000u);
}

}  // namespace
}  // namespace blocksieve::toylsm
