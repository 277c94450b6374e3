#include "bench/support/measure.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <stdexcept>
#include <vector>

#include "bench/support/terminal.h"

namespace blocksieve::bench {
namespace {

TEST(MedianTest, OfOddAndEvenCounts) {
  EXPECT_EQ(Median({3}), 3);
  EXPECT_EQ(Median({9, 1, 2}), 2);
  EXPECT_EQ(Median({4, 1, 2, 100}), 3);
}

TEST(TakeTurnsTest, EveryContestantIsMeasuredInEveryTurn) {
  std::vector<int> order;
  const auto contestant = [&](int number) {
    return [&order, number] {
      order.push_back(number);
      return static_cast<double>(number);
    };
  };
  const auto turns = TakeTurns(0, {contestant(1), contestant(2)});
  ASSERT_EQ(turns.size(), 2U);
  EXPECT_EQ(turns[0], std::vector<double>(kTurns, 1));
  EXPECT_EQ(turns[1], std::vector<double>(kTurns, 2));
  ASSERT_EQ(order.size(), 2 * kTurns);  // no seconds: as often as must be
  for (size_t i = 0; i < order.size(); ++i) EXPECT_EQ(order[i], i % 2 == 0 ? 1 : 2);
}

TEST(TakeTurnsTest, TurnsAreMediansOfAsManyResultsAsThereIsTimeFor) {
  uint64_t calls = 0;
  const auto turns = TakeTurns(0.01, {[&] { return ++calls % 4 == 0 ? 1e9 : 1.0; }});
  EXPECT_GT(calls, kTurns);
  EXPECT_EQ(turns[0].back(), 1);
}

TEST(OwnProcessTest, GivesBackTheResultAndFailsWithTheWork) {
  EXPECT_EQ(InOwnProcess("work", [] { return 42; }), 42);
  EXPECT_THROW(InOwnProcess("work", []() -> int { throw std::runtime_error("no"); }), Failure);
}

TEST(OwnProcessTest, MemoryOfTheChildIsItsOwn) {
  const uint64_t grown = InOwnProcess("work", [] {
    const uint64_t before = ResidentBytes();
    const std::vector<char> memory(64 << 20, 'x');
    const volatile char& last = memory.back();  // or it could be left out
    return PeakResidentBytes() - before + (last == 'y' ? 1 : 0);
  });
  EXPECT_GE(grown, uint64_t{64} << 20);
  EXPECT_LT(grown, uint64_t{80} << 20);
}

}  // namespace
}  // namespace blocksieve::bench
