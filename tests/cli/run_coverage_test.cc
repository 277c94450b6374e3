#include "integration/cli/advise/run_coverage.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>

namespace blocksieve::cli {
namespace {

// Keys are one letter each, and those of a file lie evenly from its first to its last.
FileReport File(int level, char smallest, char largest, uint64_t keys, KeyLess less) {
  FileReport file;
  file.place.level = level;
  file.place.keys = LookupRange{std::string(1, smallest), std::string(1, largest), std::move(less)};
  file.num_entries = keys;
  return file;
}

FileReport File(int level, char smallest, char largest, uint64_t keys) {
  return File(level, smallest, largest, keys, std::less<>());
}

double ShareOfLetters(const FileReport& file, std::string_view key) {
  const LookupRange& keys = *file.place.keys;
  return static_cast<double>(key[0] - keys.smallest[0]) /
         static_cast<double>(keys.largest[0] - keys.smallest[0]);
}

class RunCoverageTest : public ::testing::Test {
 protected:
  RunCoverage Cover(std::vector<FileReport> files) {
    files_ = std::move(files);
    lists_ = SortIntoRuns(files_);
    return CoverageOf(lists_[0].runs, ShareOfLetters);
  }

  std::vector<double> Shares(std::vector<FileReport> files) {
    const RunCoverage coverage = Cover(std::move(files));
    return SharesOf(coverage, lists_[0].runs.size());
  }

  std::vector<FileReport> files_;
  std::vector<RunList> lists_;
};

void ExpectNear(const std::vector<double>& shares, const std::vector<double>& expected) {
  ASSERT_EQ(shares.size(), expected.size());
  for (size_t i = 0; i < shares.size(); ++i) EXPECT_NEAR(shares[i], expected[i], 1e-9) << i;
}

TEST_F(RunCoverageTest, RunsOfTheSameRangeAreAskedByAll) {
  ExpectNear(Shares({File(0, 'a', 'k', 10), File(1, 'a', 'k', 100)}), {1, 1});
}

TEST_F(RunCoverageTest, OverwrittenKeysAreCountedOnce) {
  ExpectNear(Shares({File(0, 'a', 'b', 100), File(1, 'a', 'k', 1000)}), {0.1, 1});
}

TEST_F(RunCoverageTest, KeysThatOnlyASmallRunHasAreItsOwn) {
  ExpectNear(Shares({File(0, 'k', 'm', 200), File(1, 'a', 'k', 800)}), {0.2, 0.8});
}

TEST_F(RunCoverageTest, NoRunIsAskedForKeysBetweenItsFiles) {
  ExpectNear(Shares({File(1, 'a', 'b', 10), File(1, 'j', 'k', 10), File(2, 'a', 'k', 1000)}),
             {0.2, 1});
}

// A run may span keys of others with hardly any of its own.
TEST_F(RunCoverageTest, LookupsAreWhereTheKeysAre) {
  files_ = {File(0, 'c', 'd', 100), File(1, 'a', 'z', 100)};
  lists_ = SortIntoRuns(files_);
  const RunCoverage coverage =
      CoverageOf(lists_[0].runs, [](const FileReport&, std::string_view) { return 0.9; });
  ExpectNear(SharesOf(coverage, 2), {100.0 / 200, 1});
}

TEST_F(RunCoverageTest, HeedsTheOrderOfKeys) {
  ExpectNear(
      Shares({File(0, 'k', 'j', 100, std::greater<>()), File(1, 'k', 'a', 1000, std::greater<>())}),
      {0.1, 1});
}

TEST_F(RunCoverageTest, IsWholeWhereARangeIsNotKnown) {
  FileReport unknown = File(0, 'a', 'b', 100);
  unknown.place.keys.reset();
  ExpectNear(Shares({unknown, File(1, 'a', 'k', 1000)}), {1, 1});
}

TEST_F(RunCoverageTest, IsWholeWhereAllFilesHaveOneKey) {
  ExpectNear(Shares({File(0, 'a', 'a', 1), File(1, 'k', 'k', 1)}), {1, 1});
}

// Reading a block for each would take long where level 0 has many files.
TEST_F(RunCoverageTest, AsksLittleOfBoundsThatLieTogether) {
  constexpr int kNeighbours = 100;
  FileReport large = File(1, 'a', 'k', 1'000'000);
  files_.clear();
  for (int i = 0; i < kNeighbours; ++i) {
    FileReport& small = files_.emplace_back(File(0, 'a', 'k', 1000));
    small.place.keys->smallest += std::to_string(100 + i);
    small.place.keys->largest = "j" + std::to_string(100 + i);
  }
  files_.push_back(large);
  lists_ = SortIntoRuns(files_);
  int asked = 0;
  const auto coverage =
      CoverageOf(lists_[0].runs, [&](const FileReport& file, std::string_view key) {
        asked += file.place.level == 1;
        return ShareOfLetters(file, key);
      });
  EXPECT_LT(asked, kNeighbours / 2);
  EXPECT_NEAR(SharesOf(coverage, lists_[0].runs.size()).front(), 0.9, 0.01);
}

TEST_F(RunCoverageTest, WastedReadsOfAbsentKeysAreWeighted) {
  const RunCoverage coverage = Cover({File(0, 'a', 'b', 100), File(1, 'a', 'k', 1000)});
  EXPECT_NEAR(WastedReads(coverage, {0.5, 0.01}, 1), 0.1 * 0.5 + 0.01, 1e-9);
}

// Only keys of the older run that lie in the range of the newer one pay for that.
TEST_F(RunCoverageTest, WastedReadsOfPresentKeysAreWeighted) {
  const RunCoverage coverage = Cover({File(0, 'a', 'b', 100), File(1, 'a', 'k', 1000)});
  EXPECT_NEAR(WastedReads(coverage, {0.5, 0.01}, 0), 100.0 / 1100 * 0.5, 1e-9);
}

TEST_F(RunCoverageTest, WastedReadsOfDisjointRunsAreTheirMean) {
  const RunCoverage coverage = Cover({File(0, 'k', 'm', 200), File(1, 'a', 'k', 800)});
  EXPECT_NEAR(WastedReads(coverage, {0.5, 0.01}, 1), 0.2 * 0.5 + 0.8 * 0.01, 1e-9);
  EXPECT_EQ(WastedReads(coverage, {0.5, 0.01}, 0), 0);
}

class WholeCoverageTest : public ::testing::Test {
 protected:
  RunCoverage Cover(const std::vector<uint64_t>& keys) {
    files_.clear();
    for (size_t i = 0; i < keys.size(); ++i) {
      FileReport& file = files_.emplace_back();
      file.place.level = static_cast<int>(i);
      file.num_entries = keys[i];
    }
    return WholeCoverage(SortIntoRuns(files_)[0].runs);
  }

  std::vector<FileReport> files_;
};

TEST_F(WholeCoverageTest, WastedReadsOfAbsentKeysAreTheSum) {
  EXPECT_DOUBLE_EQ(WastedReads(Cover({10, 30, 60}), {0.1, 0.2, 0.4}, 1), 0.7);
  EXPECT_DOUBLE_EQ(WastedReads(Cover({10, 30, 60}), {1, 1, 1}, 1), 3);
}

TEST_F(WholeCoverageTest, WastedReadsOfPresentKeysAreInNewerRuns) {
  const RunCoverage coverage = Cover({10, 30, 60});
  // 10 % of the keys pay nothing, 30 % the first run, 60 % the first two.
  EXPECT_DOUBLE_EQ(WastedReads(coverage, {0.1, 0.2, 0.4}, 0), 0.3 * 0.1 + 0.6 * 0.3);
  EXPECT_DOUBLE_EQ(WastedReads(coverage, {0.1, 0.2, 0.4}, 0.25),
                   0.25 * 0.7 + 0.75 * (0.3 * 0.1 + 0.6 * 0.3));
}

TEST_F(WholeCoverageTest, WithoutKeysThereAreNoWastedReads) {
  EXPECT_EQ(WastedReads(WholeCoverage({}), {}, 0.5), 0);
  EXPECT_EQ(WastedReads(Cover({0}), {1}, 1), 0);
}

}  // namespace
}  // namespace blocksieve::cli
