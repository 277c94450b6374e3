#include <algorithm>
#include <bit>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lib/base/kernels.h"
#include "lib/granule/granule_index.h"
#include "tests/core/granule/granule_test_index.h"
#include "tests/fuzz/fuzz.h"
#include "tests/support/damage.h"

// Any options and any rows: the index never denies a row, describes granules correctly, and all
// kernels give the same answers.

namespace blocksieve::testing {
namespace {

constexpr size_t kMaxColumns = 3;

struct Row {
  std::string_view key;
  std::vector<std::vector<Value>> values;  // by column
  bool always_matches = false;
  std::optional<uint64_t> sequence;
};

GranuleIndexOptions AnyOptions(Input* input) {
  constexpr double kFprs[] = {0.01, 0.5, 0.1, 1e-3, 1e-5, 1e-7};
  GranuleIndexOptions options;
  options.granule_rows = input->Below(8);
  options.granule_bytes = input->Below(64);
  options.max_index_bytes = input->Flag() ? 0 : input->Number<uint16_t>();
  options.columns.resize(1 + input->Below(kMaxColumns));
  for (GranuleColumnOptions& column : options.columns) {
    column.name = input->Text();
    column.type = static_cast<ValueType>(input->Below(4));
    column.target_fpr = kFprs[input->Below(std::size(kFprs))];
    column.with_filters = input->Below(4) != 0;
    column.with_bounds = input->Below(4) != 0;
    column.with_postings = input->Flag();
    column.max_filter_bytes = input->Below(4) != 0 ? 0 : input->Number<uint8_t>();
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
std::vector<Row> AnyRows(const GranuleIndexOptions& options, Input* input,
                         GranuleIndexBuilder* builder) {
  std::vector<Row> rows;
  while (!input->empty()) {
    Row& row = rows.emplace_back();
    row.key = input->Text();
    builder->StartRow(row.key, input->Number<uint8_t>());
    for (size_t c = 0; c < options.columns.size(); ++c) {
      std::vector<Value>& values = row.values.emplace_back();
      for (size_t count = input->Below(4); count > 0; --count) {
        values.push_back(AnyValue(options.columns[c].type, input));
        builder->AddValue(c, values.back());
      }
    }
    const size_t marks = input->Number<uint8_t>();
    row.always_matches = marks % 16 == 1;
    if (row.always_matches) builder->MarkAlwaysMatch();
    if (marks % 8 < 4) {
      row.sequence = input->Number<uint32_t>();
      builder->NoteSequence(*row.sequence);
    }
    if (marks >= 224) builder->CloseGranule();
  }
  return rows;
}

class IndexCheck {
 public:
  IndexCheck(const TestIndex& index, const std::vector<Row>& rows) : index_(index) {
    auto row = rows.begin();
    for (size_t g = 0; g < index.num_granules(); ++g) {
      const auto num_rows = static_cast<ptrdiff_t>(index->NumRows(g));
      Require(num_rows > 0 && num_rows <= rows.end() - row, "granules divide the rows");
      CheckGranule(g, {row, row + num_rows});
      row += num_rows;
    }
    Require(row == rows.end(), "all rows are in granules");
  }

  /// The result of each query, the same for all kernels.
  const std::vector<GranuleSet>& answers() const { return answers_; }

 private:
  void CheckGranule(size_t granule, const std::vector<Row>& rows) {
    std::string first;
    std::string last;
    index_->GetKeyRange(granule, &first, &last);
    Require(first == rows.front().key && last == rows.back().key, "its keys are those of its rows");
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

  void CheckColumn(size_t granule, size_t column, const std::vector<Value>& values) {
    const auto require = [&](GranuleSet kept, const char* what) {
      Require(kept.Has(granule), what);
      answers_.push_back(std::move(kept));
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
  std::vector<GranuleSet> answers_;
};

}  // namespace

void TestOneInput(ByteView bytes) {
  Input input(bytes);
  const GranuleIndexOptions options = AnyOptions(&input);
  Result<GranuleIndexBuilder> builder = GranuleIndexBuilder::Create(options);
  Require(builder.ok(), "valid options make a builder");
  const std::vector<Row> rows = AnyRows(options, &input, &*builder);
  const Result<std::string> made = builder->Finish();
  if (!made.ok()) {
    Require(options.max_index_bytes != 0, "without a limit an index is made");
    return;
  }
  Require(options.max_index_bytes == 0 || made->size() <= options.max_index_bytes,
          "the limit is kept");
  std::optional<std::vector<GranuleSet>> expected;
  for (const Kernel kernel : internal::AvailableKernels()) {
    const std::vector<uint8_t> copy = ExactCopy(AsBytes(*made));
    const TestIndex index(copy, kernel);
    const IndexCheck check(index, rows);
    if (!expected) expected = check.answers();
    Require(check.answers() == *expected, "all kernels give the same answers");
  }
}

}  // namespace blocksieve::testing
