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
