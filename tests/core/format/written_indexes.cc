#include <gtest/gtest.h>

#include "lib/granule/format.h"
#include "lib/granule/granule_index.h"
#include "lib/hash/checksum.h"
#include "tests/core/format/written_block.h"
#include "tests/core/granule/granule_test_index.h"
#include "tests/support/reseal.h"

namespace blocksieve::testing {
namespace {

// The content of an index, as text.
class Answers {
 public:
  explicit Answers(const TestIndex& index) : index_(index) {}

  void AddGranules(uint64_t most) {
    std::string first;
    std::string last;
    for (size_t g = 0; g < std::min(index_->num_granules(), most); ++g) {
      index_->GetKeyRange(g, &first, &last);
      text_ += first + "|" + last + "|";
      Add(index_->NumRows(g));
      Add(index_->MinSequence(g));
      Add(index_->AlwaysMatches(g));
    }
  }
  void Add(uint64_t word) { text_ += std::to_string(word) + " "; }
  void Add(const GranuleSet& set) {
    for (const uint64_t word : set.words()) Add(word);
  }

  const std::string& text() const { return text_; }

 private:
  const TestIndex& index_;
  std::string text_;
};

// All golden files have the same columns, number and text, but different keys and rows.
struct IndexRow {
  std::string name;
  uint64_t granule_rows = 0;
  uint64_t num_rows = 0;
  std::string (*key)(uint64_t row) = nullptr;
  uint64_t file_hash = 0;
  uint64_t answers_hash = 0;  // XXH3 of all answers
  bool is_compressed = false;
  uint64_t many_values_every = 0;      // every n-th row has 60 numbers, the others 1
  uint64_t num_values = ~uint64_t{0};  // distinct numbers, except in those rows
  uint64_t own_value_every = 7;
  double number_fpr = 0.1;
  bool with_postings = false;
};

std::string ShortKey(uint64_t row) { return "k" + std::to_string(row); }
std::string PathKey(uint64_t row) { return "/usr/share/doc/package/file-" + RowKey(row) + ".txt"; }
// Incompressible.
std::string RandomKey(uint64_t row) {
  uint64_t state = row + 1;
  std::string key;
  for (int i = 0; i < 8; ++i) key.push_back(static_cast<char>((state *= 0xd1342543de82ef95) >> 56));
  return key;
}

std::vector<IndexRow> IndexRows() {
  return {
      {"granule_empty", 2, 0, &ShortKey, 0x7828de0f0c9b5ce2, 0x2d06800538d394c2},
      {"granule_5_rows", 2, 5, &ShortKey, 0x95b148eb616c31ea, 0x0b1213cfa6eb529d},
      {"granule_skewed", 4, 1'500, &RandomKey, 0x4f300c06ce252988, 0x95e8529648b0fbe4, false, 333},
      {"granule_many", 1, 700, &RandomKey, 0x90a18867ada78ce6, 0x2f9f038415d8534b},
      {"granule_paths", 16, 2'000, &PathKey, 0x119d748b57f0a029, 0xef39314108efc4c8, true},
      {"granule_postings", 4, 1'200, &ShortKey, 0x3d776338e22734db, 0xb4e4463626ecc050, true, 0, 50,
       7, 0.001, true},
      {"granule_postings_skewed", 4, 1'500, &RandomKey, 0x53da67820b250f7e, 0x2bb8004e1a41b77f,
       false, 333, 8, 7, 0.001, true},
      {"granule_dictionary", 4, 1'000, &RandomKey, 0x0712f9d4d2f5832b, 0x6b8cbea20f6452f0, false, 0,
       60, 0, 0.001, true},
      {"granule_groups", 4, 2'000, &RandomKey, 0x1fb3e34c1d145e9e, 0x388294cdc4d8db67, false, 0,
       ~uint64_t{0}, 7, 0.1, true},
      {"granule_mixed", 4, 1'000, &RandomKey, 0x4dd0769cb17510c1, 0x7f7724e5fdb4c911, false, 0, 700,
       7, 0.01, true},
  };
}

class WrittenIndex : public WrittenBlock {
 public:
  explicit WrittenIndex(const IndexRow& row)
      : WrittenBlock(row.name, ".index", row.file_hash), row_(row) {}

  uint64_t Number(uint64_t row, uint64_t i) const {
    const bool is_own = row_.own_value_every != 0 && row % row_.own_value_every == 0;
    return is_own ? row + i : (row + i) % row_.num_values;
  }

  std::string Make() const override {
    GranuleIndexOptions options = IndexOptions(
        row_.granule_rows,
        {ColumnOf(ValueType::kUint, row_.number_fpr), ColumnOf(ValueType::kBytes, 0.01)});
    options.columns[0].name = "number";
    options.columns[1].name = "text";
    for (GranuleColumnOptions& column : options.columns) column.with_postings = row_.with_postings;
    GranuleIndexBuilder builder = MakeIndexBuilder(options);
    for (uint64_t row = 0; row < row_.num_rows; ++row) {
      builder.StartRow(row_.key(row), 1);
      builder.NoteSequence(1'000 + row);
      if (row % 400 == 399) builder.MarkAlwaysMatch();
      const bool has_many = row_.many_values_every != 0 && row % row_.many_values_every == 0;
      for (uint64_t i = 0; i < (has_many ? 60 : 1); ++i) {
        builder.AddValue(0, Value::Uint(Number(row, i)));
      }
      const std::string text = "t" + std::to_string(row / 2);
      if (row % 3 != 2) builder.AddValue(1, Value::Bytes(text));
    }
    return FinishIndex(&builder).bytes();
  }

  // zstd may compress differently in another version.
  bool HasOtherForms() const override { return row_.is_compressed; }

  void ExpectGoldenAnswers(ByteView block, Kernel kernel) const override {
    const TestIndex index(block, kernel);
    Answers answers(index);
    answers.AddGranules(UINT64_MAX);
    for (uint64_t i = 0; i < 1'000; ++i) {
      const Value number = Value::Uint(2 * i);
      const std::string bytes = "t" + std::to_string(i);
      const Value text = Value::Bytes(bytes);
      answers.Add(index.Containing(0, number));
      answers.Add(index.Overlapping(0, {number, std::nullopt}));
      answers.Add(index.Differing(0, number));
      answers.Add(index.Containing(1, text));
      answers.Add(index.Overlapping(1, {std::nullopt, text}));
      answers.Add(index.Differing(1, text));
    }
    for (const size_t column : {0, 1}) {
      answers.Add(index.Missing(column));
      answers.Add(index.Present(column));
    }
    EXPECT_EQ(WideChecksum(AsBytes(answers.text())), row_.answers_hash);
  }

  bool Opens(ByteView bytes) const override { return GranuleIndex::Open(bytes).ok(); }

  Status Verify(ByteView bytes) const override { return GranuleIndex::Open(bytes).status(); }

  std::string ProbeAll(ByteView bytes, Kernel kernel) const override {
    // Limits of a hostile index, for the time of the test, not for correctness.
    constexpr uint64_t kMaxGranules = 1 << 16;
    const TestIndex index(bytes, kernel);
    if (index->num_granules() > kMaxGranules) return "";
    Answers answers(index);
    answers.AddGranules(64);
    for (size_t column = 0; column < index->num_columns(); ++column) {
      const std::vector<Value> values = ValuesOf(index->column(column).type);
      std::vector<GranuleSet> sets = {index.ContainingAny(column, values), index.Missing(column),
                                      index.Present(column)};
      for (const Value& value : values) {
        sets.push_back(index.Containing(column, value));
        sets.push_back(index.Overlapping(column, {value, value}));
        sets.push_back(index.Overlapping(column, {value, std::nullopt}));
        sets.push_back(index.Overlapping(column, {std::nullopt, value, true, false}));
        sets.push_back(index.Differing(column, value));
      }
      for (const uint64_t hash : {uint64_t{1}, ~uint64_t{0}}) {
        index->column_index(column).PruneByHash(hash, &sets.emplace_back(index.All()));
        GranuleSet none = GranuleSet::None(index.num_granules());
        index->column_index(column).PruneByHash(hash, &none);
        EXPECT_TRUE(none.IsEmpty()) << "no granule becomes a candidate";
      }
      for (const GranuleSet& set : sets) {
        answers.Add(set);
        for (size_t g = 0; g < set.num_granules(); ++g) {
          if (!set.Has(g) && index->AlwaysMatches(g)) ADD_FAILURE() << "such are never removed";
        }
      }
    }
    return answers.text();
  }

  std::optional<std::string> Reseal(ByteView bytes) const override {
    return ResealGranuleIndex(bytes);
  }

  Range Fields(ByteView block) const override {
    size_t header_bytes = 0;
    EXPECT_TRUE(internal::DecodeGranuleIndexHeader(block, &header_bytes).ok());
    return {0, header_bytes - sizeof(uint32_t)};
  }

  size_t VersionAt(ByteView) const override { return 4; }

 protected:
  const IndexRow row_;

 private:
  // In ascending order.
  static std::vector<Value> ValuesOf(ValueType type) {
    static const std::string long_text(100, '\xff');
    switch (type) {
      case ValueType::kInt:
        return {Value::Int(-5), Value::Int(5), Value::Int(INT64_MAX)};
      case ValueType::kUint:
        return {Value::Uint(0), Value::Uint(5), Value::Uint(UINT64_MAX)};
      case ValueType::kFloat:
        return {Value::Float(-0.0), Value::Float(5), Value::Float(1e300)};
      case ValueType::kBytes:
        break;
    }
    return {Value::Bytes(""), Value::Bytes("word key 00000017"), Value::Bytes(long_text)};
  }
};

// A small index with compressed keys, bounds of texts and floats, and several size classes.
class SmallIndex : public WrittenIndex {
 public:
  explicit SmallIndex(bool with_postings)
      : WrittenIndex({.name = with_postings ? "granule_small_postings" : "granule_small",
                      .with_postings = with_postings}) {}

  std::string Make() const override {
    GranuleIndexOptions options =
        IndexOptions(3, {ColumnOf(ValueType::kBytes, 0.05), ColumnOf(ValueType::kFloat, 0.3)});
    for (GranuleColumnOptions& column : options.columns) column.with_postings = row_.with_postings;
    GranuleIndexBuilder builder = MakeIndexBuilder(options);
    for (uint64_t row = 0; row < 70; ++row) {
      builder.StartRow("a/common/path/of/keys/" + RowKey(row * row), 10);
      if (row == 30) builder.MarkAlwaysMatch();
      builder.NoteSequence(row);
      for (uint64_t i = 0; i < (row == 40 ? 30 : 1 + row % 2); ++i) {
        builder.AddValue(0, Value::Bytes("word " + RowKey(row * i)));
      }
      if (row % 5 != 0) builder.AddValue(1, Value::Float(static_cast<double>(row) / 3));
    }
    return FinishIndex(&builder).bytes();
  }
};

}  // namespace

std::vector<WrittenBlockPtr> WrittenIndexes() {
  std::vector<WrittenBlockPtr> all;
  for (const IndexRow& row : IndexRows()) all.push_back(std::make_shared<WrittenIndex>(row));
  for (const bool with_postings : {true, false}) {
    all.push_back(std::make_shared<SmallIndex>(with_postings));
  }
  return all;
}

}  // namespace blocksieve::testing
