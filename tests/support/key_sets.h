#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <string>
#include <vector>

namespace blocksieve::testing {

/// Shapes of keys that have fooled filters with weak hashes.
enum class KeyShape {
  kCounter,  ///< Eight bytes, big-endian.
  kUrl,
};

/// Key number `i` of a shape; keys ascend with their numbers. By convention, tests write only keys
/// with even numbers, so that absent keys (odd numbers) lie between present ones.
std::string MakeKey(KeyShape shape, uint64_t i);

/// Keys with even (or odd) numbers: 2i (or 2i + 1) for i < count.
std::vector<std::string> PresentKeys(KeyShape shape, uint64_t count);
std::vector<std::string> AbsentKeys(KeyShape shape, uint64_t count);

/// Keys that some filter has lost: empty, one byte, zero bytes, bytes from 0x80 on, a prefix of the
/// next.
const std::vector<std::string>& AwkwardKeys();

/// Groups of keys that share their first kGroupPrefixBytes bytes: "g00012/0003".
inline constexpr size_t kGroupPrefixBytes = 6;
std::string GroupKey(uint64_t group, uint64_t member);

/// Members 0, 1, ... of the groups first, first + 2, ...
std::vector<std::string> GroupKeys(uint64_t first, uint64_t num_groups, uint64_t members);

}  // namespace blocksieve::testing
