#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <ostream>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "lib/range/range_filter.h"

// Keys of many families, the truth about their ranges, and range filters of them.

namespace blocksieve::testing {

using Random = std::mt19937_64;

/// Keys that have something in common. Expected of their filter: nothing but that it is right.
struct KeyFamily {
  std::string name;
  std::function<std::vector<std::string>()> make;

  /// Ascending and distinct.
  std::vector<std::string> Keys() const;
};

inline void PrintTo(const KeyFamily& family, std::ostream* out) { *out << family.name; }

const std::vector<KeyFamily>& KeyFamilies();

/// Text of a number, as printf formats it.
std::string Formatted(const char* format, uint64_t number);

/// Eight bytes, most significant first.
std::string BigEndian(uint64_t number);

std::string HexUuid(Random* random);

/// The same, ascending and without copies.
std::vector<std::string> SortedDistinct(std::vector<std::string> keys);

/// `count` numbers of this many bits each, as eight bytes.
std::vector<std::string> RandomInts(size_t count, uint64_t seed, unsigned bits = 64);

/// Something like this key: it, what follows it, or what it becomes by changes and cuts.
std::string NearKey(std::string_view key, Random* random);

/// The block of a Bloom filter of these keys with their range filter; without it if `absent_reason`
/// is not empty after.
std::string RangeBlock(const std::vector<std::string>& keys, const RangePartOptions& options,
                       std::string* absent_reason = nullptr);

/// Options under which any keys get a filter.
inline RangePartOptions AnyEstimate(bool is_whole_file = true, double range_fpr = 0.015) {
  return {.range_fpr = range_fpr, .is_whole_file = is_whole_file, .max_estimated_fpr = 1};
}

/// Whether some key is in [begin, end).
bool HasKeyIn(const std::vector<std::string>& keys, std::string_view begin, std::string_view end);

/// Expects that this answer is right: "no" is said of ranges without keys only, and by a partition
/// only if it has a key behind them.
void ExpectRight(const std::vector<std::string>& keys, bool is_whole_file, std::string_view begin,
                 std::string_view end, RangeFilterReader::Answer answer);

/// Asks about ranges near keys, and expects right answers that are the same for all kernels.
/// Returns how many were no "may match".
uint64_t ExpectRightAnswers(const std::vector<std::string>& keys, const std::string& block,
                            bool is_whole_file, int rounds, uint64_t seed);

}  // namespace blocksieve::testing
