// The input of jobs, and the keys that they look up.

#include "bench/support/inputs.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "bench/support/files.h"
#include "bench/support/rows.h"
#include "tests/bench/bench_test.h"

namespace blocksieve::bench {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

TEST(InputsTest, TsvValuesMayHoldTabsAndErrorsNameFileLineAndExpectedForm) {
  const Input input = ParseText("a\tx\ty\nb\t\n" + ManyLines(kMinRows));
  EXPECT_EQ(input.rows.value(0), "x\ty");
  EXPECT_EQ(input.rows.size(), kMinRows + 2);
  EXPECT_EQ(FailureOf([] { ParseText("a\tb\nc\n"); }),
            "test.tsv, line 2: no tab; expected: key TAB value");
  EXPECT_EQ(FailureOf([] { ParseText("\tb\n"); }),
            "test.tsv, line 1: empty key; expected: key TAB value");
  EXPECT_EQ(FailureOf([] { ParseText(ManyLines(5)); }),
            "test.tsv has 5 rows, 0.0 MB of keys and values: key TAB value, from test.tsv; "
            "allowed: 1000 to 1000000000 distinct keys");
  EXPECT_THAT(FailureOf([] { LoadInput("/no/such/file", 1); }), HasSubstr("/no/such/file"));
}

TEST(InputsTest, TheLimitTruncatesTheInputAndTheDescriptionSaysSo) {
  const uint64_t num_bytes = ParseText(ManyLines(3000)).rows.num_bytes();
  EXPECT_THAT(ParseText(ManyLines(3000), num_bytes).description, Not(HasSubstr("truncated")));
  const Input cut = ParseText(ManyLines(3000), num_bytes - 1);
  EXPECT_EQ(cut.rows.size(), 2999U);
  EXPECT_THAT(cut.description, HasSubstr("truncated"));
}

TEST(InputsTest, DpkgListsBecomePathToFirstPackage) {
  const TempDir dir(::testing::TempDir());
  std::ofstream(dir.path() / "zlib1g:amd64.list") << "/.\n/usr\n/usr/lib/libz.so\n";
  std::ofstream base(dir.path() / "base.list");
  base << "/.\n/usr\n";
  for (size_t i = 0; i < kMinRows; ++i) base << "/usr/share/" << i << '\n';
  base.close();
  std::ofstream(dir.path() / "base.md5sums") << "not a list\n";
  const Input input = LoadDpkg(dir.path());
  EXPECT_EQ(input.rows.size(), kMinRows + 3);
  for (size_t i = 0; i < input.rows.size(); ++i) {
    EXPECT_EQ(input.rows.value(i), input.rows.key(i) == "/usr/lib/libz.so" ? "zlib1g" : "base");
  }
  EXPECT_THAT(input.description, HasSubstr("2 rows with duplicate keys dropped"));
  EXPECT_THAT(FailureOf([] { LoadDpkg("/no/such/dir"); }), HasSubstr("use --input or --rows"));
}

TEST(LookupKeysTest, AbsentKeysAreAbsentAmongThePresentAndOfTheirLengths) {
  const Input input = ParseText(ManyLines(2000));
  const LookupKeys keys = DrawLookupKeys(input.rows, 5000, 1);
  ASSERT_EQ(keys.absent.size(), 5000U);
  ASSERT_EQ(keys.present.size(), 5000U);
  for (const std::string& key : keys.absent) {
    EXPECT_FALSE(input.rows.Contains(key)) << key;
    EXPECT_EQ(key.size(), 9U);
    EXPECT_THAT(key, StartsWith("key0"));
  }
  for (const uint32_t row : keys.present) EXPECT_LT(row, input.rows.size());
  Rows rows;  // with every key taken
  for (int i = 0; i < 1000; ++i) rows.Add(fmt::format("{:03}", i), "");
  rows.Seal();
  EXPECT_THAT(FailureOf([&] { DrawLookupKeys(rows, 10, 1); }), HasSubstr("too dense"));
}

}  // namespace
}  // namespace blocksieve::bench
