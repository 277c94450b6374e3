#include <algorithm>
#include <cassert>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "lib/base/c_locale.h"
#include "lib/column/definition.h"
#include "lib/column/value_number.h"

namespace blocksieve::internal {
namespace {

// Listens to the parser until the member is complete; builds no document. A handler that returns
// false ends the parsing.
class MemberFinder {
 public:
  using number_integer_t = nlohmann::json::number_integer_t;
  using number_unsigned_t = nlohmann::json::number_unsigned_t;
  using number_float_t = nlohmann::json::number_float_t;
  using string_t = nlohmann::json::string_t;
  using binary_t = nlohmann::json::binary_t;

  MemberFinder(const ColumnDefinition& definition, ValueVisitor visit)
      : definition_(definition), visit_(visit) {}

  bool has_value() const noexcept { return has_value_; }

  bool null() { return Scalar(std::nullopt); }
  bool boolean(bool is_true) {
    return Scalar(definition_.type == ValueType::kBytes
                      ? std::optional<std::string_view>(is_true ? "true" : "false")
                      : std::nullopt);
  }
  bool number_integer(number_integer_t number) { return Scalar(Value::Int(number).ToText()); }
  bool number_unsigned(number_unsigned_t number) { return Scalar(Value::Uint(number).ToText()); }
  bool number_float(number_float_t, string_t text) {
    RestorePoint(&text);
    const bool is_whole =
        definition_.type == ValueType::kInt || definition_.type == ValueType::kUint;
    return is_whole ? Scalar(WholeNumberText(text)) : Scalar(text);
  }
  bool string(string_t& text) { return Scalar(text); }
  bool binary(binary_t&) { return false; }  // not in JSON text

  bool start_object(size_t) { return Start(false); }
  bool start_array(size_t) { return Start(true); }
  bool end_object() { return End(); }
  bool end_array() { return End(); }

  bool key(string_t& name) {
    if (depth_ == on_path_) is_next_ = name == definition_.path[on_path_ - 1];
    return true;
  }

  bool parse_error(size_t, const std::string&, const nlohmann::json::exception&) { return false; }

 private:
  // localeconv, where the parser looks, may have been overwritten by a thread of another locale.
  static void RestorePoint(std::string* number) {
    const auto is_other = [](char c) {
      return std::string_view("0123456789+-eE").find(c) == std::string_view::npos;
    };
    std::replace_if(number->begin(), number->end(), is_other, '.');
  }

  // Containers on the path, from the root, are 1..on_path_; below them are others, up to depth_.
  bool IsNext() noexcept {
    if (depth_ != on_path_) return false;
    if (depth_ == 0) return true;
    if (in_array_) is_next_ = std::to_string(index_++) == definition_.path[on_path_ - 1];
    return is_next_;
  }

  bool Scalar(std::optional<std::string_view> text) {
    if (is_member_array_) {
      return depth_ > on_path_ + 1 || Give(text);  // deeper elements are passed over
    }
    if (!IsNext()) return true;
    if (on_path_ == definition_.path.size()) Give(text);
    return false;  // this is the member, or the path cannot go on
  }

  bool Start(bool is_array) {
    if (++depth_ > Column::kMaxJsonDepth) return false;
    if (is_member_array_) return true;
    --depth_;
    const bool is_next = IsNext();
    ++depth_;
    if (!is_next) return true;
    if (on_path_ == definition_.path.size()) {
      is_member_array_ = is_array;
      return is_array;  // an object is no value
    }
    ++on_path_;
    in_array_ = is_array;
    index_ = 0;
    is_next_ = false;
    return true;
  }

  bool End() {
    const bool leaves_path = depth_ == on_path_;
    const bool leaves_member = is_member_array_ && depth_ == on_path_ + 1;
    --depth_;
    return !leaves_path && !leaves_member;
  }

  bool Give(std::optional<std::string_view> text) {
    if (!text) return true;
    const std::optional<Value> value = ReadValue(definition_.type, *text);
    if (!value) return true;
    has_value_ = true;
    return visit_(*value);
  }

  // 3.0 and 3e2 as the integers they are.
  static std::optional<std::string> WholeNumberText(const std::string& text) {
    const std::optional<Decimal> number = Decimal::Parse(text);
    if (!number || number->HasFraction() || !number->IntegerPart()) return std::nullopt;
    return (number->is_negative() ? "-" : "") + std::to_string(*number->IntegerPart());
  }

  const ColumnDefinition& definition_;
  ValueVisitor visit_;
  bool has_value_ = false;
  bool is_member_array_ = false;
  size_t depth_ = 0;
  size_t on_path_ = 0;
  bool in_array_ = false;  // of the innermost container on the path
  uint64_t index_ = 0;
  bool is_next_ = false;
};

}  // namespace

bool ForEachJsonValue(const ColumnDefinition& definition, std::string_view row,
                      ValueVisitor visit) {
  assert(definition.source == ColumnSource::kJson);
  const CLocale c_locale;  // the parser takes its decimal point from the locale
  MemberFinder finder(definition, visit);
  // The parser keeps its own stack and reports errors to the finder: it neither recurses nor
  // throws. It has an answer as soon as the finder has, whatever follows.
  (void)nlohmann::json::sax_parse(row.begin(), row.end(), &finder);
  return finder.has_value();
}

}  // namespace blocksieve::internal
