#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace blocksieve::bench::ranges {

using SortedKeys = std::vector<std::string>;

/// The keys in [begin, end).
struct Range {
  std::string begin;
  std::string end;
};

/// Keys of one kind, and ranges over them.
struct KeySet {
  std::string name;  ///< For the tables.
  SortedKeys keys;
  std::vector<std::string> others;  ///< As many absent keys of the same kind, shuffled.

  /// The end of a range from one of `keys` or `others` that holds this many of `keys` on average.
  std::function<std::string(const std::string& begin, double expected_keys)> end;

  /// The first key >= `from`; null if there is none.
  const std::string* Next(std::string_view from) const;

  bool HasKeyIn(const Range& range) const;
};

/// Names of the sets, for MakeKeySet: a number in binary, one in digits, two numbers, and text.
inline constexpr const char* kIntegers = "8-byte integers";
inline constexpr const char* kUsers = "user%016d";
inline constexpr const char* kTenantTime = "u%07d:%013d";
inline constexpr const char* kPaths = "paths";

/// The paths of this machine's dpkg lists. Throws Failure if there are none.
std::vector<std::string> PackagePaths();

/// The bytes of an unsigned number, the most significant first.
template <class Number>
std::string BigEndian(Number number) {
  std::string bytes;
  for (size_t i = sizeof number; i-- > 0;) bytes.push_back(static_cast<char>(number >> (8 * i)));
  return bytes;
}

/// Makes `num_keys` keys; for paths at most half of those in this machine's dpkg lists. Throws
/// Failure if there are no such lists, or the name is unknown.
KeySet MakeKeySet(std::string_view name, uint64_t num_keys, uint64_t seed);

}  // namespace blocksieve::bench::ranges
