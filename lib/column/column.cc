// SPDX-License-Identifier: Apache-2.0
#include "blocksieve/column.h"

#include <cstring>

#include "lib/base/errors.h"
#include "lib/column/definition.h"
#include "lib/column/tokens.h"
#include "lib/column/values.h"

namespace blocksieve {
namespace {

using internal::ColumnDefinition;
using internal::ColumnSource;

// Field `number`, counted from 1; nullopt if there are fewer.
/// The last field that was found in a row: later ones are looked for from there on.
struct FieldCursor {
  uint32_t number = 0;  // 0: none
  char delimiter = 0;
  const char* row = nullptr;
  const char* end = nullptr;  // of the field
};

// The field's end is the delimiter, or the end of the row.
const char* FindEnd(const char* begin, const char* end_of_row, char delimiter) {
  const auto left = static_cast<size_t>(end_of_row - begin);
  const void* const found = left == 0 ? nullptr : std::memchr(begin, delimiter, left);
  return found == nullptr ? end_of_row : static_cast<const char*>(found);
}

// nullopt if the row has fewer fields.
[[gnu::always_inline]] inline std::optional<std::string_view> Field(std::string_view row,
                                                                    uint32_t number, char delimiter,
                                                                    FieldCursor* cursor) {
  const char* const end_of_row = row.data() + row.size();
  const bool goes_on = cursor->number != 0 && cursor->number < number &&
                       cursor->row == row.data() && cursor->delimiter == delimiter;
  const char* begin = row.data();
  const char* end = goes_on ? cursor->end : FindEnd(begin, end_of_row, delimiter);
  for (uint32_t at = goes_on ? cursor->number : 1; at < number; ++at) {
    if (end == end_of_row) return std::nullopt;
    begin = end + 1;
    end = FindEnd(begin, end_of_row, delimiter);
  }
  *cursor = {number, delimiter, row.data(), end};
  return std::string_view(begin, static_cast<size_t>(end - begin));
}

std::optional<std::string_view> Slice(const ColumnDefinition& definition, std::string_view row) {
  if (definition.is_from_end) {
    if (row.size() < definition.offset) return std::nullopt;
    return row.substr(row.size() - definition.offset, definition.width);
  }
  // Both are at most kMaxOffset, so the sum does not overflow.
  if (row.size() < size_t{definition.offset} + definition.width) return std::nullopt;
  return row.substr(definition.offset, definition.width);
}

std::optional<Value> BinaryNumber(const ColumnDefinition& definition, std::string_view row) {
  const std::optional<std::string_view> bytes = Slice(definition, row);
  if (!bytes) return std::nullopt;
  uint64_t number = 0;
  for (size_t i = 0; i < bytes->size(); ++i) {
    const size_t at = definition.is_big_endian ? i : bytes->size() - 1 - i;
    number = number << 8 | static_cast<uint8_t>((*bytes)[at]);
  }
  const unsigned unused_bits = 64 - 8 * definition.width;
  if (definition.is_complemented) number = ~number << unused_bits >> unused_bits;
  if (definition.is_sign_flipped) number ^= uint64_t{1} << (63 - unused_bits);
  if (definition.type == ValueType::kUint) return Value::Uint(number);
  if (definition.type == ValueType::kInt) {
    return Value::Int(static_cast<int64_t>(number << unused_bits) >> unused_bits);
  }
  if (definition.width == 8) return Value::Float(std::bit_cast<double>(number));
  return Value::Float(std::bit_cast<float>(static_cast<uint32_t>(number)));
}

bool ForEachMember(const ColumnDefinition& definition, std::string_view row, ValueVisitor visit) {
  bool has_value = false;
  internal::JsonMembers::Scratch scratch;
  definition.member->Read(
      row,
      [&](size_t, const Value& value) {
        has_value = true;
        return visit(value);
      },
      &scratch);
  return has_value;
}

bool ForEachElement(const ColumnDefinition& definition, std::string_view text, ValueVisitor visit) {
  if (text.empty()) return false;  // an array without elements, not with one empty element
  bool has_value = false;
  while (true) {
    const size_t end = text.find(*definition.element_delimiter);
    if (const auto value = internal::ReadValue(definition.type, text.substr(0, end))) {
      has_value = true;
      if (!visit(*value)) break;
    }
    if (end == text.npos) break;
    text.remove_prefix(end + 1);
  }
  return has_value;
}

// Out of line: in its caller, the string would cost the other columns 20 instructions a row.
[[gnu::noinline]] bool ForEachFolded(const ColumnDefinition& definition, std::string_view text,
                                     ValueVisitor visit) {
  std::string folded;
  const auto fold = [&](const Value& value) {
    internal::Fold(value.bytes(), &folded);
    return visit(Value::Bytes(folded));
  };
  if (definition.element_delimiter) return ForEachElement(definition, text, fold);
  fold(Value::Bytes(text));
  return true;
}

}  // namespace

Result<Column> Column::Parse(std::string_view definition, char delimiter) try {
  BLOCKSIEVE_ASSIGN_OR_RETURN(ColumnDefinition parsed,
                              internal::ParseColumnDefinition(definition, delimiter));
  return Column(std::make_shared<const ColumnDefinition>(std::move(parsed)));
}
BLOCKSIEVE_CATCH_BAD_ALLOC

std::string Column::ToText() const { return internal::ColumnDefinitionText(*definition_); }

const std::string& Column::name() const noexcept { return definition_->name; }
const std::string& Column::key() const noexcept { return definition_->key; }
ValueType Column::type() const noexcept { return definition_->type; }
bool Column::is_of_key() const noexcept { return definition_->is_of_key; }
bool Column::has_tokens() const noexcept { return definition_->tokeniser != Tokeniser::kNone; }

void ColumnList::push_back(Item item) {
  if (item.column_.ok()) {
    columns_.push_back(*std::move(item.column_));
  } else if (status_.ok()) {
    status_ = item.column_.status();
  }
}

}  // namespace blocksieve

namespace blocksieve::internal {
namespace {

// ForEachCompared, inlined: it runs for each column of each row that is written.
template <class Visit>
inline bool VisitCompared(const ColumnDefinition& definition, const Row& of, FieldCursor* cursor,
                          const Visit& visit) {
  const std::string_view row = definition.is_of_key ? of.key : of.value;
  std::optional<std::string_view> text = row;
  switch (definition.source) {
    case ColumnSource::kJson:
      return ForEachMember(definition, row, visit);
    case ColumnSource::kBinary: {
      const std::optional<Value> number = BinaryNumber(definition, row);
      if (number) visit(*number);
      return number.has_value();
    }
    case ColumnSource::kField:
      text = Field(row, definition.field, definition.delimiter, cursor);
      break;
    case ColumnSource::kFixed:
      text = Slice(definition, row);
      break;
    case ColumnSource::kValue:
      break;
  }
  if (!text) return false;
  if (definition.is_folded) return ForEachFolded(definition, *text, visit);
  if (definition.element_delimiter) return ForEachElement(definition, *text, visit);
  if (definition.type == ValueType::kBytes) return visit(Value::Bytes(*text)), true;
  const std::optional<Value> value = ReadValue(definition.type, *text);
  if (value) visit(*value);
  return value.has_value();
}

}  // namespace

bool ForEachCompared(const Column& column, const Row& row, ValueVisitor visit) {
  FieldCursor cursor;
  return VisitCompared(column.definition(), row, &cursor, visit);
}

bool ForEachToken(const Column& column, const Value& value, ValueVisitor visit) {
  const auto visit_token = [&](std::string_view token) { return visit(Value::Bytes(token)); };
  switch (column.definition().tokeniser) {
    case Tokeniser::kWords:
      return ForEachWord(value.bytes(), visit_token);
    case Tokeniser::kNgrams:
      return ForEachNgram(value.bytes(), column.definition().ngram_length, visit_token);
    case Tokeniser::kNone:
      break;
  }
  return visit(value);
}

bool ForEachIndexed(const Column& column, const Row& row, ValueVisitor visit) {
  return ForEachCompared(column, row,
                         [&](const Value& value) { return ForEachToken(column, value, visit); });
}

ColumnSet::ColumnSet(std::span<const Column> columns) : columns_(columns.begin(), columns.end()) {
  for (size_t i = 0; i < columns_.size(); ++i) {
    const ColumnDefinition& definition = columns_[i].definition();
    has_tokens_.push_back(columns_[i].has_tokens());
    has_key_columns_ |= definition.is_of_key;
    if (definition.source != ColumnSource::kJson) continue;
    members_.Add(i, definition);
  }
}

template <class Visit>
void ColumnSet::Read(const Row& row, bool has_value, const Visit& visit) {
  if (has_value && !members_.IsEmpty()) members_.Read(row.value, visit, &scratch_);
  FieldCursor cursor;
  for (size_t i = 0; i < columns_.size(); ++i) {
    const ColumnDefinition& definition = columns_[i].definition();
    if (definition.source == ColumnSource::kJson) continue;
    if (!has_value && !definition.is_of_key) continue;
    VisitCompared(definition, row, &cursor, [&](const Value& value) { return visit(i, value); });
  }
}

void ColumnSet::ForEachCompared(const Row& row, ColumnVisitor visit) { Read(row, true, visit); }

void ColumnSet::ForEachIndexed(const Row& row, bool has_value, ColumnVisitor visit) {
  Read(row, has_value, [&](size_t column, const Value& value) {
    if (has_tokens_[column] == 0) return visit(column, value), true;
    ForEachToken(columns_[column], value, [&](const Value& token) { return visit(column, token); });
    return true;
  });
}

}  // namespace blocksieve::internal
