// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "lib/base/c_locale.h"
#include "lib/column/definition.h"
#include "lib/column/tokens.h"
#include "lib/column/values.h"

namespace blocksieve::internal {
namespace {

/// The index of an array element that `name` spells, such as "0" or "17".
std::optional<uint64_t> ElementIndex(const std::string& name) {
  const std::optional<Value> number = ReadValue(ValueType::kUint, name);
  if (!number || number->ToText() != name) return std::nullopt;
  return number->as_uint();
}

// These visit a number or text if it is a value of the column's type, and return whether to
// continue. A std::optional<Value> would be copied from function to function.

/// REQUIRES: 0 is not negative. `text` is a buffer for the value's bytes.
template <class Visit>
bool VisitInteger(ValueType type, bool is_negative, uint64_t magnitude, std::string* text,
                  const Visit& visit) {
  constexpr auto kMaxInt64 = static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
  switch (type) {
    case ValueType::kInt:
      if (magnitude > kMaxInt64 + (is_negative ? 1 : 0)) return true;
      return visit(Value::Int(static_cast<int64_t>(is_negative ? 0 - magnitude : magnitude)));
    case ValueType::kUint:
      return is_negative || visit(Value::Uint(magnitude));
    case ValueType::kFloat:
      return visit(Value::Float(is_negative ? -static_cast<double>(magnitude)
                                            : static_cast<double>(magnitude)));
    case ValueType::kBytes:
      break;
  }
  *text = is_negative ? "-" : "";
  *text += std::to_string(magnitude);
  return visit(Value::Bytes(*text));
}

template <class Visit>
bool VisitText(ValueType type, std::string_view text, const Visit& visit) {
  if (type == ValueType::kBytes) return visit(Value::Bytes(text));
  const std::optional<Value> value = ReadValue(type, text);
  return !value || visit(*value);
}

}  // namespace

/// SAX handler that stops when all columns have their values; builds no document. A handler that
/// returns false ends the parsing.
class MemberReader {
 public:
  using number_integer_t = nlohmann::json::number_integer_t;
  using number_unsigned_t = nlohmann::json::number_unsigned_t;
  using number_float_t = nlohmann::json::number_float_t;
  using string_t = nlohmann::json::string_t;
  using binary_t = nlohmann::json::binary_t;

  MemberReader(const JsonMembers& members, ColumnVisitor visit, JsonMembers::Scratch* scratch,
               std::optional<Visitor<size_t>> finish)
      : members_(members),
        visit_(visit),
        finish_(finish),
        scratch_(*scratch),
        pending_(members.num_columns_) {
    scratch_.open.clear();
    scratch_.is_visited.assign(members.nodes_.size(), 0);
    scratch_.is_done.assign(members.types_.size(), 0);
  }

  bool null() {
    return AddScalar([](ValueType, const auto&) { return true; });
  }
  bool boolean(bool is_true) {
    return AddScalar([&](ValueType type, const auto& visit) {
      return type != ValueType::kBytes || visit(Value::Bytes(is_true ? "true" : "false"));
    });
  }
  bool number_integer(number_integer_t number) {
    const auto bits = static_cast<uint64_t>(number);
    return AddInteger(number < 0, number < 0 ? 0 - bits : bits);
  }
  bool number_unsigned(number_unsigned_t number) { return AddInteger(false, number); }
  bool number_float(number_float_t, string_t text) {
    RestorePoint(&text);
    return AddScalar([&](ValueType type, const auto& visit) {
      if (type != ValueType::kInt && type != ValueType::kUint) return VisitText(type, text, visit);
      // An integer in floating-point spelling: 3.0, 3e2.
      const std::optional<Decimal> number = Decimal::Parse(text);
      if (!number || number->HasFraction() || !number->IntegerPart()) return true;
      return VisitInteger(type, number->is_negative(), *number->IntegerPart(), &scratch_.text,
                          visit);
    });
  }
  bool string(string_t& text) {
    return AddScalar(
        [&](ValueType type, const auto& visit) { return VisitText(type, text, visit); });
  }
  bool binary(binary_t&) { return false; }  // not in JSON text

  bool start_object(size_t) { return Start(false); }
  bool start_array(size_t) { return Start(true); }
  bool end_object() { return End(); }
  bool end_array() { return End(); }

  bool key(string_t& name) {
    if (skipped_depth_ != 0) return true;
    Open& object = scratch_.open.back();
    object.next = JsonMembers::kNoNode;
    const std::vector<size_t>& children = NodeOf(object).children;
    // Most documents have their members in the same order, so try the next one first.
    for (size_t tries = 0; tries < children.size(); ++tries) {
      if (object.guess >= children.size()) object.guess = 0;
      const size_t child = children[object.guess++];
      if (members_.nodes_[child].name != name) continue;
      object.next = child;
      break;
    }
    return true;
  }

  bool parse_error(size_t, const std::string&, const nlohmann::json::exception&) { return false; }

 private:
  using Node = JsonMembers::Node;
  using Open = JsonMembers::Scratch::Open;

  // A thread with another locale may have overwritten localeconv(), which the parser uses.
  static void RestorePoint(std::string* number) {
    const auto is_other = [](char c) {
      return std::string_view("0123456789+-eE").find(c) == std::string_view::npos;
    };
    std::replace_if(number->begin(), number->end(), is_other, '.');
  }

  const Node& NodeOf(const Open& open) const { return members_.nodes_[open.node]; }

  // The member that begins here, if columns use it and it is the first with its name.
  size_t NextNode() {
    size_t node = JsonMembers::kNoNode;
    if (scratch_.open.empty()) {
      node = 0;
    } else if (Open& around = scratch_.open.back(); around.is_array) {
      const uint64_t index = around.next_index++;
      for (const size_t child : NodeOf(around).children) {
        if (members_.nodes_[child].index == index) node = child;
      }
    } else {
      node = around.next;
    }
    if (node == JsonMembers::kNoNode || scratch_.is_visited[node] != 0) return JsonMembers::kNoNode;
    scratch_.is_visited[node] = 1;
    return node;
  }

  bool AddInteger(bool is_negative, uint64_t magnitude) {
    return AddScalar([&](ValueType type, const auto& visit) {
      return VisitInteger(type, is_negative, magnitude, &scratch_.text, visit);
    });
  }

  // Adds a value that is neither array nor object. `visit_as(type, visit)` visits it as a value of
  // the type, if it is one, and returns whether to continue.
  template <class VisitAs>
  bool AddScalar(const VisitAs& visit_as) {
    if (skipped_depth_ != 0) return true;
    if (!scratch_.open.empty() && scratch_.open.back().is_array) {
      Visit(NodeOf(scratch_.open.back()), visit_as);  // an element
    }
    if (const size_t node = NextNode(); node != JsonMembers::kNoNode) {
      Visit(members_.nodes_[node], visit_as);
      Finish(members_.nodes_[node].below);  // a scalar has no members
    }
    return pending_ != 0;
  }

  bool Start(bool is_array) {
    if (scratch_.open.size() + ++skipped_depth_ > Column::kMaxJsonDepth) return false;
    if (skipped_depth_ > 1) return true;
    const size_t node = NextNode();
    if (node == JsonMembers::kNoNode) return true;
    skipped_depth_ = 0;
    scratch_.open.push_back({.node = node, .is_array = is_array});
    if (!is_array) Finish(members_.nodes_[node].columns);  // an object is no value
    return pending_ != 0;
  }

  bool End() {
    if (skipped_depth_ != 0) {
      --skipped_depth_;
      return true;
    }
    Finish(NodeOf(scratch_.open.back()).below);
    scratch_.open.pop_back();
    return pending_ != 0;
  }

  template <class VisitAs>
  void Visit(const Node& node, const VisitAs& visit_as) {
    for (const size_t column : node.columns) {
      if (scratch_.is_done[column] != 0) continue;
      const std::pair<ValueType, bool>& type = members_.types_[column];
      const auto visit = [&](const Value& value) {
        if (!type.second) return visit_(column, value);
        Fold(value.bytes(), &scratch_.folded);
        return visit_(column, Value::Bytes(scratch_.folded));
      };
      if (!visit_as(type.first, visit)) Finish(column);
    }
  }

  void Finish(const std::vector<size_t>& columns) {
    for (const size_t column : columns) Finish(column);
  }
  void Finish(size_t column) {
    if (scratch_.is_done[column] != 0) return;
    scratch_.is_done[column] = 1;
    --pending_;
    if (!finish_ || (*finish_)(column)) return;
    std::fill(scratch_.is_done.begin(), scratch_.is_done.end(), uint8_t{1});
    pending_ = 0;
  }

  const JsonMembers& members_;
  ColumnVisitor visit_;
  std::optional<Visitor<size_t>> finish_;
  JsonMembers::Scratch& scratch_;
  size_t pending_;            // columns that may get more values
  size_t skipped_depth_ = 0;  // open levels inside a member that no column uses
};

void JsonMembers::Add(size_t column, const ColumnDefinition& definition) {
  if (types_.size() <= column) types_.resize(column + 1);
  types_[column] = {definition.type, definition.is_folded};
  ++num_columns_;
  size_t at = 0;
  nodes_[at].below.push_back(column);
  for (const std::string& name : definition.path) {
    const auto& children = nodes_[at].children;
    const auto found = std::find_if(children.begin(), children.end(),
                                    [&](size_t child) { return nodes_[child].name == name; });
    size_t next = nodes_.size();
    if (found != children.end()) {
      next = *found;
    } else {
      nodes_[at].children.push_back(next);
      nodes_.push_back({name, ElementIndex(name), {}, {}, {}});
    }
    at = next;
    nodes_[at].below.push_back(column);
  }
  nodes_[at].columns.push_back(column);
}

void JsonMembers::Read(std::string_view document, ColumnVisitor visit, Scratch* scratch,
                       std::optional<Visitor<size_t>> finish) const {
  const CLocale c_locale;  // the parser's decimal point is that of the locale
  MemberReader reader(*this, visit, scratch, finish);
  // The parser has its own stack and reports errors to the reader: it neither recurses nor throws.
  // Values are visited at once, so later errors do not affect them.
  (void)nlohmann::json::sax_parse(document.begin(), document.end(), &reader);
}

}  // namespace blocksieve::internal
