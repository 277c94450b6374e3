#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "blocksieve/bytes.h"
#include "blocksieve/status.h"

// A rule says where keys have boundaries, at which prefixes end. It is text in options and bytes in
// filter blocks; a block is read by the rule that it was built with.
//
// Whether a key has a boundary after n bytes must depend on its first n bytes alone. Otherwise the
// prefix of a range could have a boundary that keys in the range lack, and a "no" could be wrong.

namespace blocksieve {

/// Maximum number of prefixes of one key; boundaries after these are ignored.
inline constexpr size_t kMaxPrefixes = 16;

/// Maximum length of a prefix, in bytes; boundaries beyond it are ignored.
inline constexpr size_t kMaxPrefixBytes = 65535;

namespace internal {

/// Lengths of the prefixes of a key, in ascending order.
class PrefixLengths {
 public:
  void Clear() noexcept { size_ = 0; }
  /// Drops lengths above `longest`.
  void Truncate(size_t longest) noexcept {
    while (size_ != 0 && lengths_[size_ - 1] > longest) --size_;
  }
  void Add(size_t length) noexcept { lengths_[size_++] = static_cast<uint32_t>(length); }
  bool is_full() const noexcept { return size_ == kMaxPrefixes; }
  bool empty() const noexcept { return size_ == 0; }
  uint32_t longest() const noexcept { return size_ == 0 ? 0 : lengths_[size_ - 1]; }
  std::span<const uint32_t> all() const noexcept { return {lengths_.data(), size_}; }

 private:
  std::array<uint32_t, kMaxPrefixes> lengths_;
  size_t size_ = 0;
};

/// First byte of a rule; lib/FORMAT.md has the bytes that follow.
enum class RuleKind : uint8_t { kDelimiter = 1, kLengths = 2, kFields = 3 };

/// A field: one byte with the number of bytes of its length in the key (0, 1, 2 or 4), with
/// kEndsPrefix if a prefix ends after it and kLittleEndian if that is the byte order of a length of
/// 2 or 4 bytes; two bytes with its size, if it has no length in the key.
inline constexpr uint8_t kEndsPrefix = 0x80;
inline constexpr uint8_t kLittleEndian = 0x40;
inline constexpr size_t kFieldBytes = 3;

/// Parses "delimiter:/", "delimiter:/,depth:3", "lengths:4,12" or "fields:len8,2,len32,8" into the
/// bytes of a rule. Errors: InvalidArgument, with the position.
Result<std::string> ParsePrefixRule(std::string_view text);

/// The text of a rule, which ParsePrefixRule reads as the same rule; empty if it is damaged.
std::string PrefixRuleText(ByteView rule);

/// The maximum number of prefixes that a rule finds in a key.
size_t MaxPrefixes(ByteView rule) noexcept;

inline bool IsOneByteDelimiter(ByteView rule) noexcept {
  return rule.size() == 3 && static_cast<RuleKind>(rule[0]) == RuleKind::kDelimiter;
}

/// Whether a key has no prefixes besides `lengths`, which are those of a beginning of the key.
/// False if that takes a search of the whole key.
inline bool HasNoMorePrefixes(ByteView rule, size_t max_prefixes, const PrefixLengths& lengths,
                              std::string_view key) noexcept {
  return lengths.all().size() == max_prefixes ||
         (IsOneByteDelimiter(rule) &&
          key.find(static_cast<char>(rule[2]), lengths.longest()) == std::string_view::npos);
}

/// Finds the prefixes of a key. False if the rule is damaged: nothing is then known about prefixes
/// of the key.
bool FindPrefixes(ByteView rule, std::string_view key, PrefixLengths* lengths) noexcept;

/// The same if `lengths` has the prefixes of a beginning of the key already: if `key` shares n
/// bytes with another key, those of that key up to n.
bool FindMorePrefixes(ByteView rule, std::string_view key, PrefixLengths* lengths) noexcept;

/// Length of the longest prefix of a key; 0 if it has none, or FindPrefixes fails.
size_t FindLongestPrefix(ByteView rule, std::string_view key) noexcept;

}  // namespace internal
}  // namespace blocksieve
