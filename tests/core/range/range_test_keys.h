#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstdio>
#include <random>

#include "lib/block/footer.h"
#include "lib/range/range_filter.h"
#include "tests/core/filter/test_filters.h"

// Keys, and range filters of them.

namespace blocksieve::testing {

using Random = std::mt19937_64;

/// A number formatted by printf.
inline std::string Formatted(const char* format, uint64_t number) {
  char text[128];
  std::snprintf(text, sizeof(text), format, static_cast<unsigned long long>(number));
  return text;
}

/// A number as eight bytes, most significant first.
inline std::string BigEndian(uint64_t number) { return MakeKey(KeyShape::kCounter, number); }

inline std::string HexUuid(Random* random) {
  std::string uuid = Formatted("%016llx", (*random)());  // two statements, evaluated in order
  uuid += Formatted("%016llx", (*random)());
  for (const size_t at : {8, 13, 18, 23}) uuid.insert(at, "-");
  return uuid;
}

/// The keys in ascending order, without duplicates.
inline std::vector<std::string> SortedDistinct(std::vector<std::string> keys) {
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  return keys;
}

/// `count` random numbers, as eight bytes.
inline std::vector<std::string> RandomInts(size_t count, uint64_t seed) {
  Random random(seed);
  const uint64_t first = random();
  std::vector<std::string> keys;
  for (size_t i = 0; i < count; ++i) keys.push_back(BigEndian(first + random()));
  return SortedDistinct(std::move(keys));
}

/// A block of this range filter alone.
inline std::string SectionBlock(std::string_view ranges) {
  OwnedBytes block;
  block.size = ranges.size() + internal::kMaxFooterBytes;
  block.memory = std::make_unique<char[]>(block.size);
  internal::FinishBlock({.kind = FilterKind::kNone, .num_keys = 1}, {}, ranges, &block);
  return Copy(block);
}

/// The block of the range filter of these keys.
inline std::string RangeBlock(const std::vector<std::string>& keys, const FilterOptions& options) {
  RangeFilterBuilder ranges = Must(RangeFilterBuilder::Create(options));
  for (const std::string& key : keys) ranges.AddKey(key);
  const std::string section = ranges.Finish();
  EXPECT_EQ(ranges.absent_reason(), "");
  return SectionBlock(section);
}

inline RangeFilterInfo DescribeRangeBlock(const std::string& block) {
  internal::Footer footer;
  EXPECT_FALSE(internal::ParseFooter(AsBytes(block), &footer));
  return RangeFilterReader::OpenSection(footer.ranges).info();
}

/// Options with which any keys get a range filter, whatever their estimated FPR.
inline FilterOptions AnyEstimate(bool is_whole_file = true, double range_fpr = 0.015) {
  return {.range_fpr = range_fpr, .max_estimated_range_fpr = 1, .is_partition = !is_whole_file};
}

/// Whether some key is in [begin, end).
inline bool HasKeyIn(const std::vector<std::string>& keys, std::string_view begin,
                     std::string_view end) {
  const auto first = std::lower_bound(keys.begin(), keys.end(), begin);
  return first != keys.end() && *first < end;
}

}  // namespace blocksieve::testing
