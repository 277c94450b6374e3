#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <ostream>
#include <string>
#include <vector>

#include "blocksieve/hash.h"
#include "tests/core/granule/granule_test_index.h"
#include "tests/support/environment.h"

// The byte format is a promise (lib/FORMAT.md), kept as in golden_test.cc: today's
// builder makes these bytes, today's reader gives their answers. zstd may compress differently in
// another version, so of files with compressed parts only the answers are compared.

namespace blocksieve::testing {
namespace {

struct GoldenIndex {
  std::string name;
  uint64_t granule_rows;
  uint64_t num_rows;
  bool is_compressed;
  uint64_t file_hash;     // HashKey of the file's bytes
  uint64_t answers_hash;  // HashKey of all answers' words
};

void PrintTo(const GoldenIndex& golden, std::ostream* out) { *out << golden.name; }

const std::vector<GoldenIndex>& GoldenIndexes() {
  static const std::vector<GoldenIndex> indexes{
      {"granule_empty", 2, 0, false, 0x7828de0f0c9b5ce2, 0x2d06800538d394c2},
      {"granule_5_rows", 2, 5, false, 0xa78ca5c38caa681c, 0x88110df0be25924d},
      {"granule_skewed", 4, 1'500, false, 0xd6c09521a2aa56a9, 0x8b1e840a500d8b75},
      {"granule_many", 1, 700, false, 0xd0bf8192009a5d28, 0xe156cacdc24d6be4},
      {"granule_paths", 16, 2'000, true, 0xb5540410587fd318, 0x3d130b323ba9e8a0},
  };
  return indexes;
}

std::string PathOf(const GoldenIndex& golden) {
  return std::string(BLOCKSIEVE_GOLDEN_DIR) + "/" + golden.name + ".index";
}

/// Keys that do not compress, and 1 value per row; of the skewed one 60 in some rows.
std::string KeyOf(const GoldenIndex& golden, uint64_t row) {
  if (golden.is_compressed) return "/usr/share/doc/package/file-" + RowKey(row) + ".txt";
  if (golden.num_rows < 10) return std::string("k").append(std::to_string(row));
  uint64_t state = row + 1;
  std::string key;
  for (int i = 0; i < 8; ++i) key.push_back(static_cast<char>((state *= 0xd1342543de82ef95) >> 56));
  return key;
}

uint64_t ValuesOf(const GoldenIndex& golden, uint64_t row) {
  return golden.name == "granule_skewed" && row % 333 == 0 ? 60 : 1;
}

std::string Build(const GoldenIndex& golden) {
  GranuleIndexOptions options = IndexOptions(
      golden.granule_rows, {Column(ValueType::kUint, 0.1), Column(ValueType::kBytes, 0.01)});
  options.columns[0].name = "number";
  options.columns[1].name = "text";
  GranuleIndexBuilder builder = MakeIndexBuilder(options);
  for (uint64_t row = 0; row < golden.num_rows; ++row) {
    builder.StartRow(KeyOf(golden, row), 1);
    builder.NoteSequence(1'000 + row);
    if (row % 400 == 399) builder.MarkAlwaysMatch();
    for (uint64_t i = 0; i < ValuesOf(golden, row); ++i) builder.AddValue(0, Value::Uint(row + i));
    if (row % 3 != 2)
      builder.AddValue(1, Value::Bytes(std::string("t").append(std::to_string(row / 2))));
  }
  const Result<std::string> bytes = builder.Finish();
  EXPECT_TRUE(bytes.ok());
  return *bytes;
}

std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file.is_open()) << path;
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

/// Everything that the index says, the wrong answers included.
uint64_t HashOfAnswers(const TestIndex& index) {
  std::string answers;
  const auto add = [&](uint64_t word) { answers += std::to_string(word) + " "; };
  const auto add_set = [&](const GranuleSet& set) {
    for (const uint64_t word : set.words()) add(word);
  };
  for (size_t g = 0; g < index.num_granules(); ++g) {
    std::string first;
    std::string last;
    index->GetKeyRange(g, &first, &last);
    answers += first + "|" + last + "|";
    add(index->NumRows(g));
    add(index->MinSequence(g));
    add(index->AlwaysMatches(g));
  }
  for (uint64_t i = 0; i < 1'000; ++i) {
    const Value number = Value::Uint(2 * i);
    const std::string text = std::string("t").append(std::to_string(i));
    add_set(index.Containing(0, number));
    add_set(index.Overlapping(0, {number, std::nullopt}));
    add_set(index.Differing(0, number));
    add_set(index.Containing(1, Value::Bytes(text)));
    add_set(index.Overlapping(1, {std::nullopt, Value::Bytes(text)}));
    add_set(index.Differing(1, Value::Bytes(text)));
  }
  for (const size_t column : {0, 1}) {
    add_set(index.Missing(column));
    add_set(index.Present(column));
  }
  return HashKey(answers);
}

class GoldenGranules : public ::testing::TestWithParam<GoldenIndex> {};

INSTANTIATE_TEST_SUITE_P(Files, GoldenGranules, ::testing::ValuesIn(GoldenIndexes()),
                         [](const auto& info) { return info.param.name; });

TEST_P(GoldenGranules, BuilderMakesTheseBytes) {
  const std::string built = Build(GetParam());
  if (testing::WritesGoldenFiles()) {
    std::ofstream(PathOf(GetParam()), std::ios::binary) << built;
  }
  const std::string expected = ReadFile(PathOf(GetParam()));
  EXPECT_EQ(HashKey(expected), GetParam().file_hash) << "the file itself has changed";
  if (GetParam().is_compressed) {
    EXPECT_EQ(HashOfAnswers(TestIndex(built)), GetParam().answers_hash);
  } else {
    EXPECT_TRUE(built == expected);
  }
}

TEST_P(GoldenGranules, ReaderGivesTheseAnswers) {
  EXPECT_EQ(HashOfAnswers(TestIndex(ReadFile(PathOf(GetParam())))), GetParam().answers_hash);
}

}  // namespace
}  // namespace blocksieve::testing
