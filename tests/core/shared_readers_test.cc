// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <functional>
#include <thread>

#include "blocksieve/filter.h"
#include "blocksieve/skip_index.h"

// Threads share readers without a lock, like a block cache. Thread sanitizer detects any write to
// them. Builders, and tables that are initialized on first use, run at the same time.

namespace blocksieve {
namespace {

constexpr int kNumThreads = 4;
constexpr int kNumKeys = 2000;

std::string Key(int i) { return "key" + std::to_string(100'000 + 2 * i); }

void InThreads(const std::function<void()>& work) {
  std::vector<std::thread> threads;
  threads.reserve(kNumThreads);
  for (int i = 0; i < kNumThreads; ++i) threads.emplace_back(work);
  for (std::thread& thread : threads) thread.join();
}

OwnedBytes BuildFilter(FilterKind kind) {
  FilterBuilder builder = *FilterBuilder::Create({.kind = kind, .ranges = true});
  for (int i = 0; i < kNumKeys; ++i) builder.AddKey(Key(i));
  return std::move(builder.Finish()->block);
}

TEST(SharedReadersTest, OfFilters) {
  for (const FilterKind kind : AllFilterKinds()) {
    const OwnedBytes block = BuildFilter(kind);
    const Filter filter = Filter::Open(block.view());
    ASSERT_FALSE(filter.MayContainRange("x", "y")) << "it has a range filter";
    InThreads([&] {
      for (int i = 0; i < kNumKeys; ++i) {
        const std::string key = Key(i);
        EXPECT_TRUE(filter.MayContain(key));
        EXPECT_TRUE(filter.MayContainRange(key, key + '\0'));
      }
      const OwnedBytes again = BuildFilter(kind);
      EXPECT_EQ(AsText(again.view()), AsText(block.view()));
    });
  }
}

TEST(SharedReadersTest, OfSkipIndexes) {
  const std::vector<Column> columns = {*Column::Parse("number=int:1")};
  SkipIndexBuilder builder = *SkipIndexBuilder::Create({.columns = columns, .granule_rows = 10});
  for (int i = 0; i < kNumKeys; ++i) builder.AddRow(Key(i), std::to_string(i));
  const std::string bytes = builder.Finish()->bytes;
  const SkipIndex index = *SkipIndex::Open(AsBytes(bytes));
  InThreads([&] {
    for (int i = 0; i < kNumKeys; i += 50) {
      const Predicate is_i = *Predicate::Parse("number = " + std::to_string(i), columns);
      EXPECT_TRUE(index.Candidates(is_i).Has(static_cast<size_t>(i / 10)));
    }
  });
}

}  // namespace
}  // namespace blocksieve
