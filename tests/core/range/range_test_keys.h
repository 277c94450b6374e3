#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <ostream>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "lib/range/range_filter.h"

// Keys of many families, range filters of them, and checks of their answers.

namespace blocksieve::testing {

using Random = std::mt19937_64;

/// A family of similar keys. Their filter must give correct answers, but need not meet an FPR.
struct KeyFamily {
  std::string name;
  std::function<std::vector<std::string>()> make;

  /// Ascending and distinct.
  std::vector<std::string> Keys() const;
};

inline void PrintTo(const KeyFamily& family, std::ostream* out) { *out << family.name; }

const std::vector<KeyFamily>& KeyFamilies();

/// A number formatted by printf.
inline std::string Formatted(const char* format, uint64_t number) {
  char text[128];
  std::snprintf(text, sizeof(text), format, static_cast<unsigned long long>(number));
  return text;
}

/// A number as eight bytes, most significant first.
std::string BigEndian(uint64_t number);

std::string HexUuid(Random* random);

/// The keys in ascending order, without duplicates.
inline std::vector<std::string> SortedDistinct(std::vector<std::string> keys) {
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  return keys;
}

/// `count` random numbers, as eight bytes.
std::vector<std::string> RandomInts(size_t count, uint64_t seed);

/// A key near this one: the key itself, its successor, or a changed or truncated key.
std::string NearKey(std::string_view key, Random* random);

/// A block of this range filter alone.
std::string SectionBlock(std::string_view ranges);

/// The block of the range filter of these keys.
std::string RangeBlock(const std::vector<std::string>& keys, const FilterOptions& options);

RangeFilterInfo DescribeRangeBlock(const std::string& block);

/// Options with which any keys get a range filter, whatever their estimated FPR.
inline FilterOptions AnyEstimate(bool is_whole_file = true, double range_fpr = 0.015) {
  return {.range_fpr = range_fpr, .max_estimated_range_fpr = 1, .is_partition = !is_whole_file};
}

/// Whether some key is in [begin, end).
bool HasKeyIn(const std::vector<std::string>& keys, std::string_view begin, std::string_view end);

/// Queries a range filter of keys, on all kernels. Expects that they agree, and that the answer is
/// correct: "no" only for empty ranges, and in a partition only for ranges that end before its last
/// key. The arguments must outlive it.
class RangeChecker {
 public:
  RangeChecker(const std::vector<std::string>& keys, ByteView block, bool is_whole_file);

  RangeFilterReader::Answer Query(std::string_view begin, std::string_view end) const;

 private:
  const std::vector<std::string>& keys_;
  const bool is_whole_file_;
  std::vector<RangeFilterReader> readers_;
};

/// Checks ranges near keys. Returns the number of answers other than "may match".
uint64_t ExpectRightAnswers(const std::vector<std::string>& keys, const std::string& block,
                            bool is_whole_file, int rounds, uint64_t seed);

}  // namespace blocksieve::testing
