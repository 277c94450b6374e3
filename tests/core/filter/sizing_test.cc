// SPDX-License-Identifier: Apache-2.0
#include "blocksieve/sizing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "blocksieve/bloom.h"
#include "lib/bloom/blocked_bloom.h"
#include "lib/classic/container.h"

namespace blocksieve {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// All rows of a table, smallest first, from the public functions.
std::vector<Layout> Rows(FilterKind kind) {
  std::vector<Layout> rows{*LayoutForBitsPerKey(kind, kInfinity)};
  for (;;) {
    const Result<Layout> smaller = LayoutForBitsPerKey(kind, rows.back().bits_per_key - 1.0 / 16);
    if (!smaller.ok()) break;
    rows.push_back(*smaller);
  }
  std::reverse(rows.begin(), rows.end());
  return rows;
}

bool SameRow(const Layout& a, const Layout& b) {
  return a.kind == b.kind && a.bits_per_key == b.bits_per_key && a.num_probes == b.num_probes &&
         a.predicted_fpr == b.predicted_fpr;
}

class SizingTableTest : public ::testing::TestWithParam<FilterKind> {};
INSTANTIATE_TEST_SUITE_P(Kinds, SizingTableTest, ::testing::ValuesIn(AllFilterKinds()),
                         [](const auto& info) { return std::string(FilterKindName(info.param)); });

TEST_P(SizingTableTest, IsWhatTheModelGives) {
  if (GetParam() != FilterKind::kBlockedBloom) GTEST_SKIP() << "has a formula instead of a table";
  const std::vector<Layout> rows = Rows(GetParam());
  // A row every 1/16 bit, from the first useful one to the first that is accurate enough.
  const double before = rows.front().bits_per_key - 1.0 / 16;
  EXPECT_GT(internal::BestLayout(before).predicted_fpr, kMaxTargetFpr * (1 - 1e-5));
  EXPECT_LE(rows.front().predicted_fpr, kMaxTargetFpr);
  EXPECT_LE(rows.back().predicted_fpr, kMinTargetFpr);
  EXPECT_GT(rows[rows.size() - 2].predicted_fpr, kMinTargetFpr);
  for (size_t i = 0; i < rows.size(); ++i) {
    ASSERT_EQ(rows[i].bits_per_key, rows.front().bits_per_key + static_cast<double>(i) / 16);
    const Layout model = internal::BestLayout(rows[i].bits_per_key);
    ASSERT_EQ(rows[i].num_probes, model.num_probes);
    ASSERT_GE(rows[i].predicted_fpr, model.predicted_fpr);
    ASSERT_LE(rows[i].predicted_fpr, model.predicted_fpr * (1 + 1.1e-5));
    ASSERT_TRUE(i == 0 || rows[i].predicted_fpr < rows[i - 1].predicted_fpr);
  }
}

/// Targets: log-spaced, and exactly at, just below and just above every row.
std::vector<double> Targets(const std::vector<Layout>& rows) {
  const double log_range = std::log(kMaxTargetFpr / kMinTargetFpr);
  std::vector<double> targets{kMinTargetFpr, kMaxTargetFpr};
  constexpr int kSpaced = 10'000;
  for (int i = 1; i < kSpaced; ++i) {
    targets.push_back(kMinTargetFpr * std::exp(log_range * i / kSpaced));
  }
  for (const Layout& row : rows) {
    targets.push_back(row.predicted_fpr);
    targets.push_back(std::nextafter(row.predicted_fpr, 0.0));
    targets.push_back(std::nextafter(row.predicted_fpr, 1.0));
  }
  std::erase_if(targets, [](double t) { return t < kMinTargetFpr || t > kMaxTargetFpr; });
  std::sort(targets.begin(), targets.end());
  return targets;
}

TEST_P(SizingTableTest, TargetsAreMetByTheSmallestRow) {
  const std::vector<Layout> rows = Rows(GetParam());
  size_t row = rows.size() - 1;  // the smallest row that meets the target; targets ascend
  for (const double target_fpr : Targets(rows)) {
    while (row > 0 && rows[row - 1].predicted_fpr <= target_fpr) --row;
    const Result<Layout> layout = ChooseLayout(GetParam(), target_fpr);
    ASSERT_TRUE(layout.ok()) << target_fpr;
    ASSERT_TRUE(SameRow(*layout, rows[row])) << target_fpr << ": " << layout->bits_per_key;
    ASSERT_LE(layout->predicted_fpr, target_fpr);
  }
  EXPECT_EQ(row, 0u);
}

TEST_P(SizingTableTest, LayoutForBitsPerKeyIsTheLargestRowThatFits) {
  const std::vector<Layout> rows = Rows(GetParam());
  for (const Layout& row : rows) {
    EXPECT_TRUE(SameRow(*LayoutForBitsPerKey(GetParam(), row.bits_per_key), row));
    EXPECT_TRUE(SameRow(*LayoutForBitsPerKey(GetParam(), row.bits_per_key + 0.062), row));
    if (row.predicted_fpr < kMinTargetFpr) continue;  // no target needs it
    EXPECT_TRUE(SameRow(*ChooseLayout(GetParam(), row.predicted_fpr), row));
  }
  EXPECT_TRUE(SameRow(*LayoutForBitsPerKey(GetParam(), 1e300), rows.back()));
  for (const double too_few : {rows.front().bits_per_key - 1e-9, 0.0, -1.0, -kInfinity, kNan}) {
    EXPECT_FALSE(LayoutForBitsPerKey(GetParam(), too_few).ok()) << too_few;
  }
  EXPECT_EQ(LayoutForBitsPerKey(GetParam(), 0.5).status().message(),
            "bits_per_key is 0.5; allowed: " +
                std::string(GetParam() == FilterKind::kRibbon ? "1" : "1.5") + " to inf");
}

// The most keys that fit: the FPR grows with their number. Few lines are the hardest, above all
// with one and two probes, where their FPR is above the limit for many.
TEST(SizingTest, BlockedFiltersOfAnyNumberOfLinesMeetTheTarget) {
  for (const Layout& row : Rows(FilterKind::kBlockedBloom)) {
    if (row.predicted_fpr < 0.1 && std::fmod(row.bits_per_key, 4) != 0) continue;
    for (uint64_t num_lines = 1; num_lines < 1'000'000; num_lines += 1 + num_lines / 64) {
      const uint64_t num_keys = MaxKeys(row, 64 * num_lines);
      ASSERT_LE(internal::BlockedBloomFprForKeys(num_lines, num_keys, row.num_probes),
                row.predicted_fpr)
          << num_keys << " keys, " << row.bits_per_key << " bits per key";
    }
  }
}

TEST(PayloadBytesTest, SaturatesInsteadOfOverflowing) {
  constexpr uint64_t kMax = std::numeric_limits<uint64_t>::max();
  const Layout layout{FilterKind::kBlockedBloom, 39, 16, 0};
  EXPECT_EQ(PayloadBytes(layout, kMax), kMax);
  EXPECT_EQ(PayloadBytes(layout, uint64_t{1} << 62), kMax);
  EXPECT_LT(PayloadBytes(layout, uint64_t{1} << 60), kMax);
  for (const double bits_per_key : {0.0, -1.0, 1e-300, kNan, kInfinity, 1e300}) {
    // Any answer, but no undefined behaviour.
    const Layout nonsense{FilterKind::kBlockedBloom, bits_per_key, 1, 0};
    EXPECT_GE(PayloadBytes(nonsense, kMax), PayloadBytes(nonsense, 1));
    EXPECT_GE(MaxKeys(nonsense, kMax), MaxKeys(nonsense, 1));
  }
}

TEST_P(SizingTableTest, MaxKeysIsTheInverseOfPayloadBytes) {
  std::mt19937_64 random(20240505);
  std::vector<uint64_t> numbers{0, 1, 2, 7, 8, 63, 64, 65, 511, 512, 513, 8191, 8192, 8193};
  for (int bit = 14; bit <= 60; ++bit) {
    const uint64_t power = uint64_t{1} << bit;
    numbers.insert(numbers.end(), {power - 64, power - 1, power, power + 1, power + 64,
                                   random() % power, random() % power});
  }
  for (const Layout& row : Rows(GetParam())) {
    for (const uint64_t number : numbers) {
      const uint64_t max_keys = MaxKeys(row, number);
      ASSERT_LE(PayloadBytes(row, max_keys), number) << row.bits_per_key;
      ASSERT_GT(PayloadBytes(row, max_keys + 1), number) << row.bits_per_key;
      if (number >> 28 != 0 && number >> 36 == 0) {
        // The wrap-around of 32-bit arithmetic. A few percent of a ribbon are not its columns.
        const double exact = static_cast<double>(number) * 8 / row.bits_per_key;
        ASSERT_NEAR(static_cast<double>(max_keys) / exact, 1,
                    GetParam() == FilterKind::kRibbon ? 0.05 : 1e-6);
      }

      const uint64_t bytes = PayloadBytes(row, number);
      ASSERT_GE(MaxKeys(row, bytes), number) << row.bits_per_key;
      ASSERT_TRUE(bytes == 0 || MaxKeys(row, bytes - 1) < number) << row.bits_per_key;
      ASSERT_LE(static_cast<double>(number) * row.bits_per_key,
                8.0 * static_cast<double>(bytes) * (1 + 1e-15));
    }
  }
}

// The models against published values, and against other ways to compute them. FilterConformance
// measures filters of every kind.

using internal::BlockedBloomFprForKeys;
using internal::BloomFprForKeys;
using internal::ClassicBloomFpr;

void ExpectRatio(double actual, double expected, double tolerance) {
  EXPECT_NEAR(actual / expected, 1, tolerance) << actual << " for " << expected;
}

TEST(BloomModelTest, KnownRatesOfBothKinds) {
  struct Known {
    double bits_per_key;
    uint32_t classic_probes;  // the best k
    double classic;
    double blocked;
    uint32_t blocked_probes;
  };
  for (const auto& [bits_per_key, classic_probes, classic, blocked, blocked_probes] :
       {Known{5, 3, 9.19e-2, 9.31e-2, 3}, Known{8, 6, 2.16e-2, 2.33e-2, 5},
        Known{10, 7, 8.19e-3, 9.67e-3, 6}, Known{12, 8, 3.14e-3, 4.14e-3, 8},
        Known{16, 11, 4.59e-4, 8.44e-4, 9}, Known{20, 14, 6.71e-5, 1.98e-4, 11}}) {
    ExpectRatio(ClassicBloomFpr(bits_per_key, classic_probes), classic, 0.002);
    EXPECT_EQ(BloomLayout::ForKeys(1, classic)->num_probes, classic_probes);
    const Layout best = internal::BestLayout(bits_per_key);
    ExpectRatio(best.predicted_fpr, blocked, 0.002);
    EXPECT_EQ(best.num_probes, blocked_probes);
  }
}

TEST(BloomModelTest, ExtremeSizes) {
  EXPECT_EQ(ClassicBloomFpr(1e-6, 1), 1);
  EXPECT_NEAR(BlockedBloomFpr(1e-6, 1), 1, 1e-9);
  EXPECT_NEAR(BlockedBloomFpr(0.01, 32), 1, 1e-9);
  EXPECT_NEAR(BlockedBloomFpr(1e12, 1) / 1e-12, 1, 1e-9);
  EXPECT_EQ(BlockedBloomFpr(std::numeric_limits<double>::infinity(), 6), 0);
  EXPECT_EQ(BloomFprForKeys(512, 0, 6), 0);
  EXPECT_EQ(BlockedBloomFprForKeys(7, 0, 6), 0);
  EXPECT_EQ(BloomFprForKeys(1, 1, 6), 1);
}

}  // namespace
}  // namespace blocksieve
