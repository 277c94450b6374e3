#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <ostream>
#include <string>
#include <vector>

#include "blocksieve/filter_reader.h"
#include "blocksieve/hash.h"
#include "blocksieve/internal/kernels.h"
#include "tests/core/filter/test_filters.h"
#include "tests/support/environment.h"

// The byte format is a promise (lib/FORMAT.md): today's builder makes the bytes of the files in
// tests/golden, and today's reader gives their answers, the wrong ones included. Writer and reader
// are tested apart, so that both cannot change together unnoticed.
//
// A new format version gets new files; these stay, and must be readable for ever. To write the
// files of a new kind or version: BLOCKSIEVE_WRITE_GOLDEN=1 build/tests/core/core_test
// --gtest_filter='Golden.*'.

namespace blocksieve::testing {
namespace {

struct GoldenFilter {
  std::string name;
  FilterKind kind;
  double target_fpr;
  uint64_t num_keys;
  uint64_t hash_seed;
  uint64_t file_hash;                     // HashKey of the file's bytes
  std::vector<uint64_t> false_positives;  // the first absent keys that match
};

void PrintTo(const GoldenFilter& golden, std::ostream* out) { *out << golden.name; }

const std::vector<GoldenFilter>& GoldenFilters() {
  static const std::vector<GoldenFilter> filters{
      {"bloom_empty", FilterKind::kBlockedBloom, 0.01, 0, 0, 0x46daddbee350498f, {}},
      {"bloom_3_keys", FilterKind::kBlockedBloom, 0.01, 3, 0, 0x83155100eb75530c, {}},
      {"bloom_1000_keys",
       FilterKind::kBlockedBloom,
       0.01,
       1000,
       0,
       0xcc68016ba44b32fc,
       {180, 188, 196, 368, 623}},
      {"bloom_seeded",
       FilterKind::kBlockedBloom,
       0.3,
       1000,
       42,
       0x17d255ae4de02537,
       {4, 18, 21, 27, 30}},
      {"bloom_1e-6", FilterKind::kBlockedBloom, 1e-6, 1000, 0, 0x105e525ca5200ff2, {}},
      // Large enough for unused bytes before the first line.
      {"bloom_700000_keys",
       FilterKind::kBlockedBloom,
       0.5,
       700'000,
       0,
       0x0b9486432841a399,
       {2, 5, 6, 7, 8}},
      {"ribbon_empty", FilterKind::kRibbon, 0.01, 0, 0, 0x1d434c7fe3dfcbbe, {}},
      {"ribbon_3_keys",
       FilterKind::kRibbon,
       0.01,
       3,
       0,
       0x58324e109d544a5f,
       {193, 218, 532, 675, 1096}},
      {"ribbon_1000_keys",
       FilterKind::kRibbon,
       0.01,
       1000,
       0,
       0xab819211303f6f96,
       {2, 56, 460, 465, 568}},
      {"ribbon_seeded", FilterKind::kRibbon, 0.3, 1000, 42, 0x72532e4008bbfc91, {0, 4, 12, 15, 16}},
      {"ribbon_1e-7", FilterKind::kRibbon, 1e-7, 1000, 0, 0x55870c72ef57cca1, {}},
      // Several chunks; and so many that their directory has bases, after unused bytes.
      {"ribbon_10000_keys",
       FilterKind::kRibbon,
       0.01,
       10'000,
       0,
       0x8bab28b8a8103f90,
       {54, 149, 184, 200, 237}},
      {"ribbon_1100000_keys",
       FilterKind::kRibbon,
       0.5,
       1'100'000,
       0,
       0x7664aa6157ffa627,
       {2, 3, 6, 10, 11}},
  };
  return filters;
}

constexpr size_t kListedFalsePositives = 5;
constexpr uint64_t kProbes = 20'000;

std::string PathOf(const GoldenFilter& golden) {
  return std::string(BLOCKSIEVE_GOLDEN_DIR) + "/" + golden.name + ".filter";
}

std::string Build(const GoldenFilter& golden) {
  FilterOptions options;
  options.kind = golden.kind;
  options.target_fpr = golden.target_fpr;
  options.hash_seed = golden.hash_seed;
  FilterBuilder builder = MakeBuilder(options);
  for (uint64_t i = 0; i < golden.num_keys; ++i) builder.AddKey(PresentKey(i));
  return Copy(FinishOk(builder));
}

std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file.is_open()) << path;
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::vector<uint64_t> FirstFalsePositives(const FilterReader& reader) {
  std::vector<uint64_t> found;
  for (uint64_t i = 0; i < kProbes && found.size() < kListedFalsePositives; ++i) {
    if (reader.MayMatch(AbsentKey(i))) found.push_back(i);
  }
  return found;
}

class Golden : public ::testing::TestWithParam<GoldenFilter> {};

INSTANTIATE_TEST_SUITE_P(Files, Golden, ::testing::ValuesIn(GoldenFilters()), [](const auto& info) {
  std::string name = info.param.name;
  for (char& c : name) c = std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  return name;
});

TEST_P(Golden, BuilderMakesTheseBytes) {
  if (testing::WritesGoldenFiles()) {
    std::ofstream(PathOf(GetParam()), std::ios::binary) << Build(GetParam());
  }
  const std::string expected = ReadFile(PathOf(GetParam()));
  EXPECT_EQ(HashKey(expected), GetParam().file_hash) << "the file itself has changed";
  EXPECT_TRUE(Build(GetParam()) == expected);
}

TEST_P(Golden, ReaderGivesTheseAnswers) {
  const std::string block = ReadFile(PathOf(GetParam()));
  for (const Kernel kernel : internal::AvailableKernels()) {
    const FilterReader reader = FilterReader::Open(AsBytes(block), kernel);
    ASSERT_NE(reader.state(), FilterReader::State::kUnreadable);
    EXPECT_EQ(reader.hash_seed(), GetParam().hash_seed);
    for (uint64_t i = 0; i < GetParam().num_keys; ++i) {
      ASSERT_TRUE(reader.MayMatch(PresentKey(i))) << KernelName(kernel) << " key " << i;
    }
    EXPECT_EQ(FirstFalsePositives(reader), GetParam().false_positives) << KernelName(kernel);
  }
}

}  // namespace
}  // namespace blocksieve::testing
