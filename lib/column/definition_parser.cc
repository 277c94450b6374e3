#include <algorithm>
#include <string>
#include <utility>

#include "lib/column/definition.h"

namespace blocksieve::internal {
namespace {

// Reads the text from its front. What was expected and not found is reported once, by the caller.
class DefinitionParser {
 public:
  DefinitionParser(std::string_view text, char delimiter) : rest_(text) {
    definition_.delimiter = delimiter;
  }

  // Whether the text is a definition.
  bool Parse() { return ParseName() && ParseReading() && ParseSource(); }

  // Whether it stopped at a callback.
  bool is_callback() const noexcept { return is_callback_; }

  ColumnDefinition&& definition() && { return std::move(definition_); }

 private:
  bool ParseName() {
    const size_t end = rest_.find('=');
    if (end == rest_.npos || !IsColumnName(rest_.substr(0, end))) return false;
    definition_.name = rest_.substr(0, end);
    rest_.remove_prefix(end + 1);
    return true;
  }

  bool ParseReading() {
    has_reading_ = true;
    if (Skip("bytes:")) return true;
    for (const ValueType type : {ValueType::kInt, ValueType::kUint, ValueType::kFloat}) {
      if (!Skip(std::string(ValueTypeName(type)) + ":")) continue;
      definition_.type = type;
      return true;
    }
    if (Skip("words:")) {
      definition_.tokeniser = Tokeniser::kWords;
      return true;
    }
    if (Skip("ngrams(")) {
      definition_.tokeniser = Tokeniser::kNgrams;
      return Number(1, Column::kMaxNgramLength, &definition_.ngram_length) && Skip("):");
    }
    has_reading_ = false;
    return true;
  }

  bool ParseSource() {
    is_callback_ = rest_.starts_with("callback:");
    if (Skip("json:")) return ParsePointer();
    if (!has_reading_ && ParseBinaryType()) {
      definition_.source = ColumnSource::kBinary;
      return Skip("(") && Number(0, Column::kMaxOffset, &definition_.offset) && Skip(")") &&
             AtEnd();
    }
    if (Skip("value")) {
      definition_.source = ColumnSource::kValue;
      return ParseElementDelimiter() && AtEnd();
    }
    if (Skip("fixed(")) {
      definition_.source = ColumnSource::kFixed;
      return Number(0, Column::kMaxOffset, &definition_.offset) && Skip(",") &&
             Number(1, Column::kMaxOffset, &definition_.width) && Skip(")") &&
             ParseElementDelimiter() && AtEnd();
    }
    definition_.source = ColumnSource::kField;
    if (Skip("field")) {
      if (Skip("(") && !(Delimiter(&definition_.delimiter) && Skip(")"))) return false;
      if (!ParseElementDelimiter() || !Skip(":")) return false;
    } else if (!has_reading_) {
      return false;
    }
    return Number(1, Column::kMaxFieldNumber, &definition_.field) && AtEnd();
  }

  // "int32le" without what follows; restores the text if it is something else.
  bool ParseBinaryType() {
    const std::string_view start = rest_;
    for (const ValueType type : {ValueType::kInt, ValueType::kUint, ValueType::kFloat}) {
      for (const uint32_t width : {1u, 2u, 4u, 8u}) {
        if (type == ValueType::kFloat && width < 4) continue;
        definition_.type = type;
        definition_.width = width;
        for (const bool is_big_endian : {false, true}) {
          definition_.is_big_endian = is_big_endian;
          if (Skip(BinaryTypeText(definition_)) && rest_.starts_with('(')) return true;
          rest_ = start;
        }
      }
    }
    definition_.type = ValueType::kBytes;
    definition_.width = 0;
    definition_.is_big_endian = false;
    return false;
  }

  // RFC 6901: empty, or names that each follow a '/', with ~0 for '~' and ~1 for '/'.
  bool ParsePointer() {
    definition_.source = ColumnSource::kJson;
    definition_.pointer = rest_;
    if (std::any_of(rest_.begin(), rest_.end(), IsControl)) return false;
    if (!rest_.empty() && !rest_.starts_with('/')) return false;
    while (!rest_.empty()) {
      rest_.remove_prefix(1);
      const size_t end = std::min(rest_.find('/'), rest_.size());
      std::string name;
      for (size_t i = 0; i < end; ++i) {
        if (rest_[i] != '~') {
          name.push_back(rest_[i]);
          continue;
        }
        if (++i == end || (rest_[i] != '0' && rest_[i] != '1')) return false;
        name.push_back(rest_[i] == '0' ? '~' : '/');
      }
      definition_.path.push_back(std::move(name));
      rest_.remove_prefix(end);
    }
    return definition_.path.size() <= Column::kMaxJsonDepth;
  }

  // "[;]", or nothing.
  bool ParseElementDelimiter() {
    if (!Skip("[")) return true;
    char delimiter = 0;
    if (!Delimiter(&delimiter) || !Skip("]")) return false;
    definition_.element_delimiter = delimiter;
    // A field never contains its own delimiter.
    return definition_.source != ColumnSource::kField || delimiter != definition_.delimiter;
  }

  bool Delimiter(char* delimiter) {
    if (rest_.empty()) return false;
    for (int byte = 0; rest_.front() == '\\' && byte < 256; ++byte) {
      *delimiter = static_cast<char>(byte);
      constexpr std::string_view kHex = "0123456789abcdef";
      const char hex[] = {'\\', 'x', kHex[static_cast<size_t>(byte >> 4)],
                          kHex[static_cast<size_t>(byte & 15)]};
      if (Skip({hex, sizeof(hex)})) return true;
      const std::string text = DelimiterText(*delimiter);
      if (text.size() > 1 && Skip(text)) return true;
    }
    if (rest_.front() == '\\' || IsControl(rest_.front())) return false;
    *delimiter = rest_.front();
    rest_.remove_prefix(1);
    return true;
  }

  bool Number(uint32_t lowest, uint32_t highest, uint32_t* number) {
    uint64_t value = 0;
    size_t digits = 0;
    while (digits < rest_.size() && rest_[digits] >= '0' && rest_[digits] <= '9' && digits < 12) {
      value = value * 10 + static_cast<uint64_t>(rest_[digits++] - '0');
    }
    if (digits == 0 || value < lowest || value > highest) return false;
    rest_.remove_prefix(digits);
    *number = static_cast<uint32_t>(value);
    return true;
  }

  bool Skip(std::string_view text) {
    if (!rest_.starts_with(text)) return false;
    rest_.remove_prefix(text.size());
    return true;
  }

  bool AtEnd() const noexcept { return rest_.empty(); }

  std::string_view rest_;
  bool has_reading_ = false;
  bool is_callback_ = false;
  ColumnDefinition definition_;
};

}  // namespace

Result<ColumnDefinition> ParseColumnDefinition(std::string_view text, char delimiter) {
  DefinitionParser parser(text, delimiter);
  if (parser.Parse()) return std::move(parser).definition();
  if (parser.is_callback()) {
    return Status::NotSupported("column definition '" + std::string(text) +
                                "': a callback can be given in C++ only");
  }
  return Status::InvalidArgument(
      "column definition '" + std::string(text) +
      "' is not NAME=EXTRACTOR; extractors are field:N (N from 1 to " +
      std::to_string(Column::kMaxFieldNumber) +
      "), value, fixed(OFFSET,WIDTH), json:/POINTER, int:N, uint:N, float:N, words:N, "
      "ngrams(LENGTH):N (LENGTH from 1 to " +
      std::to_string(Column::kMaxNgramLength) +
      "), int32le(OFFSET) and the like; a pointer names at most " +
      std::to_string(Column::kMaxJsonDepth) +
      " members; delimiters as in field(,)[;]:N, two different bytes");
}

}  // namespace blocksieve::internal
