// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <random>

#include "blocksieve/scan.h"
#include "lib/skip/fences.h"
#include "tests/core/skip/test_index.h"

// From rows to candidates. Indexes of a column are tested with granules, comparisons with
// predicates.

namespace blocksieve::testing {
namespace {

using GranuleNumbers = std::vector<size_t>;

// A name may have been reused for another field.
TEST(SkipIndexTest, ColumnsAreFoundByTheirKeys) {
  SkipIndexBuilder builder =
      MakeIndexBuilder(IndexOptions(10, MakeColumns({"number=int:1", "word=field:2"})));
  for (uint64_t i = 0; i < 95; ++i) {
    builder.AddRow(RowKey(i), std::to_string(i / 10) + "\tw" + std::to_string(i % 3));
  }
  const TestIndex index = FinishIndex(&builder);
  for (const char* const same :
       {"word=field:2", "renamed=bounds:field:2", "word=filters:bytes:field(\\t):2"}) {
    EXPECT_EQ(index->Find(MakeColumn(same)), &index.column(1)) << same;
  }
  for (const char* const other : {"word=field:1", "word=words:2", "word=field[,]:2"}) {
    EXPECT_EQ(index->Find(MakeColumn(other)), nullptr) << other;
  }
  const Predicate predicate = MakePredicate("number = 77", MakeColumns({"number=int:3"}));
  EXPECT_FALSE(index->CanPrune(predicate));
  EXPECT_EQ(index->Candidates(predicate).Count(), 10u);
}

TEST(SkipIndexTest, UnknownRowsAlwaysMatchAndEmptyRowsLackAllColumns) {
  const std::vector<Column> columns = MakeColumns({"row=value"});
  SkipIndexBuilder builder = MakeIndexBuilder(IndexOptions(10, columns));
  builder.NoteKey("a");
  builder.AddRow("a", "x");
  builder.NoteSequence(7);
  builder.CloseGranule();
  builder.NoteKey("b");
  builder.AddEmptyRow("b");
  builder.CloseGranule();
  builder.NoteKey("c");
  builder.AddRow("c", "y");
  builder.NoteKey("d");
  builder.AddAlwaysMatchingRow("d", 100);
  builder.NoteSequence(9);
  for (const char* const key : {"e", "e", "f"}) {
    builder.CloseGranule();
    builder.NoteKey(key);
    builder.AddRow(key, "z");
  }
  const TestIndex index = FinishIndex(&builder);
  const auto candidates = [&](std::string_view text) {
    return Members(index->Candidates(MakePredicate(text, columns)));
  };
  EXPECT_EQ(candidates("row = 'x'"), (GranuleNumbers{0, 2}));
  EXPECT_EQ(candidates("row IS NULL"), (GranuleNumbers{1, 2}));
  EXPECT_EQ(candidates("row = ''"), (GranuleNumbers{2}));
  EXPECT_EQ(index->num_rows(), 7u);
  std::vector<size_t> plain;
  for (size_t g = 0; g <= index->num_granules(); ++g) {
    if (index->IsPlain(g)) plain.push_back(g);
  }
  EXPECT_EQ(plain, (GranuleNumbers{0, 5}));
  EXPECT_EQ(index->MinSequence(0), 7u);
  EXPECT_EQ(index->MinSequence(2), 9u);
}

// A granule without a key of which some value may match is left out by the columns of keys, and no
// other; deletes and values that are not known count by their keys.
TEST(SkipIndexTest, ByColumnsOfTheKeyNoVersionIsMissed) {
  const std::vector<Column> columns = MakeColumns({"t=key:uint8(-1)", "n=int:value"});
  const char* const conditions[] = {"t = 3",
                                    "t = 3 AND n = 1",
                                    "t = 3 OR n = 1",
                                    "NOT (t < 3 OR n = 1)",
                                    "NOT (t = 3 AND n = 1)",
                                    "(t = 3 OR n = 1) AND NOT (n = 2 AND t > 1)",
                                    "t IS NULL",
                                    "t BETWEEN 2 AND 3 AND n > 0",
                                    "t IN (1, 5) OR (t = 2 AND (n = 1 OR TRUE))"};
  std::mt19937_64 random(7);
  size_t left_out = 0;
  for (int round = 0; round < 200; ++round) {
    SkipIndexBuilder builder = MakeIndexBuilder(IndexOptions(1000, columns));
    struct Entry {
      std::string key;
      std::optional<std::string> value;  // nullopt: not known
      bool is_delete = false;
    };
    std::vector<std::vector<Entry>> granules(12);
    for (auto& entries : granules) {
      for (uint64_t left = 1 + random() % 4; left > 0; --left) {
        Entry entry{random() % 9 == 0 ? "" : std::string(1, static_cast<char>(random() % 6)), ""};
        if (const auto kind = random() % 4; kind == 0) {
          entry.is_delete = true;
          builder.AddEmptyRow(entry.key, 1);
        } else if (kind == 1) {
          entry.value.reset();
          builder.AddAlwaysMatchingRow(entry.key, 1);
        } else {
          if (random() % 4 != 0) entry.value = std::to_string(random() % 3);
          builder.AddRow(entry.key, *entry.value);
        }
        entries.push_back(std::move(entry));
      }
      builder.CloseGranule();
    }
    const TestIndex index = FinishIndex(&builder);
    for (const char* const text : conditions) {
      const Predicate condition = MakePredicate(text, columns);
      const auto may_match = [&](const Entry& entry) {
        return std::ranges::any_of(std::array{"", "0", "1", "2", "9"}, [&](const char* value) {
          return condition.Matches(Row(entry.key, value));
        });
      };
      const auto matches = [&](const Entry& entry) {
        if (entry.is_delete) return false;
        return entry.value ? condition.Matches(Row(entry.key, *entry.value)) : may_match(entry);
      };
      const GranuleSet by_keys = index->Candidates(condition, PruneColumns::kOfKey);
      const GranuleSet by_all = index->Candidates(condition);
      for (size_t g = 0; g < granules.size(); ++g) {
        if (std::ranges::any_of(granules[g], may_match)) {
          ASSERT_TRUE(by_keys.Has(g)) << text;
        }
        if (std::ranges::any_of(granules[g], matches)) {
          ASSERT_TRUE(by_all.Has(g)) << text;
        }
        left_out += !by_keys.Has(g);
      }
    }
  }
  EXPECT_GT(left_out, 4000u);
}

// A block that spans the ends of two series has all times between its bounds.
TEST(SkipIndexTest, FiltersFindTheFewNumbersOfARange) {
  const std::vector<Column> columns = MakeColumns({"t=both:int:1", "u=both:uint:1"});
  SkipIndexBuilder builder = MakeIndexBuilder(IndexOptions(1000, columns));
  for (int granule = 0; granule < 20; ++granule) {
    for (const int time : {0, 30 + granule, 56, 80, 99}) {
      builder.AddRow(RowKey(static_cast<uint64_t>(granule)), std::to_string(time));
    }
    builder.CloseGranule();
  }
  const TestIndex index = FinishIndex(&builder);
  const auto count = [&](std::string_view text) {
    return index->Candidates(MakePredicate(text, columns)).Count();
  };
  EXPECT_LE(count("t BETWEEN 60 AND 75"), 2u);  // a hash may be that of another number
  EXPECT_LE(count("t > 59.5 AND t < 76"), 2u);
  EXPECT_EQ(count("u BETWEEN 60 AND 76"), 20u);
  EXPECT_LE(count("t BETWEEN 31 AND 33 AND u BETWEEN 33 AND 40"), 2u);
  EXPECT_EQ(count("t BETWEEN 98.5 AND 99.5"), 20u);
  EXPECT_EQ(count("t BETWEEN -3 AND -1 OR u BETWEEN 0 AND 3"), 20u);
  EXPECT_EQ(count("NOT t BETWEEN 1 AND 5"), 20u);
}

// Other options out of range: bad_input_test.cc.
TEST(SkipIndexTest, HasUpTo256Columns) {
  SkipIndexOptions options;
  for (int i = 0; i < 256; ++i) options.columns.push_back("c" + std::to_string(i) + "=field:1");
  EXPECT_TRUE(SkipIndexBuilder::Create(options).ok());
  options.columns.push_back("one=value");
  EXPECT_EQ(SkipIndexBuilder::Create(options).status().message(),
            "number of columns is 257; allowed: 1 to 256");
}

TEST(FenceReaderTest, RejectsBytesTooManyOrTooFew) {
  internal::FenceWriter writer;
  writer.Add("a", "b");
  const std::string& bytes = writer.bytes();
  EXPECT_TRUE(internal::FenceReader().Open(AsBytes(bytes), 1));
  EXPECT_FALSE(internal::FenceReader().Open(AsBytes(bytes + '\0'), 1));
  EXPECT_FALSE(internal::FenceReader().Open(AsBytes(bytes.substr(1)), 1));
}

// Skip indexes of several files, as the integrations use them.

TEST(ScanPrunerTest, FilesWithoutAUsableIndexAreReadAsAWhole) {
  const std::vector<Column> columns = MakeColumns({"v=value"});
  const Predicate predicate = MakePredicate("v = 'b'", columns);
  const TestIndex useful = IndexGranules(columns, {{"a"}, {"b"}, {"c"}});
  const TestIndex other = IndexGranules(MakeColumns({"v=field:2"}), {{"a"}, {"b"}});
  ScanExplanation explanation;
  ScanPruner pruner(predicate, &explanation);
  ASSERT_TRUE(pruner.CanPrune());
  const std::optional<GranuleSet> granules = pruner.PruneFile(&*useful, "1", "");
  ASSERT_TRUE(granules);
  EXPECT_EQ(pruner.Select(*useful, *granules), 1u);
  EXPECT_EQ(pruner.Select(*useful, GranuleSet::None(3)), 0u);
  EXPECT_FALSE(pruner.PruneFile(&*useful, "2", "of another engine"));
  EXPECT_FALSE(pruner.PruneFile(&*other, "3", ""));
  for (int i = 0; i < 200; ++i) EXPECT_FALSE(pruner.PruneFile(nullptr, "4", "damaged"));
  pruner.Finish();
  EXPECT_FALSE(explanation.is_full_scan);
  EXPECT_EQ(explanation.num_files, 203u);
  EXPECT_EQ(explanation.files_without_index, 202u);
  EXPECT_EQ(explanation.files_pruned, 1u);
  EXPECT_EQ(explanation.num_granules, 3u);
  EXPECT_EQ(explanation.granules_selected, 1u);
  ASSERT_EQ(explanation.file_problems.size(), 100u);
  EXPECT_EQ(explanation.file_problems[0], "2: of another engine");
  EXPECT_EQ(explanation.file_problems[1], "3: its index has no part that the comparisons can use");
  EXPECT_EQ(explanation.comparisons[0].num_files, 2u);
  EXPECT_EQ(explanation.comparisons[0].granules_selected, 2u) << "for both files";
  ASSERT_EQ(explanation.columns.size(), 1u);
  EXPECT_EQ(explanation.columns[0].name, "v");
  EXPECT_GT(explanation.index_bytes_touched, 0u);
  EXPECT_NE(explanation.ToText().find("granules: 1/3"), std::string::npos);
}

TEST(ScanPrunerTest, FullScanIfNoIndexCanPrune) {
  const Predicate predicate = MakePredicate("v = 'b'", MakeColumns({"v=value"}));
  ScanExplanation off;
  ScanPruner without(predicate, &off, {.use_index = false});
  EXPECT_FALSE(without.CanPrune());
  without.Finish();
  EXPECT_TRUE(off.is_full_scan);
  EXPECT_EQ(off.full_scan_reason, "use_index is off");
  ScanExplanation useless;
  EXPECT_FALSE(ScanPruner(MakePredicate("v LIKE '%b'", predicate.columns()), &useless).CanPrune());
  EXPECT_EQ(useless.full_scan_reason, "no comparison of the predicate can prune granules");
  ScanExplanation none;
  ScanPruner pruner(predicate, &none);
  EXPECT_FALSE(pruner.PruneFile(nullptr, "1", "written without an index"));
  pruner.Finish();
  EXPECT_EQ(none.full_scan_reason, "no file has an index that can prune granules");
}

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

class SkipIndexSourcesTest : public ::testing::Test {
 protected:
  SkipIndexSourcesTest() {
    SkipIndexBuilder builder = *SkipIndexBuilder::Create({.columns = columns_, .granule_rows = 10});
    for (int i = 0; i < 20'000; ++i) {
      builder.AddRow("k" + std::to_string(100'000 + i), std::to_string(i / 100) + "\t" +
                                                            std::to_string(i * 7919 % 20'011) +
                                                            "\tword" + std::to_string(i % 50));
    }
    index_ = Must(builder.Finish()).bytes;
  }

  const std::vector<Column> columns_ = {*Column::Parse("n=int:field:1"),
                                        *Column::Parse("unique=field:2"),
                                        *Column::Parse("w=words:3")};
  std::string index_;
};

TEST_F(SkipIndexSourcesTest, ReadsOnlyTheRequestedColumns) {
  const TestIndex whole(index_);
  const Predicate where = MakePredicate("n = 7 OR n > 195", columns_);
  Source source(index_);
  const SkipIndex part = Must(SkipIndex::Read(&source, where.columns()));
  EXPECT_EQ(part.Candidates(where), whole->Candidates(where));
  EXPECT_LT(source.num_read(), index_.size() / 2) << "`unique` takes most of the index";
  ASSERT_EQ(part.columns().size(), 1u);
  EXPECT_EQ(part.columns()[0].definition, columns_[0].ToText());
  EXPECT_GE(part.memory_bytes(), part.index_bytes() / 2) << "it owns its bytes";
  // It cannot prune by columns that it lacks.
  EXPECT_FALSE(part.CanPrune(MakePredicate("w HAS 'word7'", columns_)));
}

TEST_F(SkipIndexSourcesTest, ReadsTheWholeIndexOrPassesOnErrors) {
  Source source(index_);
  EXPECT_EQ(Must(SkipIndex::Read(&source)).index_bytes(), index_.size());
  source.Fail();
  EXPECT_EQ(SkipIndex::Read(&source, columns_).status().message(), "the disk is gone");
  EXPECT_EQ(SkipIndex::Read(&source).status().message(), "the disk is gone");
}

TEST(SkipIndexSourceHeadersTest, MayBeLongerThanAPage) {
  std::vector<Column> columns;
  for (int i = 0; i < 200; ++i) {
    columns.push_back(
        *Column::Parse("column" + std::to_string(i) + "=field:" + std::to_string(i + 1)));
  }
  SkipIndexBuilder builder = *SkipIndexBuilder::Create({.columns = columns});
  builder.AddRow("key", "value");
  Source source(Must(builder.Finish()).bytes);
  EXPECT_GT(source.num_bytes(), 8192u);
  EXPECT_EQ(Must(SkipIndex::Read(&source)).columns().size(), 200u);
}

}  // namespace
}  // namespace blocksieve::testing
