#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "blocksieve/filter_builder.h"
#include "blocksieve/range_filter.h"
#include "integration/toylsm/manifest.h"
#include "tests/toylsm/toy_model.h"

// Files whose checksums are right, but whose filters and indexes are not there, or not theirs; and
// what is counted when files are read.

namespace blocksieve::toylsm {
namespace {

class SstTest : public ::testing::Test {
 protected:
  static constexpr int kNumKeys = 60;

  static std::string Key(int i) { return "key" + std::to_string(1000 + 2 * i); }

  // One file, of several blocks.
  SstTest() {
    for (int i = 0; i < kNumKeys; ++i) {
      model_[Key(i)] =
          "w" + std::to_string(i % 5) + "\t" + std::to_string(i) + "\t" + std::string(20, '.');
      MustBeOk(db_->Put(Key(i), model_[Key(i)]));
    }
    MustBeOk(db_->Flush());
    EXPECT_GT(File().num_blocks(), 4u);
    EXPECT_GT(File().index().filters.size(), 1u);
  }

  // Lives as long as the database is open and its file is not compacted.
  const SstReader& File() const { return *db_->version()->runs.at(0).files.at(0); }

  // Closes the database, changes its only file's contents and index, and opens it again.
  void Rewrite(const std::function<void(std::string* blocks, SstIndex* index)>& change) {
    SstIndex index = File().index();
    const FileInfo info = File().info();
    const std::string path = SstPath("/db", info.number);
    db_ = nullptr;
    std::string contents = env_.Contents(path);
    const size_t footer = contents.size() - SstFooter::kBytes;
    SstFooter new_footer =
        MustHave(SstFooter::Decode(AsBytes(std::string_view(contents).substr(footer))));
    contents.resize(new_footer.index.offset);
    change(&contents, &index);
    new_footer.index.offset = contents.size();
    contents += CompressBlock(index.Encode(), 1, &new_footer.index);
    contents += new_footer.Encode();
    Manifest manifest =
        MustHave(Manifest::Decode(AsBytes(std::string_view(env_.Contents("/db/MANIFEST")))));
    manifest.files.at(0).num_bytes = contents.size();
    env_.SetContents(path, contents);
    env_.SetContents("/db/MANIFEST", manifest.Encode());
    db_ = MustHave(Db::Open(options_, "/db"));
  }

  static void Append(std::string_view raw, std::string* blocks, BlockHandle* handle) {
    handle->offset = blocks->size();
    *blocks += CompressBlock(raw, 1, handle);
  }

  void ExpectAnswers() {
    EXPECT_EQ(MustHave(ReadAll(db_->NewIterator().get())), model_);
    for (const auto& [key, value] : model_) EXPECT_EQ(MustHave(db_->Get(key)), value);
    EXPECT_EQ(MustHave(db_->Get("key1001")), std::nullopt);
    for (const char* text : {"word = 'w2'", "number > 55", "word = 'w9'"}) {
      const Predicate predicate = *Predicate::Parse(text, options_.value_columns);
      EXPECT_EQ(MustHave(ReadAll(db_->Scan(predicate).get())), Matching(model_, predicate)) << text;
    }
  }

  uint64_t Counted(Count what, int level) const { return db_->counters().Get(what, level); }

  MemoryEnv env_;
  Options options_ = [this] {
    Options options = SmallOptions(&env_);
    options.memtable_bytes = 1 << 20;
    return options;
  }();
  std::unique_ptr<Db> db_ = MustHave(Db::Open(options_, "/db"));
  Model model_;
};

TEST_F(SstTest, WithoutOneOfItsFilters) {
  Rewrite([](std::string*, SstIndex* index) { index->filters.at(1) = {}; });
  ExpectAnswers();
  EXPECT_EQ(db_->counters().Get(Count::kFiltersUnreadable), 0u);
  MustBeOk(db_->Verify());
}

TEST_F(SstTest, WithFiltersThatAreNone) {
  Rewrite([](std::string* blocks, SstIndex* index) {
    for (BlockHandle& handle : index->filters) Append("not a filter", blocks, &handle);
  });
  ExpectAnswers();
}

TEST_F(SstTest, WithADamagedFilter) {
  Rewrite([](std::string*, SstIndex* index) { ++index->filters.at(0).checksum; });
  ExpectAnswers();
  EXPECT_GT(db_->counters().Get(Count::kFiltersUnreadable), 0u);
  EXPECT_EQ(db_->Verify().code(), StatusCode::kCorruption);
}

TEST_F(SstTest, VerifyFindsAFilterOfOtherKeys) {
  Rewrite([](std::string*, SstIndex* index) { index->filters.at(0) = index->filters.at(1); });
  EXPECT_NE(db_->Verify().message().find("a filter denies a key"), std::string::npos);
}

TEST_F(SstTest, WithRangesOfOtherKeys) {
  const auto block_with = [](const std::vector<std::string>& points,
                             const std::vector<std::string>& keys) {
    FilterBuilder filter = MustHave(FilterBuilder::Create({}));
    RangeFilterBuilder ranges = MustHave(RangeFilterBuilder::Create({.max_estimated_fpr = 1}));
    for (const std::string& key : points) filter.AddKey(key);
    for (const std::string& key : keys) ranges.AddKey(key);
    OwnedBytes block = MustHave(filter.Finish());
    MustBeOk(ranges.Finish(&block));
    EXPECT_EQ(ranges.absent_reason(), "");
    return std::string(AsText(block.view()));
  };
  std::vector<std::string> keys;
  for (const auto& [key, value] : model_) keys.push_back(key);
  std::string sound = block_with(keys, keys);
  Rewrite([&](std::string* blocks, SstIndex* index) {
    for (BlockHandle& handle : index->filters) Append(sound, blocks, &handle);
  });
  ExpectAnswers();
  MustBeOk(db_->Verify());
  const KeyRange empty{.begin = "key1001", .end = "key10010"};
  EXPECT_EQ(MustHave(ReadAll(db_->NewIterator(nullptr, empty).get())), Model());
  EXPECT_EQ(db_->counters().Get(Count::kRangeNegatives), 1u);
  // A part of which a byte has been lost says nothing.
  sound.erase(sound.size() / 2, 1);
  Rewrite([&](std::string* blocks, SstIndex* index) {
    for (BlockHandle& handle : index->filters) Append(sound, blocks, &handle);
  });
  ExpectAnswers();
  EXPECT_EQ(MustHave(ReadAll(db_->NewIterator(nullptr, empty).get())), Model());
  EXPECT_EQ(db_->counters().Get(Count::kRangeNegatives), 0u);
  const std::string wrong = block_with(keys, {keys.begin(), keys.begin() + kNumKeys / 3});
  Rewrite([&](std::string* blocks, SstIndex* index) {
    for (BlockHandle& handle : index->filters) Append(wrong, blocks, &handle);
  });
  EXPECT_NE(db_->Verify().message().find("a filter denies a range with a key"), std::string::npos)
      << db_->Verify().message();
}

TEST_F(SstTest, WithoutASkipIndex) {
  Rewrite([](std::string*, SstIndex* index) { index->value_granule_blocks = 0; });
  ExpectAnswers();
  MustBeOk(db_->Verify());
}

TEST_F(SstTest, WithASkipIndexOfAnotherNumberOfGranules) {
  Rewrite([](std::string*, SstIndex* index) { ++index->value_granule_blocks; });
  ExpectAnswers();
  EXPECT_EQ(db_->Verify().code(), StatusCode::kCorruption);
}

TEST_F(SstTest, VerifyFindsASkipIndexOfOtherValues) {
  Rewrite([&](std::string* blocks, SstIndex* index) {
    FileSkipIndexBuilder builder = MustHave(FileSkipIndexBuilder::Create(options_));
    for (size_t i = 0; i < index->blocks.size(); ++i) {
      builder.Add({"", 1, EntryType::kPut, "other\t-1"});
      builder.FinishBlock();
    }
    Append(MustHave(builder.Finish()), blocks, &index->skip_index);
  });
  EXPECT_NE(db_->Verify().message().find("the skip index denies a value"), std::string::npos);
}

TEST_F(SstTest, VerifyFindsAWrongBlockIndex) {
  Rewrite([](std::string*, SstIndex* index) { ++index->num_entries; });
  EXPECT_EQ(db_->Verify().code(), StatusCode::kCorruption);
  Rewrite([](std::string*, SstIndex* index) {
    --index->num_entries;
    index->blocks.at(0).last_key += "x";
  });
  EXPECT_EQ(db_->Verify().code(), StatusCode::kCorruption);
}

TEST_F(SstTest, EveryReadIsCounted) {
  for (const int level : {0, 1}) {
    if (level == 1) MustBeOk(db_->Compact());
    ASSERT_EQ(File().info().level, level);
    // Opening a file reads its footer and its block index.
    db_ = nullptr;
    db_ = MustHave(Db::Open(options_, "/db"));
    const uint64_t opening = Counted(Count::kBlockIndexBytes, level);
    EXPECT_GT(opening, SstFooter::kBytes);
    EXPECT_EQ(Counted(Count::kBytesFromDisk, level), opening);

    const BlockHandle& block = File().index().blocks.at(File().FindBlock(Key(0))).handle;
    const BlockHandle& filter = File().index().filters.at(0);
    db_->counters().Reset();
    EXPECT_EQ(MustHave(db_->Get(Key(0))), model_[Key(0)]);
    EXPECT_EQ(Counted(Count::kDataBlocksFromDisk, level), 1u);
    EXPECT_EQ(Counted(Count::kFilterBlocksFromDisk, level), 1u);
    EXPECT_EQ(Counted(Count::kBytesFromDisk, level), block.stored_bytes + filter.stored_bytes);
    EXPECT_EQ(Counted(Count::kFilterTruePositives, level), 1u);
    EXPECT_EQ(Counted(Count::kBytesFromCache, level), 0u);

    EXPECT_EQ(MustHave(db_->Get(Key(0))), model_[Key(0)]);
    EXPECT_EQ(Counted(Count::kDataBlocksFromDisk, level), 1u);
    EXPECT_EQ(Counted(Count::kDataBlocksFromCache, level), 1u);
    EXPECT_EQ(Counted(Count::kFilterBlocksFromCache, level), 1u);
    EXPECT_EQ(Counted(Count::kBytesFromCache, level), block.raw_bytes + filter.raw_bytes);
    EXPECT_EQ(Counted(Count::kFilterTruePositives, level), 2u);

    db_->counters().Reset();
    for (int i = 0; i + 1 < kNumKeys; ++i) {
      const std::string absent = "key" + std::to_string(1001 + 2 * i);
      EXPECT_EQ(MustHave(db_->Get(absent)), std::nullopt);
    }
    EXPECT_EQ(
        Counted(Count::kFilterNegatives, level) + Counted(Count::kFilterFalsePositives, level),
        static_cast<uint64_t>(kNumKeys - 1));
    EXPECT_GT(Counted(Count::kFilterNegatives, level), static_cast<uint64_t>(kNumKeys / 2));
    EXPECT_EQ(Counted(Count::kFilterTruePositives, level), 0u);

    db_->counters().Reset();
    for (int i = 0; i < 2; ++i) {
      MustHave(ReadAll(db_->Scan(*Predicate::Parse("number = 9", options_.value_columns)).get()));
      // Read once, then kept.
      EXPECT_EQ(Counted(Count::kSkipIndexBytes, level), File().index().skip_index.stored_bytes);
    }
    EXPECT_EQ(db_->counters().Get(Count::kSkipIndexBytes, 1 - level), 0u);
  }
}

// As a block that nobody wrote may claim: what is allocated is in proportion to the file.
TEST(BlockTest, MadeUpLengthsAreNotBelieved) {
  BlockHandle handle;
  const std::string zeros(1 << 20, '\0');
  const std::string stored = CompressBlock(zeros, 1, &handle);
  EXPECT_EQ(*UncompressBlock(stored, handle), zeros);
  const std::string text(2000, 'x');
  const std::string compressed = CompressBlock(text, 1, &handle);
  EXPECT_LT(handle.stored_bytes, handle.raw_bytes);
  EXPECT_EQ(*UncompressBlock(compressed, handle), text);
  for (const uint64_t raw_bytes :
       {uint64_t{1}, uint64_t{1} << 20, uint64_t{1} << 50, ~uint64_t{0}}) {
    handle.raw_bytes = raw_bytes;
    EXPECT_EQ(UncompressBlock(compressed, handle).status().code(), StatusCode::kCorruption);
  }
}

constexpr size_t kNumBlocks = 3;

std::string IndexOfABlockEach(uint32_t granule_blocks) {
  Options options;
  options.value_columns = {*Column::Parse("number=int:1")};
  options.value_granule_blocks = granule_blocks;
  FileSkipIndexBuilder builder = MustHave(FileSkipIndexBuilder::Create(options));
  for (size_t i = 0; i < kNumBlocks; ++i) {
    const std::string value = std::to_string(i);
    builder.Add({.key = value, .sequence = i + 1, .type = EntryType::kPut, .value = value});
    builder.FinishBlock();
  }
  return MustHave(builder.Finish());
}

// Whoever counts up to its end takes days for all of these.
TEST(FileSkipIndex, AGranuleMayBeFarLargerThanTheFile) {
  constexpr uint32_t kMany = std::numeric_limits<uint32_t>::max();
  const std::string expected = IndexOfABlockEach(kNumBlocks);
  for (uint32_t i = 0; i < 10'000; ++i) ASSERT_EQ(IndexOfABlockEach(kMany - i), expected);
  const auto index = FileSkipIndex::Open(expected, kNumBlocks, kMany);
  ASSERT_NE(index, nullptr);
  EXPECT_EQ(index->index().num_granules(), 1u);
}

}  // namespace
}  // namespace blocksieve::toylsm
