// SPDX-License-Identifier: Apache-2.0
#include "integration/rocksdb/block_index/block_index.h"

#include <algorithm>
#include <fstream>
#include <random>
#include <thread>
#include <utility>

#include "tests/rocksdb/scan/skip_test_db.h"
#include "tests/support/damage.h"
#include "tests/support/environment.h"

namespace blocksieve::rocksdb_plugin {
namespace {

using blocksieve::testing::Columns;
using blocksieve::testing::Must;

struct Row {
  std::string key;
  uint64_t tag;  // falls among the versions of a key
};

/// A file with versions of keys that go on in the next block, and its index.
struct IndexedFile {
  explicit IndexedFile(uint64_t seed, const EnableOptions& options = {.ranges = true})
      : random(seed) {
    BlockIndexBuilder builder =
        Must(BlockIndexBuilder::Create(options, rocksdb::BytewiseComparator()));
    std::map<std::string, uint64_t> keys;
    while (keys.size() < 200) keys[RandomKey()] = random() % 4 == 0 ? 1 + random() % 12 : 1;
    for (const auto& [key, versions] : keys) {
      for (uint64_t i = versions; i > 0; --i) rows.push_back({key, i << 8 | 1});
    }
    for (size_t begin = 0; begin < rows.size();) {
      const size_t end = std::min(rows.size(), begin + 1 + random() % 8);
      for (size_t i = begin; i < end; ++i) {
        builder.Add({.key = rows[i].key, .value = std::to_string(blocks.size())});
      }
      const std::string_view next = end == rows.size() ? "" : std::string_view(rows[end].key);
      blocks.push_back({begin, end});
      builder.EndBlock(rows[end - 1].key, end == rows.size() ? nullptr : &next,
                       {1000 * begin, 1000 * (end - begin) - kBlockTrailerBytes},
                       rows[end - 1].tag);
      begin = end;
    }
    bytes = builder.Finish();
    index.emplace(Must(BlockIndex::Open(AsBytes(bytes), rocksdb::BytewiseComparator())));
  }

  std::string RandomKey() {
    std::string key("k");
    for (int i = 0; i < 8; ++i) key += static_cast<char>(random());
    return key;
  }

  /// The first row at or after a version of a key.
  size_t LowerBound(const std::string& key, uint64_t tag) const {
    const auto row = std::ranges::find_if(rows, [&](const Row& each) {
      return each.key > key || (each.key == key && each.tag <= tag);
    });
    return static_cast<size_t>(row - rows.begin());
  }
  size_t BlockOf(size_t row) const {
    const auto block = std::ranges::find_if(blocks, [&](const auto& b) { return row < b.second; });
    return static_cast<size_t>(block - blocks.begin());
  }

  std::mt19937_64 random;
  std::vector<Row> rows;
  std::vector<std::pair<size_t, size_t>> blocks;  // [first row, second row)
  std::string bytes;
  std::optional<BlockIndex> index;
};

IndexedFile FileOfAllSections() {
  return IndexedFile(
      5, {.ranges = true, .prefixes = "lengths:2", .columns = Columns({"n=int:field:1"})});
}

// As RocksDB's iterators use an index: forward a Seek, then Next while blocks have no row; backward
// a Seek, SeekToLast if that finds nothing, then Prev.
TEST(BlockIndexTest, NoRowIsLostBetweenBounds) {
  uint64_t blocks_read = 0;
  uint64_t empty = 0;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    IndexedFile file(seed);
    std::string bounds[2];
    rocksdb::Slice lower;
    rocksdb::Slice upper;
    BlockIndexIterator both(*file.index, {&lower, &upper});
    BlockIndexIterator forward(*file.index, {nullptr, &upper});
    for (int i = 0; i < 500; ++i) {
      const bool has_lower = i % 2 == 0;
      BlockIndexIterator& iterator = has_lower ? both : forward;
      // Short ranges, of which some have keys.
      bounds[0] = i % 5 == 0 ? file.rows[file.random() % file.rows.size()].key : file.RandomKey();
      bounds[1] = bounds[0];
      bounds[1][1 + file.random() % 3] = '\xff';
      lower = bounds[0];
      upper = bounds[1];
      const size_t first = file.LowerBound(bounds[0], UINT64_MAX);
      const size_t end = file.LowerBound(bounds[1], UINT64_MAX);
      iterator.Seek(bounds[0], UINT64_MAX);
      empty += first == end;
      blocks_read += first == end && iterator.Valid();
      for (size_t row = first; row < end; ++row) {
        while (iterator.Valid() && file.blocks[iterator.entry().index()].second <= row) {
          iterator.Next();
        }
        ASSERT_TRUE(iterator.Valid()) << "seed " << seed;
        ASSERT_EQ(iterator.entry().index(), file.BlockOf(row));
      }
      // The last row before a target within the bounds, or at their end.
      const std::string target = i % 3 == 0 ? bounds[1] : bounds[0] + "~";
      const size_t after = file.LowerBound(target, UINT64_MAX);
      iterator.Seek(target, UINT64_MAX);
      if (!iterator.Valid()) iterator.SeekToLast();
      if (after == 0 || (has_lower && file.rows[after - 1].key < bounds[0])) continue;
      while (iterator.Valid() && file.blocks[iterator.entry().index()].first >= after) {
        iterator.Prev();
      }
      ASSERT_TRUE(iterator.Valid()) << "seed " << seed;
      ASSERT_EQ(iterator.entry().index(), file.BlockOf(after - 1));
    }
  }
  EXPECT_GT(empty, 1000u);
  EXPECT_LT(blocks_read * 20, empty);
}

// A MultiScan has the bounds of its first range while all are sought.
TEST(BlockIndexTest, AnnouncedRangesEndWhereTheySay) {
  IndexedFile file(2);
  const rocksdb::Slice lower("a");
  const rocksdb::Slice upper("b");  // no key is between
  BlockIndexIterator iterator(*file.index, {&lower, &upper});
  const std::string last = file.rows.back().key;
  iterator.Prepare({{"b", "c"}, {file.rows[5].key, last}, {last, std::nullopt}}, false);
  iterator.Seek("b", UINT64_MAX);
  ASSERT_TRUE(iterator.Valid());
  EXPECT_EQ(iterator.entry().index(), file.BlockOf(file.LowerBound(file.rows[5].key, UINT64_MAX)));
  iterator.Seek(file.rows[5].key, UINT64_MAX);
  for (size_t block = iterator.entry().index(); block < file.blocks.size(); ++block) {
    ASSERT_TRUE(iterator.Valid());
    if (file.rows[file.blocks[block].second - 1].key >= last) break;
    iterator.Next();
  }
  iterator.Seek(last, UINT64_MAX);
  ASSERT_TRUE(iterator.Valid());
  EXPECT_EQ(iterator.entry().index(), file.BlockOf(file.LowerBound(last, UINT64_MAX)));
  iterator.Seek(file.rows[5].key, UINT64_MAX);  // of the read again
  EXPECT_FALSE(iterator.Valid());
}

TEST(BlockIndexTest, ConditionKeepsBlocksThatShareKeys) {
  IndexedFile file(3, {.columns = Columns({"n=int:field:1"})});
  const Predicate condition = testing::Where("n = 7", Columns({"n=int:field:1"}));
  const std::optional<GranuleSet> all = file.index->BlocksToRead(condition, BlockRule::kAll);
  const std::optional<GranuleSet> inner = file.index->BlocksToRead(condition, BlockRule::kKeepEnds);
  ASSERT_TRUE(all && inner);
  const size_t last = file.blocks.size() - 1;
  EXPECT_TRUE(inner->Has(0) && inner->Has(last));
  EXPECT_LT(all->Count(), file.blocks.size());
  for (size_t block = 0; block < last; ++block) {
    const size_t end = file.blocks[block].second;
    if (block == 7 || file.rows[end - 1].key == file.rows[end].key) {
      EXPECT_TRUE(all->Has(block)) << block;
    }
    EXPECT_TRUE(block == 7 || all->Has(block + 1) || file.rows[end - 1].key != file.rows[end].key);
  }
  const auto blocks = std::make_shared<const GranuleSet>(*all);
  BlockIndexIterator iterator(*file.index, {.blocks = blocks});
  size_t num_read = 0;
  for (iterator.SeekToFirst(); iterator.Valid(); iterator.Next()) {
    EXPECT_TRUE(blocks->Has(iterator.entry().index()));
    ++num_read;
  }
  EXPECT_EQ(num_read, blocks->Count());
}

// What a program's comparator says of separators is checked, as RocksDB does.
TEST(BlockIndexTest, SeparatorsOfOddComparatorsLoseNoKey) {
  class Odd : public rocksdb::Comparator {
   public:
    explicit Odd(std::string separator) : separator_(std::move(separator)) {}
    const char* Name() const override { return "odd"; }
    int Compare(const rocksdb::Slice& a, const rocksdb::Slice& b) const override {
      return a.compare(b);
    }
    void FindShortestSeparator(std::string* start, const rocksdb::Slice& limit) const override {
      *start = separator_ == "limit" ? limit.ToString() : separator_;
    }
    void FindShortSuccessor(std::string*) const override {}

   private:
    const std::string separator_;
  };
  for (const char* const separator : {"", "a", "limit", "z"}) {
    const Odd order(separator);
    auto builder = Must(BlockIndexBuilder::Create({.columns = Columns({"n=int:field:1"})}, &order));
    const std::string_view next = "k2";
    builder.Add({.key = "k1", .value = "1"});
    builder.EndBlock("k1", &next, {0, 100}, 1);
    builder.Add({.key = next, .value = "2"});
    builder.EndBlock(next, nullptr, {105, 100}, 1);
    const BlockIndex index = Must(BlockIndex::Open(AsBytes(builder.Finish()), &order));
    BlockIndexIterator iterator(index, {});
    for (const std::string key : {"k1", "k2"}) {
      iterator.Seek(key, 1);
      ASSERT_TRUE(iterator.Valid());
      EXPECT_EQ(iterator.entry().index(), key == "k2") << separator;
    }
  }
}

// The id that the collector writes of a table that the steps of RocksDB's constructor begin.
std::optional<SidecarId> IdByCollector() {
  FileIdCollectorFactory factory;
  const std::unique_ptr<rocksdb::TablePropertiesCollector> collector(
      factory.CreateTablePropertiesCollector({}));
  rocksdb::TableProperties properties;
  EXPECT_TRUE(collector->Finish(&properties.user_collected_properties).ok());
  return FindFileId(properties);
}

// That of an index of one byte.
std::shared_ptr<IndexOffer> Offer() {
  auto offer = OfferFileId();
  (*offer)->num_bytes = 1;
  return offer;
}

TEST(FileIdTest, ReachesTheCollectorOfItsOwnTableAlone) {
  EXPECT_EQ(IdByCollector(), std::nullopt);  // no index
  std::shared_ptr<IndexOffer> index = Offer();
  EXPECT_EQ(IdByCollector(), (*index)->id);
  EXPECT_EQ(IdByCollector(), std::nullopt);  // one collector, even while the table is written
  // Nobody takes it: the table has no collector, or was given up. Then another one begins.
  const SidecarId id = (*index)->id;
  index = OfferFileId();
  EXPECT_NE((*index)->id, id);
  EXPECT_EQ(IdByCollector(), std::nullopt) << "of an index that was left out";
  index = Offer();
  index.reset();
  EXPECT_EQ(IdByCollector(), std::nullopt);
  // Tables that are begun by turns, and offers that another thread ends.
  const auto first = Offer();
  const auto second = Offer();
  EXPECT_EQ(IdByCollector(), (*second)->id);
  EXPECT_EQ(IdByCollector(), std::nullopt);
  index = Offer();
  std::thread([&] {
    EXPECT_EQ(IdByCollector(), std::nullopt);
    index.reset();
  }).join();
  EXPECT_EQ(IdByCollector(), std::nullopt);
}

TEST(FileIdTest, DamagedPropertiesAreNoId) {
  rocksdb::TableProperties properties;
  std::string& text = properties.user_collected_properties["blocksieve.block_index.id"];
  for (const std::string& digits : {std::string(), std::string(31, '1'), std::string(33, '1'),
                                    std::string(31, '1') + "g", "-" + std::string(31, '1')}) {
    text = digits;
    EXPECT_EQ(FindFileId(properties), std::nullopt) << digits;
  }
  text = std::string(31, '0') + "a";
  EXPECT_EQ(FindFileId(properties), (SidecarId{0, 10}));
}

// Written by itself only if asked to (environment.h), like tests/core/format/golden_test.cc.
TEST(BlockIndexTest, WriterMakesTheGoldenBytes) {
  const std::string path = testing::SourcePath("tests/golden/block_index.udi");
  if (testing::WritesGoldenFiles())
    std::ofstream(path, std::ios::binary) << FileOfAllSections().bytes;
  std::ifstream golden(path, std::ios::binary);
  const std::string bytes(std::istreambuf_iterator<char>(golden), {});
  EXPECT_TRUE(bytes == FileOfAllSections().bytes);
}

TEST(BlockIndexTest, FindsEveryVersionOrReportsDamage) {
  const IndexedFile file = FileOfAllSections();
  const Predicate condition = testing::Where("n = 7", Columns({"n=int:field:1"}));
  const auto check = [&](ByteView bytes, size_t step = 9) {
    const Result<BlockIndex> index = BlockIndex::Open(bytes, rocksdb::BytewiseComparator());
    EXPECT_TRUE(index.ok() || step != 1);
    if (!index.ok()) return;
    EXPECT_EQ(index->entries().size(), file.blocks.size());
    for (const Row& row : file.rows) {
      EXPECT_TRUE(index->MayContainRange(row.key, row.key + '\0'));
    }
    BlockIndexIterator iterator(*index, {});
    for (size_t row = 0; row < file.rows.size(); row += step) {
      iterator.Seek(file.rows[row].key, file.rows[row].tag);
      ASSERT_TRUE(iterator.Valid());
      const size_t block = file.BlockOf(row);
      EXPECT_EQ(iterator.entry().index(), block);
      EXPECT_EQ(iterator.entry().block().offset, 1000 * file.blocks[block].first);
    }
    const std::optional<GranuleSet> blocks = index->BlocksToRead(condition, BlockRule::kAll);
    EXPECT_TRUE(!blocks || blocks->Has(7));
  };
  check(AsBytes(file.bytes), 1);
  const testing::Masks masks{1, 0x80};
  testing::ForEachDamage(
      AsBytes(file.bytes), [&](size_t) { return masks; },
      [&](ByteView damaged) { check(damaged); });
}

}  // namespace
}  // namespace blocksieve::rocksdb_plugin
