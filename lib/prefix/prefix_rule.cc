// SPDX-License-Identifier: Apache-2.0
#include "lib/prefix/prefix_rule.h"

#include <algorithm>
#include <bit>
#include <optional>

#include "lib/base/coding.h"

namespace blocksieve::internal {
namespace {

// Size of a field that begins with its length of `bytes` bytes; none if the key ends.
std::optional<size_t> SizedField(std::string_view key, size_t at, size_t bytes,
                                 bool is_little_endian) noexcept {
  if (key.size() - at < bytes) return std::nullopt;
  uint64_t content = 0;
  for (size_t i = 0; i < bytes; ++i) {
    content = content << 8 | static_cast<uint8_t>(key[at + (is_little_endian ? bytes - 1 - i : i)]);
  }
  return bytes + static_cast<size_t>(content);
}

// The number of occurrences of a byte in a text. `*end` becomes the end of the last one, or 0. A
// word at a time: most texts are too short for the calls of memchr and memrchr to pay.
size_t CountByte(std::string_view text, char byte, size_t* end) noexcept {
  constexpr uint64_t kOnes = 0x0101010101010101u;
  constexpr uint64_t kLowBits = 0x7f * kOnes;
  constexpr size_t kWord = sizeof(uint64_t);
  size_t count = 0;
  size_t i = 0;
  *end = 0;
  // Counts the occurrences in the word at `at`, after its first `skipped` bytes.
  const auto add = [&](size_t at, size_t skipped) {
    const uint64_t differing =
        LoadLittleEndian<uint64_t>(reinterpret_cast<const uint8_t*>(text.data()) + at) ^
        kOnes * static_cast<uint8_t>(byte);
    // The high bit of each byte that is zero.
    uint64_t equal = ~(((differing & kLowBits) + kLowBits) | differing | kLowBits);
    equal = equal >> 8 * skipped << 8 * skipped;
    count += (equal >> 7) * kOnes >> 56;
    if (equal != 0) *end = at + kWord - static_cast<size_t>(std::countl_zero(equal)) / 8;
  };
  for (; i + kWord <= text.size(); i += kWord) add(i, 0);
  if (i != 0 && i != text.size()) {
    add(text.size() - kWord, kWord - (text.size() - i));
    return count;
  }
  for (; i < text.size(); ++i) {
    if (text[i] != byte) continue;
    ++count;
    *end = i + 1;
  }
  return count;
}

bool FindAfterDelimiters(ByteView parameters, std::string_view key,
                         PrefixLengths* lengths) noexcept {
  if (parameters.size() < 2) return false;
  const size_t depth = parameters[0];
  const std::string_view delimiter = AsText(parameters.subspan(1));
  if (depth == 0) return false;
  const size_t max_prefixes = std::min(depth, kMaxPrefixes);
  key = key.substr(0, kMaxPrefixBytes);
  for (size_t at = lengths->longest(); lengths->all().size() < max_prefixes;) {
    at = delimiter.size() == 1 ? key.find(delimiter[0], at) : key.find(delimiter, at);
    if (at == std::string_view::npos) break;
    at += delimiter.size();
    lengths->Add(at);
  }
  return true;
}

bool FindAtLengths(ByteView parameters, std::string_view key, PrefixLengths* lengths) noexcept {
  lengths->Clear();
  Decoder from(parameters);
  while (!from.rest().empty() && !lengths->is_full()) {
    const size_t length = from.Fixed<uint16_t>();
    if (!from.ok() || length <= lengths->longest()) return false;
    if (length > key.size()) break;
    lengths->Add(length);
  }
  return true;
}

bool FindAfterFields(ByteView parameters, std::string_view key, PrefixLengths* lengths) noexcept {
  if (parameters.size() % kFieldBytes != 0) return false;
  size_t at = 0;
  lengths->Clear();
  for (size_t i = 0; i < parameters.size() && !lengths->is_full(); i += kFieldBytes) {
    const uint8_t type = parameters[i];
    const auto size = LoadLittleEndian<uint16_t>(&parameters[i + 1]);
    const size_t length_bytes = type & ~(kEndsPrefix | kLittleEndian);
    const bool is_little_endian = (type & kLittleEndian) != 0;
    if (length_bytes > 4 || length_bytes == 3 || (length_bytes == 0) != (size != 0) ||
        (is_little_endian && length_bytes < 2)) {
      return false;
    }
    const std::optional<size_t> field =
        length_bytes == 0 ? size : SizedField(key, at, length_bytes, is_little_endian);
    if (!field || *field > key.size() - at) break;
    at += *field;
    if (at > kMaxPrefixBytes) break;
    if ((type & kEndsPrefix) != 0) lengths->Add(at);
  }
  return true;
}

}  // namespace

size_t MaxPrefixes(ByteView rule) noexcept {
  switch (static_cast<RuleKind>(rule[0])) {
    case RuleKind::kDelimiter:
      return std::min<size_t>(rule[1], kMaxPrefixes);
    case RuleKind::kLengths:
      return std::min((rule.size() - 1) / sizeof(uint16_t), kMaxPrefixes);
    case RuleKind::kFields: {
      size_t fields = 0;
      for (size_t i = 1; i < rule.size(); i += kFieldBytes) fields += (rule[i] & kEndsPrefix) != 0;
      return std::min(fields, kMaxPrefixes);
    }
  }
  return 0;
}

bool FindPrefixes(ByteView rule, std::string_view key, PrefixLengths* lengths) noexcept {
  lengths->Clear();
  return FindMorePrefixes(rule, key, lengths);
}

bool FindMorePrefixes(ByteView rule, std::string_view key, PrefixLengths* lengths) noexcept {
  if (rule.empty()) return false;
  const ByteView parameters = rule.subspan(1);
  switch (static_cast<RuleKind>(rule[0])) {
    case RuleKind::kDelimiter:
      return FindAfterDelimiters(parameters, key, lengths);
    case RuleKind::kLengths:
      return FindAtLengths(parameters, key, lengths);
    case RuleKind::kFields:
      return FindAfterFields(parameters, key, lengths);
  }
  return false;
}

size_t FindLongestPrefix(ByteView rule, std::string_view key) noexcept {
  if (IsOneByteDelimiter(rule) && key.size() <= kMaxPrefixBytes) {
    // Most keys have fewer boundaries than the rule allows.
    size_t end;
    if (CountByte(key, static_cast<char>(rule[2]), &end) <= MaxPrefixes(rule)) return end;
  }
  PrefixLengths lengths;
  return FindPrefixes(rule, key, &lengths) ? lengths.longest() : 0;
}

}  // namespace blocksieve::internal
