#include <algorithm>
#include <bit>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/core/skip/test_index.h"
#include "tests/fuzz/fuzz.h"
#include "tests/support/damage.h"

// Any options and any rows: the index never denies a row, and describes granules correctly.

namespace blocksieve::testing {
namespace {

constexpr size_t kMaxColumns = 3;

struct Row {
  std::string_view key;
  std::vector<std::vector<Value>> values;  // by column
  bool always_matches = false;
  std::optional<uint64_t> sequence;
};

SkipIndexOptions AnyOptions(Input* input) {
  constexpr double kFprs[] = {0.01, 0.5, 0.1, 1e-3, 1e-5, 1e-7};
  constexpr const char* kParts[] = {"", "both:", "filters:", "bounds:"};
  SkipIndexOptions options;
  options.granule_rows = input->Below(8);
  options.granule_bytes = input->Below(64);
  options.max_index_bytes = input->Flag() ? 0 : input->Number<uint16_t>();
  options.target_fpr = kFprs[input->Below(std::size(kFprs))];
  const size_t num_columns = 1 + input->Below(kMaxColumns);
  for (size_t c = 0; c < num_columns; ++c) {
    const auto type = static_cast<ValueType>(input->Below(4));
    options.columns.push_back(ColumnOf(type, c, kParts[input->Below(std::size(kParts))]));
  }
  return options;
}

Value AnyValue(ValueType type, Input* input) {
  const bool is_small = input->Flag();
  const uint64_t number = is_small ? input->Number<uint8_t>() : input->Number<uint64_t>();
  switch (type) {
    case ValueType::kInt:
      return Value::Int(static_cast<int64_t>(number));
    case ValueType::kUint:
      return Value::Uint(number);
    case ValueType::kFloat:
      return Value::Float(is_small ? static_cast<double>(number) : std::bit_cast<double>(number));
    case ValueType::kBytes:
      break;
  }
  return Value::Bytes(input->Text());
}

// Also adds the rows to the builder.
std::vector<Row> AnyRows(const SkipIndexOptions& options, Input* input, SkipIndexBuilder* builder) {
  std::vector<Row> rows;
  while (!input->empty()) {
    Row& row = rows.emplace_back();
    row.key = input->Text();
    const uint64_t row_bytes = input->Number<uint8_t>();
    const size_t marks = input->Number<uint8_t>();
    row.always_matches = marks % 16 == 1;
    if (row.always_matches) {
      builder->AddAlwaysMatchingRow(row.key, row_bytes);
    } else {
      builder->AddEmptyRow(row.key, row_bytes);
    }
    for (size_t c = 0; c < options.columns.size(); ++c) {
      std::vector<Value>& values = row.values.emplace_back();
      for (size_t count = input->Below(4); count > 0; --count) {
        values.push_back(AnyValue(options.columns[c].type(), input));
        builder->AddValue(c, values.back());
      }
    }
    if (marks % 8 < 4) {
      row.sequence = input->Number<uint32_t>();
      builder->NoteSequence(*row.sequence);
    }
    if (marks >= 224) builder->CloseGranule();
  }
  return rows;
}

class GranuleCheck {
 public:
  explicit GranuleCheck(const TestIndex& index) : index_(index) {}

  void Check(size_t granule, const std::vector<Row>& rows) {
    if (index_->has_keys()) {
      std::string first;
      std::string last;
      index_->GetKeyRange(granule, &first, &last);
      Require(first == rows.front().key && last == rows.back().key,
              "its keys are those of its rows");
    }
    bool always_matches = false;
    std::optional<uint64_t> least;
    for (const Row& row : rows) {
      always_matches |= row.always_matches;
      if (row.sequence) least = std::min(least.value_or(*row.sequence), *row.sequence);
      for (size_t c = 0; c < row.values.size(); ++c) CheckColumn(granule, c, row.values[c]);
    }
    Require(index_->AlwaysMatches(granule) == always_matches, "it always matches if it is marked");
    Require(index_->MinSequence(granule) == least.value_or(0),
            "its sequence is the minimum of its rows");
  }

 private:
  void CheckColumn(size_t granule, size_t column, const std::vector<Value>& values) {
    const auto require = [&](const GranuleSet& kept, const char* what) {
      Require(kept.Has(granule), what);
    };
    require(values.empty() ? index_.Missing(column) : index_.Present(column),
            "rows that have, or lack, a column are kept");
    std::vector<Value> sorted = values;
    std::sort(sorted.begin(), sorted.end(),
              [](const Value& a, const Value& b) { return a.Compare(b) < 0; });
    sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
    for (const Value& value : values) {
      require(index_.Containing(column, value), "a value is found");
      require(index_.ContainingAny(column, sorted), "a value is found among others");
      for (const ValueRange& range :
           {ValueRange{value, value}, ValueRange{value, {}}, ValueRange{{}, value}}) {
        require(index_.Overlapping(column, range), "a value is in ranges that have it");
      }
      for (const Value& other : values) {
        if (other == value) continue;
        require(index_.Differing(column, other), "a value differs from others");
      }
    }
  }

  const TestIndex& index_;
};

void CheckIndex(const TestIndex& index, const std::vector<Row>& rows) {
  GranuleCheck check(index);
  auto row = rows.begin();
  for (size_t g = 0; g < index.num_granules(); ++g) {
    const auto num_rows = static_cast<ptrdiff_t>(index->NumRows(g));
    Require(num_rows > 0 && num_rows <= rows.end() - row, "granules divide the rows");
    check.Check(g, {row, row + num_rows});
    row += num_rows;
  }
  Require(row == rows.end(), "all rows are in granules");
}

}  // namespace

void TestOneInput(ByteView bytes) {
  Input input(bytes);
  const bool has_keys = input.Flag();
  const SkipIndexOptions options = AnyOptions(&input);
  Result<SkipIndexBuilder> builder = SkipIndexBuilder::Create(options, has_keys);
  Require(builder.ok(), "valid options make a builder");
  const std::vector<Row> rows = AnyRows(options, &input, &*builder);
  const Result<FinishedSkipIndex> made = builder->Finish();
  if (!made.ok()) {
    Require(options.max_index_bytes != 0, "without a limit an index is made");
    return;
  }
  Require(options.max_index_bytes == 0 || made->bytes.size() <= options.max_index_bytes,
          "the limit is kept");
  const std::vector<uint8_t> copy = ExactCopy(AsBytes(made->bytes));
  CheckIndex(TestIndex(copy), rows);
}

}  // namespace blocksieve::testing
