// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>
#include <set>

#include "blocksieve/column.h"
#include "lib/column/values.h"
#include "tests/fuzz/fuzz.h"

// Input: a JSON pointer; a line end; a row. Any row can be read. If it is JSON, its values are
// those that a parser of whole documents finds at the pointer.

namespace blocksieve::testing {
namespace {

using Json = nlohmann::json;

// The document, unless its meaning depends on the reader: if a name occurs twice in an object or it
// is nested deeper than a column reads, nothing.
std::optional<Json> ReadDocument(std::string_view row) {
  bool is_plain = true;
  std::vector<std::set<std::string>> names;
  const auto look = [&](int depth, Json::parse_event_t event, Json& parsed) {
    is_plain &= depth < static_cast<int>(Column::kMaxJsonDepth);
    if (event == Json::parse_event_t::object_start) names.emplace_back();
    if (event == Json::parse_event_t::object_end) names.pop_back();
    if (event == Json::parse_event_t::key) {
      is_plain &= names.back().insert(parsed.get<std::string>()).second;
    }
    return true;
  };
  Json document = Json::parse(row, look, /*allow_exceptions=*/false);
  if (document.is_discarded() || !is_plain) return std::nullopt;
  return std::make_optional(std::move(document));  // not by its conversion to any type
}

const Json* Find(const Json& document, const std::string& pointer) try {
  return &document.at(Json::json_pointer(pointer));
} catch (const Json::exception&) {
  return nullptr;
}

// Stands for any float: columns see its text, which the document does not keep.
constexpr std::string_view kSomeFloat = "float";

std::vector<std::string> ExpectedTexts(const Json& member) {
  std::vector<std::string> texts;
  for (const Json& value : member.is_array() ? member : Json::array({member})) {
    if (value.is_string()) {
      texts.push_back(value.get<std::string>());
    } else if (value.is_number_float()) {
      texts.emplace_back(kSomeFloat);
    } else if (value.is_boolean() || value.is_number()) {
      texts.push_back(value.dump());
    }
  }
  return texts;
}

std::vector<std::string> ReadTexts(const Column& column, std::string_view row) {
  std::vector<std::string> texts;
  const bool has_value = internal::ForEachCompared(column, row, [&](const Value& value) {
    texts.emplace_back(value.bytes());
    return true;
  });
  Require(has_value == !texts.empty(), "a row has a column if it has a value");
  return texts;
}

bool SameTexts(const std::vector<std::string>& expected, const std::vector<std::string>& texts) {
  if (texts.size() != expected.size()) return false;
  for (size_t i = 0; i < texts.size(); ++i) {
    if (expected[i] != kSomeFloat && texts[i] != expected[i]) return false;
  }
  return true;
}

}  // namespace

void TestOneInput(ByteView bytes) {
  std::string_view row = AsText(bytes);
  const std::string pointer(Cut(&row, "\n"));
  for (const char* type : {"int:", "uint:", "float:", "words:"}) {
    const auto column = Column::Parse("c=" + (type + ("json:" + pointer)));
    if (column.ok()) internal::ForEachIndexed(*column, row, [](const Value&) { return true; });
  }
  const Result<Column> column = Column::Parse("c=json:" + pointer);
  if (!column.ok()) return;
  const std::vector<std::string> texts = ReadTexts(*column, row);
  const std::optional<Json> document = ReadDocument(row);
  if (!document) return;
  const Json* const member = Find(*document, pointer);
  Require(SameTexts(member == nullptr ? std::vector<std::string>() : ExpectedTexts(*member), texts),
          "the values are those that a parser of whole documents finds");
}

}  // namespace blocksieve::testing
