#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace blocksieve::bench::ranges {

using SortedKeys = std::vector<std::string>;

/// All keys from `begin` on that are less than `end`.
struct Range {
  std::string begin;
  std::string end;
};

/// Keys of one kind, and where ranges over them end.
struct KeySet {
  std::string name;  ///< For the tables.
  SortedKeys keys;
  std::vector<std::string> others;  ///< As many of the same kind that are not in `keys`, shuffled.

  /// The end of a range that begins at one of both and holds this many of `keys`, on average.
  std::function<std::string(const std::string& begin, double expected_keys)> end;

  /// The first key that is not less than `from`; null if there is none.
  const std::string* Next(std::string_view from) const;

  bool HasKeyIn(const Range& range) const;
};

/// Names of the sets, for MakeKeySet: bytes of a number, digits of one, two numbers, and text.
inline constexpr const char* kIntegers = "8-byte integers";
inline constexpr const char* kUsers = "user%016d";
inline constexpr const char* kTenantTime = "u%07d:%013d";
inline constexpr const char* kPaths = "paths";

/// `num_keys` keys; of paths half of those that dpkg's lists on this machine have, if these are
/// fewer. Throws Failure if there are no such lists, or the name is unknown.
KeySet MakeKeySet(std::string_view name, uint64_t num_keys, uint64_t seed);

}  // namespace blocksieve::bench::ranges
