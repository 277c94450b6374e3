// SPDX-License-Identifier: Apache-2.0
#include "lib/prefix/prefix_rule.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <optional>
#include <utility>

#include "blocksieve/filter.h"
#include "lib/base/coding.h"
#include "lib/base/errors.h"

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

constexpr size_t kMaxDelimiterBytes = 16;
constexpr std::string_view kHexDigits = "0123456789ABCDEF";
// Characters that option strings or this syntax give a meaning.
constexpr std::string_view kEscaped = "%,;={}#\\: ";

// Parses the text of a rule from left to right; remembers where it failed and why.
class RuleParser {
 public:
  explicit RuleParser(std::string_view text) : text_(text) {}

  Result<std::string> Parse() {
    std::string rule;
    bool ok = false;
    if (Take("delimiter:")) {
      ok = ParseDelimiter(&rule);
    } else if (Take("lengths:")) {
      ok = ParseList(&rule, RuleKind::kLengths, &RuleParser::ParseLength);
    } else if (Take("fields:")) {
      ok = ParseList(&rule, RuleKind::kFields, &RuleParser::ParseField);
      if (ok && !has_mark_) rule[rule.size() - kFieldBytes] |= static_cast<char>(kEndsPrefix);
    } else {
      Expect("delimiter:, lengths: or fields:");
    }
    if (ok && at_ != text_.size()) ok = Expect("the end");
    if (ok) return rule;
    return Status::InvalidArgument("prefixes is " + Shown(text_) + "; at byte " +
                                   std::to_string(at_) + ": expected " + expected_ + ", found " +
                                   (at_ == text_.size() ? "the end" : Shown(text_.substr(at_))));
  }

 private:
  bool Expect(std::string what) {
    expected_ = std::move(what);
    return false;
  }

  bool Take(std::string_view token) {
    if (text_.substr(at_, token.size()) != token) return false;
    at_ += token.size();
    return true;
  }

  bool ParseNumber(uint64_t highest, uint64_t* number) {
    const char* const begin = text_.data() + at_;
    const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), *number);
    if (error != std::errc() || *number < 1 || *number > highest) {
      return Expect("a number from 1 to " + std::to_string(highest));
    }
    at_ += static_cast<size_t>(end - begin);
    return true;
  }

  bool ParseDelimiter(std::string* rule) {
    std::string delimiter;
    while (at_ < text_.size() && text_[at_] != ',') {
      if (delimiter.size() == kMaxDelimiterBytes) {
        return Expect("a delimiter of at most " + std::to_string(kMaxDelimiterBytes) + " bytes");
      }
      if (text_[at_] != '%') {
        delimiter += text_[at_++];
        continue;
      }
      uint8_t byte = 0;
      const std::string_view digits = text_.substr(at_ + 1, 2);
      const auto [end, error] =
          std::from_chars(digits.data(), digits.data() + digits.size(), byte, 16);
      if (digits.size() != 2 || error != std::errc() || end != digits.data() + 2) {
        return Expect("two hexadecimal digits after %");
      }
      delimiter += static_cast<char>(byte);
      at_ += 3;
    }
    if (delimiter.empty()) return Expect("a delimiter");
    uint64_t depth = kMaxPrefixes;
    if (Take(",")) {
      if (!Take("depth:")) return Expect("depth:");
      if (!ParseNumber(kMaxPrefixes, &depth)) return false;
    }
    *rule = {static_cast<char>(RuleKind::kDelimiter), static_cast<char>(depth)};
    *rule += delimiter;
    return true;
  }

  bool ParseList(std::string* rule, RuleKind kind, bool (RuleParser::*parse_item)(std::string*)) {
    *rule = {static_cast<char>(kind)};
    for (size_t items = 1;; ++items) {
      if (!(this->*parse_item)(rule)) return false;
      if (at_ == text_.size() || text_[at_] != ',') return true;
      if (items == kMaxPrefixes) {
        return Expect("at most " + std::to_string(kMaxPrefixes) + " items");
      }
      ++at_;
    }
  }

  bool ParseLength(std::string* rule) {
    uint64_t length = 0;
    const size_t begin = at_;
    if (!ParseNumber(kMaxPrefixBytes, &length)) return false;
    if (length <= last_length_) {
      at_ = begin;
      return Expect("a length above " + std::to_string(last_length_));
    }
    last_length_ = length;
    AppendLittleEndian(rule, static_cast<uint16_t>(length));
    return true;
  }

  bool ParseField(std::string* rule) {
    if (rule->size() > 1 && text_.substr(at_) == "*") return Take("*");  // the rest of the key
    uint64_t size = 0;
    const int length_bytes = Take("len8") ? 1 : Take("len16") ? 2 : Take("len32") ? 4 : 0;
    if (length_bytes == 0 && !ParseNumber(kMaxPrefixBytes, &size)) {
      return Expect("len8, len16, len32, len16le, len32le or a size from 1 to " +
                    std::to_string(kMaxPrefixBytes));
    }
    const bool is_little_endian = length_bytes > 1 && Take("le");
    const bool is_marked = Take("*");
    has_mark_ = has_mark_ || is_marked;
    rule->push_back(static_cast<char>(length_bytes | (is_marked ? kEndsPrefix : 0) |
                                      (is_little_endian ? kLittleEndian : 0)));
    AppendLittleEndian(rule, static_cast<uint16_t>(size));
    return true;
  }

  const std::string_view text_;
  size_t at_ = 0;
  std::string expected_;
  uint64_t last_length_ = 0;
  bool has_mark_ = false;
};

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

Result<std::string> ParsePrefixRule(std::string_view text) try { return RuleParser(text).Parse(); }
BLOCKSIEVE_CATCH_BAD_ALLOC

std::string PrefixRuleText(ByteView rule) {
  if (rule.empty()) return "";
  Decoder from(rule.subspan(1));
  std::string text;
  switch (static_cast<RuleKind>(rule[0])) {
    case RuleKind::kDelimiter: {
      const auto depth = from.Fixed<uint8_t>();
      if (!from.ok() || from.rest().empty()) return "";
      text = "delimiter:";
      for (const uint8_t byte : from.rest()) {
        const char c = static_cast<char>(byte);
        if (byte > 0x20 && byte < 0x7f && kEscaped.find(c) == std::string_view::npos) {
          text += c;
        } else {
          text.append({'%', kHexDigits[byte >> 4], kHexDigits[byte & 15]});
        }
      }
      return depth == kMaxPrefixes ? text : text + ",depth:" + std::to_string(depth);
    }
    case RuleKind::kLengths:
      while (!from.rest().empty()) {
        text += (text.empty() ? "lengths:" : ",") + std::to_string(from.Fixed<uint16_t>());
        if (!from.ok()) return "";
      }
      return text;
    case RuleKind::kFields:
      while (!from.rest().empty()) {
        const auto type = from.Fixed<uint8_t>();
        const auto size = from.Fixed<uint16_t>();
        if (!from.ok()) return "";
        const int length_bytes = type & ~(kEndsPrefix | kLittleEndian);
        text += text.empty() ? "fields:" : ",";
        text += length_bytes == 0 ? std::to_string(size) : "len" + std::to_string(8 * length_bytes);
        if ((type & kLittleEndian) != 0) text += "le";
        if ((type & kEndsPrefix) != 0) text += "*";
      }
      return text;
  }
  return "";
}

}  // namespace blocksieve::internal

namespace blocksieve {

Result<std::string> CanonicalPrefixRule(std::string_view text) try {
  BLOCKSIEVE_ASSIGN_OR_RETURN(const std::string rule, internal::ParsePrefixRule(text));
  return internal::PrefixRuleText(AsBytes(rule));
}
BLOCKSIEVE_CATCH_BAD_ALLOC

}  // namespace blocksieve
