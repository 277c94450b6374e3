// SPDX-License-Identifier: Apache-2.0
#include <rocksdb/convenience.h>
#include <rocksdb/slice_transform.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <optional>
#include <string_view>
#include <thread>
#include <utility>

#include "integration/rocksdb/policy/filter_bits.h"
#include "integration/rocksdb/ranges/range_extractor.h"
#include "tests/rocksdb/ranges/range_db.h"

// Filters answer range queries if, and only if, RocksDB calls them in the required order. A query
// has a range if the thread's last two transformed keys are the key whose prefix is queried, and a
// bound.

namespace blocksieve::rocksdb_plugin {
namespace {

using namespace blocksieve::testing;  // NOLINT: test support

// Keys, which are compared by their addresses.
const std::string kBegin = "begin";
const std::string kCopyOfBegin = kBegin;
const std::string kEnd = "end";
const std::string kOther = "other";
const std::string kEmpty;

using Keys = std::vector<std::string_view>;

// Queries the prefix that `key` got last.
std::optional<SeekRange> Ask(const Keys& transformed, std::string_view key) {
  TakeSeekRange({});  // forgets keys that other tests recorded on this thread
  std::string_view prefix = key.substr(0, 0);  // as another extractor's
  for (const std::string_view each : transformed) {
    const std::string_view made = RecordTransformedKey(each);
    if (each.data() == key.data()) prefix = made;
  }
  const auto range = TakeSeekRange(prefix);
  EXPECT_FALSE(TakeSeekRange(prefix).has_value()) << "taken twice";
  return range;
}

TEST(SeekRangeTest, BeginsAtTheKeyRightBeforeTheBoundAndIsTakenOnce) {
  for (const std::string* begin : {&kBegin, &kEmpty}) {
    const auto asked = Ask({kOther, *begin, kEnd}, *begin);
    ASSERT_TRUE(asked.has_value()) << *begin;
    EXPECT_EQ(asked->begin, *begin);
    EXPECT_EQ(asked->end, "end");
  }
}

TEST(SeekRangeTest, IsNoneOtherwise) {
  const struct {
    const char* why;
    Keys transformed;
    std::string_view asked;
  } cases[] = {
      {"no bound", {kBegin}, kBegin},
      {"the bound of a seek before, which asked nothing", {kOther, kEnd, kBegin}, kBegin},
      {"another key before the bound", {kBegin, kOther, kEnd}, kBegin},
      {"the key once more, as memtables do", {kBegin, kEnd, kBegin}, kBegin},
      {"another key is asked for", {kBegin, kEnd}, kOther},
      {"equal bytes elsewhere may be of another question", {kCopyOfBegin, kEnd}, kBegin},
      {"no address", {std::string_view(), kEnd}, std::string_view()},
  };
  for (const auto& [why, transformed, asked] : cases) {
    EXPECT_FALSE(Ask(transformed, asked).has_value()) << why;
  }
}

// Another extractor's prefixes may be empty, too, and point to their keys. With the bound of an
// earlier key in the same memory, the filter would hide rows, or read memory that was freed.
TEST(SeekRangeTest, IsNoneForAKeyWhereAnEarlierOneWas) {
  std::string key = "earlier key";
  TakeSeekRange({});
  const std::string_view earlier = RecordTransformedKey(key);
  RecordTransformedKey(kEnd);  // and no filter asks
  key = "later";
  EXPECT_FALSE(TakeSeekRange({key.data(), 0}).has_value());
  RecordTransformedKey(key);
  RecordTransformedKey(kEnd);
  EXPECT_FALSE(TakeSeekRange(earlier).has_value()) << "the prefix that was kept";
}

// A file that fails after its filter leaves its mark. An OPTIONS file with it could not be used.
TEST(MarkedFileTest, AMarkThatIsLeftIsNotWrittenIntoOptions) {
  rocksdb::ColumnFamilyOptions options;
  options.prefix_extractor = RangeExtractor::Get();
  MarkNextFile(true);
  std::string text;
  MustBeOk(rocksdb::GetStringFromColumnFamilyOptions(&text, options));
  EXPECT_NE(text.find("prefix_extractor=blocksieve.range;"), std::string::npos) << text;
  EXPECT_EQ(RangeExtractor::Get()->GetId(), RangeExtractor::kName) << "the mark is left";
  MarkNextFile(true);
  EXPECT_EQ(RangeExtractor::Get()->AsString(), RangeExtractor::kMarkedName) << "in properties";
}

TEST(SeekRangeTest, StaysOnItsThread) {
  Ask({}, {});
  const std::string_view prefix = RecordTransformedKey(kBegin);
  RecordTransformedKey(kEnd);
  std::thread([&] { EXPECT_FALSE(TakeSeekRange(prefix).has_value()); }).join();
  EXPECT_TRUE(TakeSeekRange(prefix).has_value());
}

// Its queries are not counted.
TEST(RangeSelfTest, PassesWithThisRocksDbEachTime) {
  const uint64_t before = GetRangeFilterCounts().total();
  EXPECT_EQ(RangeSelfTestProblem(RangeExtractor::Get()), "");
  EXPECT_EQ(RangeSelfTestProblem(RangeExtractor::Get()), "");
  EXPECT_EQ(GetRangeFilterCounts().total(), before);
}

// How another RocksDB might call the extractor.
class Relayed final : public rocksdb::SliceTransform {
 public:
  using Relay =
      std::function<rocksdb::Slice(const rocksdb::SliceTransform&, const rocksdb::Slice&)>;

  explicit Relayed(Relay relay) : relay_(std::move(relay)) {}
  const char* Name() const override { return RangeExtractor::kName; }
  rocksdb::Slice Transform(const rocksdb::Slice& key) const override { return relay_(*ours_, key); }
  bool InDomain(const rocksdb::Slice&) const override { return true; }

 private:
  const Relay relay_;
  const std::shared_ptr<const rocksdb::SliceTransform> ours_ = RangeExtractor::Get();
};

struct Chain {
  const char* name;
  Relayed::Relay relay;
};

const Chain kBrokenChains[] = {
    {"leaves nothing",
     [](const auto&, const rocksdb::Slice& key) { return rocksdb::Slice(key.data(), 0); }},
    {"transforms something else in between",
     [](const auto& ours, const rocksdb::Slice& key) {
       const rocksdb::Slice prefix = ours.Transform(key);
       ours.Transform("disturbs");
       return prefix;
     }},
    {"transforms each key twice",
     [](const auto& ours, const rocksdb::Slice& key) {
       ours.Transform(key);
       return ours.Transform(key);
     }},
    {"transforms copies",
     [](const auto& ours, const rocksdb::Slice& key) {
       ours.Transform(std::string(40, '.') + key.ToString());
       return rocksdb::Slice(key.data(), 0);
     }},
    {"keeps a part of keys",
     [](const auto& ours, const rocksdb::Slice& key) {
       ours.Transform(key);
       return rocksdb::Slice(key.data(), std::min<size_t>(key.size(), 12));
     }},
    {"leaves ends that are too low",
     [](const auto& ours, const rocksdb::Slice& key) {
       // A key above the previous one is a bound. Its address must stay valid until it is used.
       thread_local std::string before;
       thread_local std::string low;
       const bool is_bound = key.compare(before) > 0;
       low = before + '\0';
       before = key.ToString();
       return ours.Transform(is_bound ? rocksdb::Slice(low) : key);
     }},
};

TEST(RangeSelfTest, NoticesABrokenChain) {
  for (const Chain& chain : kBrokenChains) {
    const std::string problem = RangeSelfTestProblem(std::make_shared<Relayed>(chain.relay));
    EXPECT_NE(problem, "") << chain.name;
    std::printf("  %s: %s\n", chain.name, problem.c_str());
  }
  const auto faithful = std::make_shared<Relayed>(
      [](const auto& ours, const rocksdb::Slice& key) { return ours.Transform(key); });
  EXPECT_EQ(RangeSelfTestProblem(faithful), "");
}

// Whether range queries were answered, in a process that has done nothing else.
[[noreturn]] void ExitIfAnswered(const EmptySeeks& seeks) {
  std::fprintf(stderr, "%llu no, %llu untrusted, %llu found\n",
               static_cast<unsigned long long>(seeks.counts.no),
               static_cast<unsigned long long>(seeks.counts.untrusted),
               static_cast<unsigned long long>(seeks.found));
  std::exit(seeks.counts.untrusted == 0 && seeks.found == 0 && seeks.counts.no > 900 ? 0 : 1);
}

// A file with ranges is ingested into a database without, which is then opened in another way.
void SeekInIngested(bool is_secondary) {
  const TempDir dir;
  const std::string file = dir / "ranges.sst";
  TestDb::Model rows;
  for (uint64_t i = 0; i < 2000; ++i) rows[RangeKey(2 * i)] = "value";
  rocksdb::Options options = RangeConfig().ToOptions();
  WriteSst(options, file, rows);
  auto db =
      blocksieve::testing::OpenDb(MakeConfig(FilterShape::kFull, nullptr).ToOptions(), dir / "db");
  MustBeOk(db->IngestExternalFile({file}, {}));
  db.reset();
  options.max_open_files = -1;
  db = is_secondary ? OpenSecondary(options, dir / "db", dir / "secondary")
                    : OpenReadOnly(options, dir / "db");
  ExitIfAnswered(SeekEmptyRanges(db.get(), db->DefaultColumnFamily(), RangeRead()));
}

void SeekInNewColumnFamily() {
  const TempDir dir;
  const auto db =
      blocksieve::testing::OpenDb(MakeConfig(FilterShape::kFull, nullptr).ToOptions(), dir / "db");
  rocksdb::ColumnFamilyHandle* family = nullptr;
  MustBeOk(db->CreateColumnFamily(RangeConfig().ToOptions(), "ranges", &family));
  WriteRangeFile(db.get(), family, 0);
  const EmptySeeks seeks = SeekEmptyRanges(db.get(), family, RangeRead());
  MustBeOk(db->DestroyColumnFamilyHandle(family));
  ExitIfAnswered(seeks);
}

TEST(RangeTrustTest, HoldsHoweverADatabaseIsOpened) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // the child restarts the program
  EXPECT_EXIT(SeekInIngested(false), ::testing::ExitedWithCode(0), "");
  EXPECT_EXIT(SeekInIngested(true), ::testing::ExitedWithCode(0), "");
  EXPECT_EXIT(SeekInNewColumnFamily(), ::testing::ExitedWithCode(0), "");
}

TEST(EarlierExtractorTest, IsRocksDbsOwnButForItsLength) {
  RangeConfig();  // registers
  for (const rocksdb::SliceTransform* const own :
       {rocksdb::NewFixedPrefixTransform(3), rocksdb::NewCappedPrefixTransform(3)}) {
    const std::unique_ptr<const rocksdb::SliceTransform> expected(own);
    std::shared_ptr<const rocksdb::SliceTransform> made;
    MustBeOk(
        rocksdb::SliceTransform::CreateFromString(rocksdb::ConfigOptions(), own->GetId(), &made));
    EXPECT_STREQ(made->Name(), own->Name());
    EXPECT_EQ(made->GetId(), own->GetId());
    size_t length = 0;
    EXPECT_FALSE(made->FullLengthEnabled(&length));
    for (const std::string key : {"", "ab", "abc", "abcd"}) {
      EXPECT_EQ(made->InDomain(key), own->InDomain(key)) << key;
      EXPECT_EQ(made->SameResultWhenAppended(key), own->SameResultWhenAppended(key)) << key;
      if (!own->InDomain(key)) continue;
      EXPECT_EQ(made->Transform(key), own->Transform(key)) << key;
    }
  }
  EXPECT_EQ(NewEarlierExtractor("rocksdb.FixedPrefix.99999999999999999999"), nullptr);
}

}  // namespace
}  // namespace blocksieve::rocksdb_plugin
