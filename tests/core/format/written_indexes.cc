// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "blocksieve/hash.h"
#include "tests/core/format/written_block.h"
#include "tests/core/skip/test_index.h"
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
      if (index_->has_keys()) index_->GetKeyRange(g, &first, &last);
      text_ += first + "|" + last + "|";
      Add(index_->NumRows(g));
      Add(index_->MinSequence(g));
      Add(index_->AlwaysMatches(g));
      Add(index_->IsPlain(g));
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
  uint64_t answers_hash = 0;  // HashKey of all answers
  bool is_compressed = false;
  uint64_t many_values_every = 0;      // every n-th row has 60 numbers, the others 1
  uint64_t num_values = ~uint64_t{0};  // distinct numbers, except in those rows
  uint64_t own_value_every = 7;
  double target_fpr = 0.01;
  bool has_keys = true;
  uint64_t outlier_every = 0;  // every n-th row has the largest number, and an empty text
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
      {"skip_empty", 2, 0, &ShortKey, 0x1551674045b80dd8, 0x56ac65b1ac20291e},
      {"skip_5_rows", 2, 5, &ShortKey, 0xfc8ab935e826621c, 0x6652439b1b7445da},
      {"skip_no_keys", 2, 51, &ShortKey, 0x39a7c344375899b8, 0x61fab4df34fa33b7, false, 0,
       ~uint64_t{0}, 7, 0.01, false},
      {"skip_many", 1, 700, &RandomKey, 0x6bbd202bfe52ddfd, 0xf10a14d82097f113},
      {"skip_paths", 16, 2'000, &PathKey, 0xdc73dafb75466f93, 0x3574cc38cccd5a57, true},
      {"skip_ribbons", 4, 1'200, &ShortKey, 0x40d781acae67274c, 0x6c0817838a307066, true, 0, 50, 7,
       0.001},
      {"skip_skewed", 4, 1'500, &RandomKey, 0xe378f6d13815acbf, 0xf2d2ebb9c1b541aa, false, 333, 8,
       7, 0.001},
      {"skip_dictionary", 4, 1'000, &RandomKey, 0xfdf2e45e34b85b88, 0x17d84be9625e8641, false, 0,
       60, 0, 0.001},
      {"skip_groups", 4, 2'000, &RandomKey, 0xde707fadbfafc20d, 0x6f94af586e432893, false, 0,
       ~uint64_t{0}, 7, 0.1},
      {"skip_outliers", 8, 700, &RandomKey, 0x59d9e0fd7eba7b08, 0x8314a626eb882985, false, 5,
       ~uint64_t{0}, 7, 0.01, true, 20},
  };
}

class WrittenIndex : public WrittenBlock {
 public:
  explicit WrittenIndex(const IndexRow& row)
      : WrittenBlock(row.name, ".index", row.file_hash), row_(row) {}

  bool IsOutlier(uint64_t row) const {
    return row_.outlier_every != 0 && row % row_.outlier_every == 1;
  }
  uint64_t Number(uint64_t row, uint64_t i) const {
    if (IsOutlier(row)) return ~uint64_t{0};
    if (row_.outlier_every != 0) return row + (uint64_t{1} << i) - 1;
    const bool is_own = row_.own_value_every != 0 && row % row_.own_value_every == 0;
    return is_own ? row + i : (row + i) % row_.num_values;
  }

  std::string Make() const override {
    SkipIndexBuilder builder = MakeIndexBuilder(
        IndexOptions(row_.granule_rows,
                     {MakeColumn("number=both:uint:1"), MakeColumn("text=both:field:2")},
                     row_.target_fpr),
        row_.has_keys);
    for (uint64_t row = 0; row < row_.num_rows; ++row) {
      const std::string key = row_.key(row);
      builder.NoteKey(key);
      if (row % 100 == 49) builder.NoteKey(key);  // of a delete
      if (row % 400 == 399) {
        builder.AddAlwaysMatchingRow(key, 1);
      } else {
        builder.AddRow(key, {}, 1);
      }
      builder.NoteSequence(1'000 + row);
      const bool has_many = row_.many_values_every != 0 && row % row_.many_values_every == 0;
      for (uint64_t i = 0; i < (has_many ? 60 : 1); ++i) {
        builder.AddValue(0, Value::Uint(Number(row, i)));
      }
      const std::string text = IsOutlier(row) ? "" : "t" + std::to_string(row / 2);
      if (row % 3 != 2) builder.AddValue(1, Value::Bytes(text));
    }
    return FinishIndex(&builder).bytes();
  }

  // zstd may compress differently in another version.
  bool HasOtherForms() const override { return row_.is_compressed; }

  void ExpectGoldenAnswers(ByteView block, Kernel) const override {
    const TestIndex index(block);
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
    EXPECT_EQ(HashKey(answers.text()), row_.answers_hash);
  }

  bool Opens(ByteView bytes) const override { return SkipIndex::Open(bytes).ok(); }

  Status Verify(ByteView bytes) const override { return SkipIndex::Open(bytes).status(); }

  std::string ProbeAll(ByteView bytes, Kernel) const override {
    // Limits of a hostile index, for the time of the test, not for correctness.
    constexpr uint64_t kMaxGranules = 1 << 16;
    const TestIndex index(bytes);
    if (index->num_granules() > kMaxGranules) return "";
    Answers answers(index);
    answers.AddGranules(64);
    for (size_t column = 0; column < index.num_columns(); ++column) {
      const std::vector<Value> values = ProbeValues(index.info(column).type);
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
        sets.push_back(index.ContainingHash(column, hash));
        GranuleSet none = GranuleSet::None(index.num_granules());
        index.column(column).Prune({.by = internal::PruneBy::kHash, .hash = hash}, &none, nullptr);
        EXPECT_TRUE(none.IsEmpty()) << "no granule becomes a candidate";
      }
      for (const GranuleSet& set : sets) {
        answers.Add(set);
        const size_t last_bits = set.num_granules() % 64;
        EXPECT_TRUE(last_bits == 0 || set.words().back() >> last_bits == 0);
        for (size_t g = 0; g < set.num_granules(); ++g) {
          if (!set.Has(g) && index->AlwaysMatches(g)) ADD_FAILURE() << "such are never removed";
        }
      }
    }
    return answers.text();
  }

  std::optional<std::string> Reseal(ByteView bytes) const override {
    return ResealSkipIndex(bytes);
  }

  Range Fields(ByteView block) const override {
    size_t header_bytes = 0;
    EXPECT_TRUE(internal::DecodeSkipIndexHeader(block, block.size(), &header_bytes).ok());
    return {0, header_bytes - sizeof(uint32_t)};
  }

  size_t VersionAt(ByteView) const override { return 4; }

 protected:
  const IndexRow row_;

 private:
  // In ascending order.
  static std::vector<Value> ProbeValues(ValueType type) {
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

// A small index with compressed keys, bounds of texts and floats, and lists.
class SmallIndex : public WrittenIndex {
 public:
  explicit SmallIndex(bool has_keys)
      : WrittenIndex(
            {.name = has_keys ? "skip_small" : "skip_small_no_keys", .has_keys = has_keys}) {}

  std::string Make() const override {
    SkipIndexBuilder builder = MakeIndexBuilder(
        IndexOptions(3, {TypedColumn(ValueType::kBytes, 0), TypedColumn(ValueType::kFloat, 1)},
                     0.05),
        row_.has_keys);
    for (uint64_t row = 0; row < 70; ++row) {
      const std::string key = "a/common/path/of/keys/" + RowKey(row * row);
      if (row == 30) {
        builder.AddAlwaysMatchingRow(key, 10);
      } else {
        builder.AddEmptyRow(key, 10);
      }
      builder.NoteSequence(row);
      for (uint64_t i = 0; i < (row == 40 ? 30 : 1 + row % 2); ++i) {
        builder.AddValue(0, Value::Bytes("word " + RowKey(row * i)));
      }
      if (row % 9 == 2) builder.AddValue(0, Value::Bytes("~"));
      if (row % 5 != 0) builder.AddValue(1, Value::Float(static_cast<double>(row) / 3));
      if (row % 8 == 1) builder.AddValue(1, Value::Float(row % 16 == 1 ? 1e300 : std::nan("")));
    }
    return FinishIndex(&builder).bytes();
  }
};

}  // namespace

std::vector<WrittenBlockPtr> WrittenIndexes() {
  std::vector<WrittenBlockPtr> all;
  for (const IndexRow& row : IndexRows()) all.push_back(std::make_shared<WrittenIndex>(row));
  for (const bool has_keys : {true, false}) {
    all.push_back(std::make_shared<SmallIndex>(has_keys));
  }
  return all;
}

}  // namespace blocksieve::testing
