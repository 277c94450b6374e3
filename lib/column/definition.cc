// SPDX-License-Identifier: Apache-2.0
#include "lib/column/definition.h"

#include <algorithm>
#include <charconv>

#include "lib/base/errors.h"

namespace blocksieve::internal {
namespace {

constexpr ValueType kNumberTypes[] = {ValueType::kInt, ValueType::kUint, ValueType::kFloat};

constexpr std::string_view kHex = "0123456789abcdef";

bool IsControl(char c) noexcept { return static_cast<uint8_t>(c) < 0x20 || c == 0x7f; }

bool IsColumnName(std::string_view name) noexcept {
  return !name.empty() && name.size() <= Column::kMaxNameBytes &&
         std::none_of(name.begin(), name.end(),
                      [](char c) { return c == '=' || c == '"' || IsControl(c); });
}

std::string DelimiterText(char c) {
  if (c == '\\') return "\\\\";
  if (c == '\t') return "\\t";
  if (c == '\n') return "\\n";
  const uint8_t byte = static_cast<uint8_t>(c);
  if (byte >= 0x20 && byte < 0x7f) return std::string(1, c);
  return {'\\', 'x', kHex[byte >> 4], kHex[byte & 15]};
}

std::string BinaryTypeText(const ColumnDefinition& definition) {
  std::string text = definition.is_complemented ? "descending_" : "";
  if (definition.is_sign_flipped) text += "ordered_";
  text += ValueTypeName(definition.type);
  text += std::to_string(8 * definition.width);
  if (definition.width > 1) text += definition.is_big_endian ? "be" : "le";
  return text;
}

constexpr std::pair<std::string_view, IndexParts> kParts[] = {
    {"both:", IndexParts::kBoth},
    {"filters:", IndexParts::kFilters},
    {"bounds:", IndexParts::kBounds},
};

// A conversion such as "int:". Empty for plain bytes and for binary numbers, whose source names the
// type.
std::string ConversionText(const ColumnDefinition& definition) {
  if (definition.tokeniser == Tokeniser::kWords) return "words:";
  if (definition.tokeniser == Tokeniser::kNgrams) {
    return "ngrams(" + std::to_string(definition.ngram_length) + "):";
  }
  const bool is_plain =
      definition.type == ValueType::kBytes || definition.source == ColumnSource::kBinary;
  return is_plain ? "" : std::string(ValueTypeName(definition.type)) + ":";
}

std::string_view WholeText(bool is_of_key) { return is_of_key ? "all" : "value"; }

constexpr const char* kKeyExtractors =
    "after key: all, field(DELIMITER):N, fixed(OFFSET,WIDTH), uint64be(OFFSET) and the like; JSON "
    "is of values alone";

constexpr const char* kExtractors =
    "field:N, value, fixed(OFFSET,WIDTH), json:/POINTER, bytes:N, int:N, uint:N, float:N, words:N, "
    "ngrams(LENGTH):N, folded:N, int32le(OFFSET) and the like";

// Recursive-descent parser. Functions return false at the first syntax error.
class DefinitionParser {
 public:
  DefinitionParser(std::string_view text, char delimiter) : text_(text), rest_(text) {
    definition_.delimiter = delimiter;
  }

  bool Parse() {
    return ParseName() && ParseParts() && ParseConversion() && CheckParts() && ParseSource();
  }
  ColumnDefinition&& definition() && { return std::move(definition_); }

  /// REQUIRES: Parse returned false.
  Status error() const {
    const size_t position = text_.size() - unexpected_.size() + 1;
    return Status::InvalidArgument(
        "column definition '" + Shown(text_) + "', position " + std::to_string(position) +
        ": expected " + expected_ + "; found " +
        (unexpected_.empty() ? "the end" : "'" + Shown(unexpected_) + "'"));
  }

 private:
  bool ParseName() {
    const size_t end = rest_.find('=');
    if (end == rest_.npos || !IsColumnName(rest_.substr(0, end))) {
      return Fail("NAME=EXTRACTOR, with a NAME of 1 to " + std::to_string(Column::kMaxNameBytes) +
                  " bytes without \" and control characters");
    }
    definition_.name = rest_.substr(0, end);
    rest_.remove_prefix(end + 1);
    return true;
  }

  bool ParseParts() {
    for (const auto& [text, parts] : kParts) {
      if (!Skip(text)) continue;
      definition_.parts = parts;
      break;
    }
    return true;
  }

  // Tokens have no order, so no bounds.
  bool CheckParts() {
    if (definition_.tokeniser == Tokeniser::kNone || definition_.parts == IndexParts::kAutomatic ||
        definition_.parts == IndexParts::kFilters) {
      return true;
    }
    rest_ = text_.substr(definition_.name.size() + 1);
    return Fail("'filters:' or no index part before words and n-grams");
  }

  bool ParseConversion() {
    has_conversion_ = true;
    for (const ValueType type : kNumberTypes) {
      if (!Skip(std::string(ValueTypeName(type)) + ":")) continue;
      definition_.type = type;
      return true;
    }
    if (Skip("words:")) {
      definition_.tokeniser = Tokeniser::kWords;
    } else if (Skip("ngrams(")) {
      definition_.tokeniser = Tokeniser::kNgrams;
      if (!Number(1, Column::kMaxNgramLength, &definition_.ngram_length) || !Expect("):")) {
        return false;
      }
    } else {
      has_conversion_ = Skip("bytes:");
    }
    definition_.is_folded = Skip("folded:");
    has_conversion_ |= definition_.is_folded;
    return true;
  }

  bool ParseSource() {
    definition_.is_of_key = Skip("key:");
    if (definition_.is_of_key && rest_.starts_with("json:")) return Fail(kKeyExtractors);
    if (Skip("json:")) return ParsePointer();
    if (!has_conversion_ && ParseBinaryType()) return Expect("(") && ParseOffset() && End();
    if (Skip(WholeText(definition_.is_of_key))) {
      definition_.source = ColumnSource::kValue;
      return ParseElementDelimiter() && End();
    }
    if (Skip("fixed(")) {
      definition_.source = ColumnSource::kFixed;
      return ParseOffset() && ParseElementDelimiter() && End();
    }
    definition_.source = ColumnSource::kField;
    if (Skip("field")) {
      if (Skip("(") && !(Delimiter(&definition_.delimiter) && Expect(")"))) return false;
      if (!ParseElementDelimiter() || !Expect(":")) return false;
    } else if (!has_conversion_) {
      return Fail(definition_.is_of_key ? kKeyExtractors : kExtractors);
    }
    return Number(1, Column::kMaxFieldNumber, &definition_.field) && End();
  }

  // The offset of a binary number or, with its width, of bytes, up to the closing parenthesis.
  bool ParseOffset() {
    definition_.is_from_end = Skip("-");
    const std::string_view begin = rest_;
    const uint32_t lowest = definition_.is_from_end ? std::max(definition_.width, 1u) : 0;
    if (!Number(lowest, Column::kMaxOffset, &definition_.offset)) return false;
    if (definition_.source == ColumnSource::kBinary) return Expect(")");
    if (!Expect(",") || !Number(1, Column::kMaxOffset, &definition_.width)) return false;
    if (definition_.is_from_end && definition_.offset < definition_.width) {
      rest_ = begin;
      return Fail("an offset from the end of at least the width");
    }
    return Expect(")");
  }

  // A binary type such as "int32le"; consumes nothing if the text is something else.
  bool ParseBinaryType() {
    const std::string_view begin = rest_;
    ColumnDefinition binary = definition_;
    binary.source = ColumnSource::kBinary;
    const bool is_complemented = Skip("descending_");
    const bool is_sign_flipped = Skip("ordered_");
    for (const ValueType type : kNumberTypes) {
      if (is_sign_flipped && type != ValueType::kInt) continue;
      if (is_complemented && type == ValueType::kFloat) continue;
      binary.type = type;
      for (binary.width = type == ValueType::kFloat ? 4 : 1; binary.width <= 8; binary.width *= 2) {
        for (const bool is_big_endian : {false, true}) {
          binary.is_big_endian = is_big_endian;
          if (!Skip(BinaryTypeText(binary))) continue;
          definition_ = binary;
          definition_.is_complemented = is_complemented;
          definition_.is_sign_flipped = is_sign_flipped;
          return true;
        }
      }
    }
    rest_ = begin;
    return false;
  }

  // RFC 6901: empty, or a '/' before each name, with ~0 for '~' and ~1 for '/'.
  bool ParsePointer() {
    definition_.source = ColumnSource::kJson;
    definition_.pointer = rest_;
    if (std::any_of(rest_.begin(), rest_.end(), IsControl)) return Fail("no control characters");
    if (!rest_.empty() && !rest_.starts_with('/')) return Fail("'/'");
    while (!rest_.empty()) {
      rest_.remove_prefix(1);
      const size_t end = std::min(rest_.find('/'), rest_.size());
      std::string name;
      for (size_t i = 0; i < end; ++i) {
        const bool is_escape = rest_[i] == '~';
        if (is_escape && (++i == end || (rest_[i] != '0' && rest_[i] != '1'))) {
          return Fail("~0 for ~ and ~1 for /");
        }
        name.push_back(!is_escape ? rest_[i] : rest_[i] == '0' ? '~' : '/');
      }
      definition_.path.push_back(std::move(name));
      rest_.remove_prefix(end);
    }
    if (definition_.path.size() > Column::kMaxJsonDepth) {
      return Fail("at most " + std::to_string(Column::kMaxJsonDepth) + " names");
    }
    auto member = std::make_shared<JsonMembers>();
    member->Add(0, definition_);
    definition_.member = std::move(member);
    return true;
  }

  // Optional, such as "[;]".
  bool ParseElementDelimiter() {
    if (!Skip("[")) return true;
    char delimiter = 0;
    if (!Delimiter(&delimiter) || !Expect("]")) return false;
    definition_.element_delimiter = delimiter;
    // A field never contains its own delimiter.
    return definition_.source != ColumnSource::kField || delimiter != definition_.delimiter ||
           Fail("an element delimiter other than the field delimiter");
  }

  bool Delimiter(char* delimiter) {
    const std::string_view begin = rest_;
    if (ReadDelimiter(delimiter)) return true;
    rest_ = begin;
    return Fail("a delimiter: a byte, \\t, \\n, \\\\ or \\xHH");
  }

  // A byte, or an escape of DelimiterText.
  bool ReadDelimiter(char* delimiter) {
    if (rest_.empty()) return false;
    *delimiter = rest_.front();
    rest_.remove_prefix(1);
    if (*delimiter != '\\') return !IsControl(*delimiter);
    if (Skip("\\")) return true;
    *delimiter = rest_.starts_with('t') ? '\t' : '\n';
    if (Skip("t") || Skip("n")) return true;
    if (!Skip("x") || rest_.size() < 2) return false;
    const size_t high = kHex.find(rest_[0]);
    const size_t low = kHex.find(rest_[1]);
    *delimiter = static_cast<char>(high << 4 | low);
    rest_.remove_prefix(2);
    return high < 16 && low < 16;
  }

  bool Number(uint32_t lowest, uint32_t highest, uint32_t* number) {
    const auto result = std::from_chars(rest_.data(), rest_.data() + rest_.size(), *number);
    if (result.ec != std::errc() || *number < lowest || *number > highest) {
      return Fail("a number from " + std::to_string(lowest) + " to " + std::to_string(highest));
    }
    rest_.remove_prefix(static_cast<size_t>(result.ptr - rest_.data()));
    return true;
  }

  bool End() { return rest_.empty() || Fail("the end"); }

  bool Expect(std::string_view text) { return Skip(text) || Fail("'" + std::string(text) + "'"); }

  // Records the error and returns false.
  bool Fail(std::string expected) {
    expected_ = std::move(expected);
    unexpected_ = rest_;
    return false;
  }

  bool Skip(std::string_view text) {
    if (!rest_.starts_with(text)) return false;
    rest_.remove_prefix(text.size());
    return true;
  }

  std::string_view text_;
  std::string_view rest_;
  std::string expected_;
  std::string_view unexpected_;  // the text from the error on
  bool has_conversion_ = false;
  ColumnDefinition definition_;
};

std::string KeyText(const ColumnDefinition& definition) {
  const std::string type = ConversionText(definition) + (definition.is_folded ? "folded:" : "");
  const std::string conversion = type + (definition.is_of_key ? "key:" : "");
  const std::string sign = definition.is_from_end ? "-" : "";
  std::string elements;
  if (definition.element_delimiter) {
    elements = "[" + DelimiterText(*definition.element_delimiter) + "]";
  }
  switch (definition.source) {
    case ColumnSource::kValue:
      return conversion + std::string(WholeText(definition.is_of_key)) + elements;
    case ColumnSource::kFixed:
      return conversion + "fixed(" + sign + std::to_string(definition.offset) + "," +
             std::to_string(definition.width) + ")" + elements;
    case ColumnSource::kBinary:
      return conversion + BinaryTypeText(definition) + "(" + sign +
             std::to_string(definition.offset) + ")";
    case ColumnSource::kJson:
      return conversion + "json:" + definition.pointer;
    case ColumnSource::kField:
      break;
  }
  std::string text = conversion;
  const bool is_tab = definition.delimiter == '\t';
  if (type.empty() || !is_tab || definition.element_delimiter) {
    text += "field";
    if (!is_tab) text += "(" + DelimiterText(definition.delimiter) + ")";
    text += elements + ":";
  }
  return text + std::to_string(definition.field);
}

}  // namespace

std::string ColumnDefinitionText(const ColumnDefinition& definition) {
  std::string text = definition.name + "=";
  for (const auto& [prefix, parts] : kParts) {
    if (parts == definition.parts) text += prefix;
  }
  return text + definition.key;
}

bool IsOfKey(std::string_view key) noexcept {
  const size_t at = key.find("key:");
  if (at == key.npos || at == 0) return at == 0;
  return key[at - 1] == ':' && key.substr(0, at).find("json:") == key.npos;
}

Result<ColumnDefinition> ParseColumnDefinition(std::string_view text, char delimiter) {
  DefinitionParser parser(text, delimiter);
  if (!parser.Parse()) return parser.error();
  ColumnDefinition definition = std::move(parser).definition();
  definition.key = KeyText(definition);
  return definition;
}

}  // namespace blocksieve::internal
