#include "lib/column/definition.h"

#include <algorithm>

namespace blocksieve::internal {

bool IsControl(char c) noexcept { return static_cast<uint8_t>(c) < 0x20 || c == 0x7f; }

std::string DelimiterText(char c) {
  if (c == '\\') return "\\\\";
  if (c == '\t') return "\\t";
  if (c == '\n') return "\\n";
  const uint8_t byte = static_cast<uint8_t>(c);
  if (byte >= 0x20 && byte < 0x7f) return std::string(1, c);
  constexpr std::string_view kHex = "0123456789abcdef";
  return {'\\', 'x', kHex[byte >> 4], kHex[byte & 15]};
}

std::string BinaryTypeText(const ColumnDefinition& definition) {
  std::string text(ValueTypeName(definition.type));
  text += std::to_string(8 * definition.width);
  if (definition.width > 1) text += definition.is_big_endian ? "be" : "le";
  return text;
}

namespace {

// "int:" and the like; empty for plain bytes and for binary numbers, whose source says it.
std::string ReadingText(const ColumnDefinition& definition) {
  if (definition.tokeniser == Tokeniser::kWords) return "words:";
  if (definition.tokeniser == Tokeniser::kNgrams) {
    return "ngrams(" + std::to_string(definition.ngram_length) + "):";
  }
  const bool is_plain =
      definition.type == ValueType::kBytes || definition.source == ColumnSource::kBinary;
  return is_plain ? "" : std::string(ValueTypeName(definition.type)) + ":";
}

}  // namespace

bool IsColumnName(std::string_view name) noexcept {
  return !name.empty() && name.size() <= Column::kMaxNameBytes &&
         std::none_of(name.begin(), name.end(),
                      [](char c) { return c == '=' || c == '"' || IsControl(c); });
}

std::string ColumnDefinitionText(const ColumnDefinition& definition) {
  const std::string reading = ReadingText(definition);
  std::string text = definition.name + "=" + reading;
  std::string elements;
  if (definition.element_delimiter) {
    elements = "[" + DelimiterText(*definition.element_delimiter) + "]";
  }
  switch (definition.source) {
    case ColumnSource::kValue:
      return text + "value" + elements;
    case ColumnSource::kFixed:
      return text + "fixed(" + std::to_string(definition.offset) + "," +
             std::to_string(definition.width) + ")" + elements;
    case ColumnSource::kBinary:
      return text + BinaryTypeText(definition) + "(" + std::to_string(definition.offset) + ")";
    case ColumnSource::kJson:
      return text + "json:" + definition.pointer;
    case ColumnSource::kCallback:
      if (reading.empty()) text += "bytes:";
      return text + "callback:" + definition.callback_name;
    case ColumnSource::kField:
      break;
  }
  const bool is_tab = definition.delimiter == '\t';
  if (reading.empty() || !is_tab || definition.element_delimiter) {
    text += "field";
    if (!is_tab) text += "(" + DelimiterText(definition.delimiter) + ")";
    text += elements + ":";
  }
  return text + std::to_string(definition.field);
}

}  // namespace blocksieve::internal
