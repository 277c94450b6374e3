#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "blocksieve/granule_index.h"
#include "blocksieve/internal/kernels.h"
#include "tests/fuzz/fuzz.h"
#include "tests/support/reseal.h"

// Any bytes can be opened as a skip index, and what opens can be asked anything; all kernels
// give the same answers, and granules that always match are never removed.

namespace blocksieve::testing {
namespace {

// What is taken of a hostile index at most: time, not correctness, bounds it.
constexpr uint64_t kMostGranules = 1 << 16;
constexpr size_t kMostKeys = 100;

// A value refers to its bytes.
const std::string kLongText(100, '\xff');

// Ascending.
std::vector<Value> ValuesOf(ValueType type) {
  switch (type) {
    case ValueType::kInt:
      return {Value::Int(-5), Value::Int(0), Value::Int(INT64_MAX)};
    case ValueType::kUint:
      return {Value::Uint(0), Value::Uint(3), Value::Uint(UINT64_MAX)};
    case ValueType::kFloat:
      return {Value::Float(-0.0), Value::Float(1.5), Value::Float(1e300)};
    case ValueType::kBytes:
      break;
  }
  return {Value::Bytes(""), Value::Bytes("t1"), Value::Bytes(kLongText)};
}

std::vector<GranuleSet> AskColumn(const GranuleIndex& index, size_t column) {
  const GranuleSet all = GranuleSet::All(static_cast<size_t>(index.num_granules()));
  const ColumnIndex& asked = index.column_index(column);
  const std::vector<Value> values = ValuesOf(index.column(column).type);
  std::vector<GranuleSet> answers;
  const auto ask = [&](const auto& keep) {
    answers.push_back(all);
    keep(&answers.back());
  };
  for (const Value& value : values) {
    ask([&](GranuleSet* set) { asked.KeepContaining(value.Hash(), set); });
    ask([&](GranuleSet* set) { asked.KeepDiffering(value, set); });
    ask([&](GranuleSet* set) { asked.KeepOverlapping({value, std::nullopt}, set); });
    ask([&](GranuleSet* set) { asked.KeepOverlapping({std::nullopt, value, true, false}, set); });
  }
  ask([&](GranuleSet* set) { asked.KeepContainingAny(values, set); });
  ask([&](GranuleSet* set) { asked.KeepMissing(set); });
  ask([&](GranuleSet* set) { asked.KeepPresent(set); });
  return answers;
}

void CheckAlways(const GranuleIndex& index, const std::vector<GranuleSet>& answers) {
  for (size_t g = 0; g < index.num_granules(); ++g) {
    if (!index.AlwaysMatches(g)) continue;
    for (const GranuleSet& answer : answers) {
      Require(answer.Has(g), "granules that always match are never removed");
    }
  }
}

void AskGranules(const GranuleIndex& index) {
  std::string first;
  std::string last;
  for (size_t g = 0; g < index.num_granules() && g < kMostKeys; ++g) {
    index.GetKeyRange(g, &first, &last);
    index.NumRows(g);
    index.MinSequence(g);
  }
}

void Ask(ByteView bytes) {
  std::vector<std::vector<GranuleSet>> expected;
  for (const Kernel kernel : internal::AvailableKernels()) {
    const Result<GranuleIndex> index = GranuleIndex::Open(bytes, kernel);
    if (!index.ok() || index->num_granules() > kMostGranules) return;
    AskGranules(*index);
    std::vector<std::vector<GranuleSet>> answers;
    for (size_t c = 0; c < index->num_columns(); ++c) {
      answers.push_back(AskColumn(*index, c));
      CheckAlways(*index, answers.back());
    }
    if (expected.empty()) expected = answers;
    Require(answers == expected, "all kernels give the same answers");
  }
}

}  // namespace
}  // namespace blocksieve::testing

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace blocksieve::testing;
  Ask(ExactCopy({data, size}));
  if (const auto sealed = ResealGranuleIndex({data, size})) {
    Ask(ExactCopy(blocksieve::AsBytes(*sealed)));
  }
  return 0;
}
