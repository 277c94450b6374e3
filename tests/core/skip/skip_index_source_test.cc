#include "lib/skip/skip_index_source.h"
#include "blocksieve/skip_index.h"
#include "lib/skip/file_index.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace blocksieve {
namespace {

/// An index in memory that records which of its bytes were read.
class Source final : public SkipIndexSource {
 public:
  explicit Source(std::string bytes) : bytes_(std::move(bytes)), is_read_(bytes_.size()) {}

  uint64_t num_bytes() const override { return bytes_.size(); }
  Status Read(uint64_t offset, std::span<uint8_t> to) override {
    if (fails_) return Status::Corruption("the disk is gone");
    std::copy_n(bytes_.begin() + static_cast<ptrdiff_t>(offset), to.size(), to.begin());
    std::fill_n(is_read_.begin() + static_cast<ptrdiff_t>(offset), to.size(), true);
    return Status::Ok();
  }
  size_t num_read() const {
    return static_cast<size_t>(std::count(is_read_.begin(), is_read_.end(), true));
  }
  void Fail() { fails_ = true; }

 private:
  const std::string bytes_;
  std::vector<bool> is_read_;
  bool fails_ = false;
};

class SkipIndexSources : public ::testing::Test {
 protected:
  SkipIndexSources() {
    SkipIndexBuilder builder = *SkipIndexBuilder::Create({.columns = columns_, .granule_rows = 10});
    for (int i = 0; i < 20'000; ++i) {
      builder.AddRow("k" + std::to_string(100'000 + i), std::to_string(i / 100) + "\t" +
                                                            std::to_string(i * 7919 % 20'011) +
                                                            "\tword" + std::to_string(i % 50));
    }
    index_ = *builder.Finish();
  }

  const std::vector<Column> columns_ = {*Column::Parse("n=int:field:1"),
                                        *Column::Parse("unique=field:2"),
                                        *Column::Parse("w=words:3")};
  std::string index_;
};

TEST_F(SkipIndexSources, ReadsOnlyTheRequestedColumns) {
  const SkipIndex whole = *SkipIndex::Open(AsBytes(index_));
  const Predicate where = *Predicate::Parse("n = 7 OR n > 195", columns_);
  Source source(index_);
  const Result<std::string> part = ReadSkipIndex(&source, where.columns());
  ASSERT_TRUE(part.ok()) << part.status().message();
  const Result<SkipIndex> opened = SkipIndex::Open(AsBytes(*part));
  ASSERT_TRUE(opened.ok()) << opened.status().message();
  EXPECT_TRUE(
      std::ranges::equal(opened->Candidates(where).words(), whole.Candidates(where).words()));
  EXPECT_LT(source.num_read(), index_.size() / 2) << "`unique` takes most of the index";
  EXPECT_EQ(opened->granules().num_columns(), 1u);
  EXPECT_EQ(opened->granules().column(0).name, columns_[0].ToText());
  // It cannot prune by columns that it lacks.
  EXPECT_FALSE(opened->CanPrune(*Predicate::Parse("w HAS 'word7'", columns_)));
}

TEST_F(SkipIndexSources, ReadsTheWholeIndexAndItsHeader) {
  Source source(index_);
  const auto infos = *ReadSkipIndexColumns(&source);
  EXPECT_LE(source.num_read(), 4096u);
  const SkipIndex whole = *SkipIndex::Open(AsBytes(index_));
  ASSERT_EQ(infos.size(), columns_.size());
  for (size_t i = 0; i < infos.size(); ++i) {
    EXPECT_EQ(infos[i].name, whole.granules().column(i).name);
    EXPECT_EQ(infos[i].filter_bytes, whole.granules().column(i).filter_bytes);
  }
  EXPECT_EQ(*ReadSkipIndex(&source, columns_), index_);
  EXPECT_EQ(*ReadWholeSkipIndex(&source), index_);
}

TEST_F(SkipIndexSources, PassesOnErrorsOfTheSource) {
  Source source(index_);
  source.Fail();
  EXPECT_EQ(ReadSkipIndex(&source, columns_).status().message(), "the disk is gone");
  EXPECT_EQ(ReadWholeSkipIndex(&source).status().message(), "the disk is gone");
  EXPECT_EQ(ReadSkipIndexColumns(&source).status().message(), "the disk is gone");
}

TEST_F(SkipIndexSources, TruncationIsCorruption) {
  for (const size_t size : {size_t{0}, size_t{5}, size_t{9}, size_t{60}, index_.size() - 1}) {
    Source source(index_.substr(0, size));
    EXPECT_EQ(ReadSkipIndex(&source, columns_).status().code(), StatusCode::kCorruption) << size;
  }
}

TEST(SkipIndexSourceHeaders, MayBeLongerThanAPage) {
  std::vector<Column> columns;
  for (int i = 0; i < 200; ++i) {
    columns.push_back(
        *Column::Parse("column" + std::to_string(i) + "=field:" + std::to_string(i + 1)));
  }
  SkipIndexBuilder builder = *SkipIndexBuilder::Create({.columns = columns});
  builder.AddRow("key", "value");
  Source source(*builder.Finish());
  EXPECT_GT(source.num_bytes(), 8192u);
  EXPECT_EQ((*ReadSkipIndexColumns(&source)).size(), 200u);
}

}  // namespace
}  // namespace blocksieve
