#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "blocksieve/hash.h"
#include "blocksieve/tree.h"
#include "tests/rocksdb/ranges/range_db.h"
#include "tests/support/db_checks.h"
#include "tests/support/key_sets.h"

// Bounded seeks below prefixes, in databases whose files hold random parts of the keys.

namespace blocksieve {
namespace {

using namespace blocksieve::testing;  // NOLINT: test support

constexpr uint64_t kFiles = 4;

struct PrefixCase {
  const char* name;
  FilterShape shape = FilterShape::kFull;
  bool ranges = false;
};

void PrintTo(const PrefixCase& each, std::ostream* out) { *out << each.name; }

class PrefixSeeksTest : public ::testing::TestWithParam<PrefixCase> {
 protected:
  void Open(const std::string& prefixes, std::optional<double> wasted_reads = std::nullopt) {
    RangeFilterOptions options;
    options.policy.prefixes = prefixes;
    options.policy.wasted_reads = wasted_reads;
    options.policy.ranges = GetParam().ranges;
    DbConfig config = RangeConfig(GetParam().shape, options);
    if (db_ == nullptr) {
      db_ = std::make_unique<TestDb>(config);
    } else {
      db_->Reopen(config);
    }
  }

  void WriteFile(const std::vector<std::string>& keys) {
    for (const std::string& key : keys) {
      MustBeOk((*db_)->Put({}, key, std::string(20, 'v')), "put");
    }
    MustBeOk((*db_)->Flush({}), "flush");
    keys_.insert(keys.begin(), keys.end());
  }

  /// Writes each key to one of the files.
  void Write(const std::vector<std::string>& keys) {
    std::vector<std::string> files[kFiles];
    for (const std::string& key : keys) files[HashKey(key) % kFiles].push_back(key);
    for (const auto& file : files) WriteFile(file);
  }

  /// What a scan of all keys below a prefix found and asked.
  struct Scan {
    uint64_t rows = 0;
    uint64_t blocks = 0;
    RangeFilterCounts counts;
  };
  Scan Below(const std::string& prefix) {
    std::string end = prefix;
    while (end.back() == '\xff') end.pop_back();
    ++end.back();
    const rocksdb::Slice bound(end);
    rocksdb::ReadOptions read;
    PrepareRangeRead(&bound, &read);
    Scan scan;
    const RangeFilterCounts before = GetRangeFilterCounts();
    rocksdb::SetPerfLevel(rocksdb::PerfLevel::kEnableCount);
    rocksdb::PerfContext& perf = *rocksdb::get_perf_context();
    perf.Reset();
    const std::unique_ptr<rocksdb::Iterator> iterator((*db_)->NewIterator(read));
    auto expected = keys_.lower_bound(prefix);
    for (iterator->Seek(prefix); iterator->Valid(); iterator->Next(), ++scan.rows, ++expected) {
      EXPECT_EQ(iterator->key().ToString(), *expected);
      if (iterator->key().ToString() != *expected) break;
    }
    EXPECT_TRUE(expected == keys_.lower_bound(end)) << "rows are missing below " << prefix;
    MustBeOk(iterator->status(), "scan");
    scan.blocks = DataBlocksRead(perf);
    rocksdb::SetPerfLevel(rocksdb::PerfLevel::kDisable);
    scan.counts = CountsSince(before);
    return scan;
  }

  std::unique_ptr<TestDb> db_;
  std::set<std::string> keys_;
};

INSTANTIATE_TEST_SUITE_P(
    Shapes, PrefixSeeksTest,
    ::testing::Values(PrefixCase{"Full"}, PrefixCase{"Partitioned", FilterShape::kPartitioned},
                      PrefixCase{"FullWithRanges", FilterShape::kFull, true},
                      PrefixCase{"PartitionedWithRanges", FilterShape::kPartitioned, true}),
    ParamNames());

std::string Path(int package, int file) {
  return "/usr/share/doc/package" + std::to_string(package) + "/part" + std::to_string(file % 3) +
         "/file" + std::to_string(file);
}

std::vector<std::string> Paths() {
  std::vector<std::string> paths;
  for (int package = 0; package < 400; package += 2) {
    for (int file = 0; file < 12; ++file) paths.push_back(Path(package, file));
  }
  return paths;
}

TEST_P(PrefixSeeksTest, ReadNothingBelowAbsentDirectories) {
  Open("delimiter:/");
  Write(Paths());
  RangeFilterCounts counts;
  uint64_t blocks = 0;
  uint64_t seeks = 0;
  for (int package = 1; package < 400; package += 2) {
    for (const std::string& absent :
         {"/usr/share/doc/package" + std::to_string(package) + "/",
          "/usr/share/doc/package" + std::to_string(package - 1) + "/part7/"}) {
      const Scan scan = Below(absent);
      ASSERT_EQ(scan.rows, 0u);
      blocks += scan.blocks;
      counts.no += scan.counts.no;
      ++seeks;
    }
  }
  EXPECT_GT(counts.no * 20, kFiles * seeks * 19);
  EXPECT_LT(blocks * 20, kFiles * seeks);
  for (int package = 0; package < 400; package += 40) {
    const std::string below = "/usr/share/doc/package" + std::to_string(package) + "/";
    EXPECT_EQ(Below(below).rows, 12u);
    EXPECT_EQ(Below(below + "part1/").rows, 4u);
  }
  // A prefix is no key.
  const uint64_t rejected = db_->Use().rejected;
  for (int package = 0; package < 400; package += 2) {
    std::string value;
    const std::string prefix = "/usr/share/doc/package" + std::to_string(package) + "/";
    EXPECT_TRUE((*db_)->Get({}, prefix, &value).IsNotFound());
  }
  EXPECT_GT(db_->Use().rejected - rejected, kFiles * 200 * 9 / 10);
  Open("lengths:3,17");
  EXPECT_GE(Below("/usr/share/doc/package1/").counts.no, kFiles - 1)
      << "files know their own boundaries";
}

// A goal that key filters are not needed for leaves the smallest one, which has the prefixes.
TEST_P(PrefixSeeksTest, ReadNothingWhereKeysNeedNoFilter) {
  Open("delimiter:/", kMaxWastedReads);
  Write(Paths());
  uint64_t ruled_out = 0;
  for (int package = 1; package < 400; package += 2) {
    ruled_out += Below("/usr/share/doc/package" + std::to_string(package) + "/").counts.no;
  }
  EXPECT_GT(ruled_out, kFiles * 200 * 9 / 10);
}

}  // namespace
}  // namespace blocksieve
