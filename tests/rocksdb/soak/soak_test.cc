#include <fcntl.h>
#include <gtest/gtest.h>
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
#include "blocksieve/rocksdb/listener.h"
#include "integration/rocksdb/compat/open_db.h"
#include "tests/rocksdb/scan/skip_test_db.h"
#include "tests/support/db_checks.h"
#include "tests/support/environment.h"
#include "tests/support/sanitizers.h"
#include "tests/support/temp_dir.h"

// A process that writes, looks up and scans all the time is killed, over and over, and its database
// opened again: everything that was acknowledged must be there, filters and skip indexes must say
// so, and memory must not grow. With BLOCKSIEVE_LONG_TESTS for half an hour.

namespace blocksieve {
namespace {

using namespace blocksieve::testing;  // NOLINT: test support
using Model = TestDb::Model;
using Clock = std::chrono::steady_clock;

constexpr uint64_t kKeys = 40'000;
constexpr uint64_t kNumbers = 500;
const std::vector<std::string> kDefinitions = {"n=int:field:1", "w=words:2"};

// The n-th operation of all, the same whenever it is asked for.
struct Operation {
  std::string key;
  std::string value;  // empty: a delete

  explicit Operation(uint64_t n) {
    std::mt19937_64 random(n);
    const uint64_t number = random() % kKeys;
    key = Key(number);
    if (random() % 8 == 0) return;
    // Half of the numbers go with the key, as clustered columns do. The key is in the value, too.
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
  config.table.filter_policy = NewFilterPolicy({.bits_per_key = 10, .kind = PolicyKind::kAuto});
  config.table.partition_filters = true;
  config.table.index_type = rocksdb::BlockBasedTableOptions::kTwoLevelIndexSearch;
  config.table.metadata_block_size = 512;
  config.table.detect_filter_construct_corruption = true;
  config.table.cache_index_and_filter_blocks = true;
  rocksdb::Options options = config.ToOptions();
  options.create_if_missing = true;
  options.listeners = {NewListener()};
  options.disable_auto_compactions = false;
  options.write_buffer_size = 256 << 10;
  options.target_file_size_base = 256 << 10;
  options.max_bytes_for_level_base = 1 << 20;
  options.max_bytes_for_level_multiplier = 4;
  options.max_open_files = 20;  // so that tables are closed and opened all the time
  return options;
}

// What the child tells, in memory that survives it.
struct Told {
  std::atomic<uint64_t> begun;         // operations
  std::atomic<uint64_t> acknowledged;  // operations
  std::atomic<uint64_t> compared;      // scans with the index against those without
  std::atomic<uint64_t> differences;
};

// Lookups beside the writer: what is found belongs to the key.
void LookUp(rocksdb::DB* db, Told* told, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::string value;
  for (;;) {
    const std::string key = Key(random() % (2 * kKeys));
    const rocksdb::Status status = db->Get({}, key, &value);
    const bool is_right =
        status.IsNotFound() || (status.ok() && value.find(" " + key + " ") != std::string::npos);
    if (!is_right) ++told->differences;
  }
}

// Scans beside the writer: at one snapshot, with the index as without.
void Compare(rocksdb::DB* db, Told* told, uint64_t seed) {
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
    if (with != Scan(db, nullptr, predicate, options)) ++told->differences;
    db->ReleaseSnapshot(options.snapshot);
    ++told->compared;
  }
}

[[noreturn]] void RunUntilKilled(const std::string& path, Told* told, uint64_t seed) {
  std::unique_ptr<rocksdb::DB> db;
  if (!rocksdb_plugin::OpenDb(SoakOptions(), path, &db).ok()) ::_exit(2);
  std::thread lookups(LookUp, db.get(), told, seed);
  std::thread scans(Compare, db.get(), told, seed + 1);
  for (;;) {
    const uint64_t n = told->acknowledged;
    told->begun = n + 1;
    if (!Operation(n).Apply(db.get()).ok()) ::_exit(3);
    told->acknowledged = n + 1;
  }
}

uint64_t ResidentBytes(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/statm");
  uint64_t all = 0;
  uint64_t resident = 0;
  file >> all >> resident;
  return resident * static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
}

// Lookups of all keys and of as many that are not there, a read of everything, and scans.
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

class Soak : public ::testing::Test {
 protected:
  Soak()
      : told_(static_cast<Told*>(::mmap(nullptr, sizeof(Told), PROT_READ | PROT_WRITE,
                                        MAP_SHARED | MAP_ANONYMOUS, -1, 0))) {}
  ~Soak() override { ::munmap(told_, sizeof(Told)); }

  void SetUp() override {
    if (kThreadSanitizer) {
      GTEST_SKIP() << "thread sanitizer cannot follow threads that a forked process starts";
    }
  }

  // Lets a child work, so many times for so long, and kills it. Returns its memory after each time.
  std::vector<uint64_t> RunChild(const std::string& path, int times, std::chrono::milliseconds time,
                                 uint64_t seed) {
    const pid_t child = ::fork();
    if (child == 0) RunUntilKilled(path, told_, seed);
    std::vector<uint64_t> resident;
    for (int i = 0; i < times; ++i) {
      std::this_thread::sleep_for(time);
      resident.push_back(ResidentBytes(child));
    }
    ::kill(child, SIGKILL);
    int how = 0;
    EXPECT_EQ(::waitpid(child, &how, 0), child);
    EXPECT_TRUE(WIFSIGNALED(how)) << "the child ended by itself: " << WEXITSTATUS(how);
    return resident;
  }

  Told* const told_;
};

TEST_F(Soak, NothingIsLostWrongOrLeaked) {
  ASSERT_NE(told_, MAP_FAILED);
  TempDir dir;
  const std::string path = dir / "db";
  const auto end =
      Clock::now() + (LongTests() ? std::chrono::minutes(30) : std::chrono::seconds(12));
  std::mt19937_64 random(20);
  Model model;
  uint64_t in_model = 0;
  std::vector<uint64_t> resident;
  while (Clock::now() < end) {
    const auto time =
        std::chrono::milliseconds(LongTests() ? 2'000 + random() % 18'000 : 500 + random() % 3'000);
    resident.push_back(RunChild(path, 1, time, random()).front());
    ASSERT_EQ(told_->differences, 0u);
    for (; in_model < told_->acknowledged; ++in_model) Operation(in_model).Apply(&model);

    const std::unique_ptr<rocksdb::DB> db = OpenDb(SoakOptions(), path);
    if (told_->begun > in_model) {
      // The operation that was under way may have happened.
      const Operation last(in_model);
      std::string value;
      const rocksdb::Status status = db->Get({}, last.key, &value);
      const bool has_happened = last.value.empty() ? status.IsNotFound() : value == last.value;
      if (has_happened) {
        last.Apply(&model);
        told_->acknowledged = ++in_model;
      }
    }
    ASSERT_NO_FATAL_FAILURE(CheckAll(db.get(), model)) << in_model << " operations";
    MustBeOk(db->VerifyChecksum(), "checksums");
  }
  std::printf("  %zu kills, %llu writes, %llu scans compared, %.1f to %.1f MB resident\n",
              resident.size(), static_cast<unsigned long long>(in_model),
              static_cast<unsigned long long>(told_->compared),
              static_cast<double>(*std::min_element(resident.begin(), resident.end())) / 1e6,
              static_cast<double>(*std::max_element(resident.begin(), resident.end())) / 1e6);
  EXPECT_GT(told_->compared, 10u);
  EXPECT_GT(in_model, 10'000u);
}

// In one process, for memory shows in it only.
TEST_F(Soak, MemoryStaysFlat) {
  ASSERT_NE(told_, MAP_FAILED);
  TempDir dir;
  const std::vector<uint64_t> resident = LongTests()
                                             ? RunChild(dir / "db", 60, std::chrono::seconds(5), 4)
                                             : RunChild(dir / "db", 12, std::chrono::seconds(1), 4);
  EXPECT_EQ(told_->differences, 0u);
  // After the first third the keys have all been written, and caches are full.
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
