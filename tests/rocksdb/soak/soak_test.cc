#include <fcntl.h>
#include <gtest/gtest.h>
#include <rocksdb/cache.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "blocksieve/rocksdb/filter_policy.h"
#include "integration/rocksdb/compat/open_db.h"
#include "tests/rocksdb/scan/skip_test_db.h"
#include "tests/support/db_checks.h"
#include "tests/support/environment.h"
#include "tests/support/sanitizers.h"
#include "tests/support/temp_dir.h"

// Kills a process that writes, looks up and scans, and reopens its database, over and over. All
// acknowledged writes must be found, with filters and skip indexes, and memory must not grow. Runs
// for half an hour with BLOCKSIEVE_LONG_TESTS.

namespace blocksieve {
namespace {

using namespace blocksieve::testing;  // NOLINT: test support
using Model = TestDb::Model;
using Clock = std::chrono::steady_clock;

constexpr uint64_t kKeys = 10'000;
constexpr uint64_t kNumbers = 500;
const std::vector<std::string> kDefinitions = {"n=int:field:1", "w=words:2"};

// The n-th operation, always the same.
struct Operation {
  std::string key;
  std::string value;  // empty: a delete

  explicit Operation(uint64_t n) {
    std::mt19937_64 random(n);
    const uint64_t number = random() % kKeys;
    key = Key(number);
    if (random() % 8 == 0) return;
    // Half of the numbers follow the key order, like clustered columns. The value contains the key.
    const uint64_t shown = random() % 2 == 0 ? number * kNumbers / kKeys : random() % kNumbers;
    value = std::to_string(shown) + "\tword" + std::to_string(random() % 300) + " " + key + " " +
            std::string(random() % 80, '.');
  }

  void Apply(Model* model) const {
    if (value.empty()) {
      model->erase(key);
    } else {
      (*model)[key] = value;
    }
  }

  rocksdb::Status Apply(rocksdb::DB* db) const {
    return value.empty() ? db->Delete({}, key) : db->Put({}, key, value);
  }
};

rocksdb::Options SoakOptions() {
  SkipIndexOptions index = ShortGranules(kDefinitions, 16);
  index.max_property_bytes = 2000;  // most are in sidecars
  DbConfig config = SkipConfig(index);
  config.table.filter_policy = *NewFilterPolicy({.bits_per_key = 10, .kind = PolicyKind::kAuto});
  config.table.partition_filters = true;
  config.table.index_type = rocksdb::BlockBasedTableOptions::kTwoLevelIndexSearch;
  config.table.metadata_block_size = 512;
  config.table.detect_filter_construct_corruption = true;
  config.table.cache_index_and_filter_blocks = true;
  config.table.block_cache = rocksdb::NewLRUCache(1 << 20);  // fills soon
  rocksdb::Options options = config.ToOptions();
  options.create_if_missing = true;
  options.listeners = {NewListener()};
  options.disable_auto_compactions = false;
  options.write_buffer_size = 256 << 10;
  options.target_file_size_base = 256 << 10;
  options.max_bytes_for_level_base = 1 << 20;
  options.max_bytes_for_level_multiplier = 4;
  options.max_open_files = 20;  // so that tables are constantly closed and reopened
  return options;
}

// The child's progress, in memory that survives it.
struct Progress {
  std::atomic<uint64_t> begun;         // operations
  std::atomic<uint64_t> acknowledged;  // operations
  std::atomic<uint64_t> compared;      // scans compared with scans without the index
  std::atomic<uint64_t> differences;
};

// Lookups concurrent with the writer: found values contain their key.
void LookUp(rocksdb::DB* db, Progress* progress, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::string value;
  for (;;) {
    const std::string key = Key(random() % (2 * kKeys));
    const rocksdb::Status status = db->Get({}, key, &value);
    const bool is_right =
        status.IsNotFound() || (status.ok() && value.find(" " + key + " ") != std::string::npos);
    if (!is_right) ++progress->differences;
  }
}

// Scans concurrent with the writer, at one snapshot, with and without the index.
void Compare(rocksdb::DB* db, Progress* progress, uint64_t seed) {
  std::mt19937_64 random(seed);
  const std::vector<Column> columns = Columns(kDefinitions);
  for (;;) {
    std::string text = "n = " + std::to_string(random() % kNumbers);
    if (random() % 2 == 0) text += " OR w HAS 'word" + std::to_string(random() % 300) + "'";
    const Predicate predicate = Where(text, columns);
    SkipScanOptions options = AlwaysSkip();
    options.snapshot = db->GetSnapshot();
    const ScannedRows with = Scan(db, nullptr, predicate, options);
    options.use_index = false;
    if (with != Scan(db, nullptr, predicate, options)) ++progress->differences;
    db->ReleaseSnapshot(options.snapshot);
    ++progress->compared;
  }
}

[[noreturn]] void RunUntilKilled(const std::string& path, Progress* progress, uint64_t seed) {
  std::unique_ptr<rocksdb::DB> db;
  if (!rocksdb_plugin::OpenDb(SoakOptions(), path, &db).ok()) ::_exit(2);
  std::thread lookups(LookUp, db.get(), progress, seed);
  std::thread scans(Compare, db.get(), progress, seed + 1);
  for (;;) {
    const uint64_t n = progress->acknowledged;
    progress->begun = n + 1;
    if (!Operation(n).Apply(db.get()).ok()) ::_exit(3);
    progress->acknowledged = n + 1;
  }
}

uint64_t ResidentBytes(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/statm");
  uint64_t all = 0;
  uint64_t resident = 0;
  file >> all >> resident;
  return resident * static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
}

// Looks up all keys and as many absent ones, reads everything, and scans.
void CheckAll(rocksdb::DB* db, const Model& model) {
  std::vector<std::string> absent;
  for (uint64_t i = 0; i < 2 * kKeys; ++i) {
    if (!model.contains(Key(i))) absent.push_back(Key(i));
  }
  ASSERT_EQ(CheckGets(db, model, absent), "");
  ASSERT_EQ(CheckScan(db, model), "");
  const std::vector<Column> columns = Columns(kDefinitions);
  for (const char* text : {"n = 17", "w HAS 'word5'", "n BETWEEN 3 AND 4 OR w HAS 'word299'"}) {
    const Predicate predicate = Where(text, columns);
    ScannedRows rows;
    for (const auto& [key, row] : model) {
      if (predicate.Matches(row)) rows.emplace_back(key, row);
    }
    ASSERT_EQ(ScanBoth(db, predicate), rows) << text;
  }
}

// The contents of the database after a kill: this many operations, and perhaps one more.
[[noreturn]] void CheckAfterKill(const std::string& path, Progress* progress, Model* model,
                                 uint64_t in_model) {
  const std::unique_ptr<rocksdb::DB> db = OpenDb(SoakOptions(), path);
  if (progress->begun > in_model) {
    const Operation last(in_model);
    std::string value;
    const rocksdb::Status status = db->Get({}, last.key, &value);
    const bool has_happened = last.value.empty() ? status.IsNotFound() : value == last.value;
    if (has_happened) {
      last.Apply(model);
      progress->acknowledged = in_model + 1;
    }
  }
  CheckAll(db.get(), *model);
  MustBeOk(db->VerifyChecksum(), "checksums");
  ::_exit(::testing::Test::HasFailure() ? 1 : 0);
}

// Only children open the database: a process forked while RocksDB has threads gets none of them,
// and would wait for flushes for ever.
class Soak : public ::testing::Test {
 protected:
  Soak()
      : progress_(static_cast<Progress*>(::mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE,
                                                MAP_SHARED | MAP_ANONYMOUS, -1, 0))) {}
  ~Soak() override { ::munmap(progress_, sizeof(Progress)); }

  void SetUp() override {
    if (kThreadSanitizer) {
      GTEST_SKIP() << "thread sanitizer cannot follow threads that a forked process starts";
    }
  }

  // Starts a child, waits `times` times until it has done `writes` more writes and compared a scan,
  // and kills it. Counts work, not time, so that a busy machine only takes longer. Returns the
  // child's memory after each time.
  std::vector<uint64_t> RunChild(const std::string& path, int times, uint64_t writes,
                                 uint64_t seed) {
    const pid_t child = ::fork();
    if (child == 0) RunUntilKilled(path, progress_, seed);
    std::vector<uint64_t> resident;
    int how = 0;
    bool is_dead = false;
    for (int i = 0; i < times && !is_dead; ++i) {
      const uint64_t enough_writes = progress_->acknowledged + writes;
      const uint64_t enough_scans = progress_->compared + 1;
      while (!is_dead &&
             (progress_->acknowledged < enough_writes || progress_->compared < enough_scans)) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        is_dead = ::waitpid(child, &how, WNOHANG) == child;
      }
      resident.push_back(ResidentBytes(child));
    }
    EXPECT_FALSE(is_dead) << "the child ended by itself: " << WEXITSTATUS(how);
    if (is_dead) return resident;
    ::kill(child, SIGKILL);
    EXPECT_EQ(::waitpid(child, &how, 0), child);
    return resident;
  }

  Progress* const progress_;
};

TEST_F(Soak, NothingIsLostWrongOrLeaked) {
  ASSERT_NE(progress_, MAP_FAILED);
  TempDir dir;
  const std::string path = dir / "db";
  const int least_kills = 5;
  const auto end =
      Clock::now() + (LongTests() ? std::chrono::minutes(30) : std::chrono::minutes(0));
  std::mt19937_64 random(20);
  Model model;
  uint64_t in_model = 0;
  std::vector<uint64_t> resident;
  for (int kills = 0; kills < least_kills || Clock::now() < end; ++kills) {
    resident.push_back(RunChild(path, 1, 1'000 + random() % 9'000, random()).front());
    ASSERT_FALSE(HasFailure());
    ASSERT_EQ(progress_->differences, 0u);
    for (; in_model < progress_->acknowledged; ++in_model) Operation(in_model).Apply(&model);

    const pid_t child = ::fork();
    if (child == 0) CheckAfterKill(path, progress_, &model, in_model);
    int how = 0;
    ASSERT_EQ(::waitpid(child, &how, 0), child);
    ASSERT_TRUE(WIFEXITED(how) && WEXITSTATUS(how) == 0) << in_model << " operations";
  }
  std::printf("  %zu kills, %llu writes, %llu scans compared, %.1f to %.1f MB resident\n",
              resident.size(), static_cast<unsigned long long>(in_model),
              static_cast<unsigned long long>(progress_->compared),
              static_cast<double>(*std::min_element(resident.begin(), resident.end())) / 1e6,
              static_cast<double>(*std::max_element(resident.begin(), resident.end())) / 1e6);
}

// In one process, as memory growth shows only there.
TEST_F(Soak, MemoryStaysFlat) {
  ASSERT_NE(progress_, MAP_FAILED);
  TempDir dir;
  const std::vector<uint64_t> resident =
      LongTests() ? RunChild(dir / "db", 60, 20'000, 4) : RunChild(dir / "db", 12, 4'000, 4);
  EXPECT_EQ(progress_->differences, 0u);
  // After the first third most keys have been written, and caches are full.
  const auto third = static_cast<ptrdiff_t>(resident.size()) / 3;
  const auto median = [](std::vector<uint64_t> values) {
    std::nth_element(values.begin(), values.begin() + static_cast<ptrdiff_t>(values.size()) / 2,
                     values.end());
    return static_cast<double>(values[values.size() / 2]);
  };
  const double middle = median({resident.begin() + third, resident.begin() + 2 * third});
  const double last = median({resident.begin() + 2 * third, resident.end()});
  std::printf("  %.1f MB in the second third, %.1f MB in the last\n", middle / 1e6, last / 1e6);
  EXPECT_LT(last, 1.25 * middle);
}

}  // namespace
}  // namespace blocksieve
