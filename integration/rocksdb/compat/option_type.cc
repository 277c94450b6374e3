// SPDX-License-Identifier: Apache-2.0
#include "integration/rocksdb/compat/option_type.h"

#include <set>
#include <string_view>

#include "blocksieve/filter.h"
#include "blocksieve/sizing.h"
#include "lib/base/errors.h"

namespace blocksieve::rocksdb_plugin {

rocksdb::Status ToRocksStatus(const Status& status) {
  const std::string message = "blocksieve: " + status.message();
  switch (status.code()) {
    case StatusCode::kOk:
      return rocksdb::Status::OK();
    case StatusCode::kInvalidArgument:
      return rocksdb::Status::InvalidArgument(message);
    case StatusCode::kCorruption:
      return rocksdb::Status::Corruption(message);
    case StatusCode::kNotSupported:
      return rocksdb::Status::NotSupported(message);
    case StatusCode::kResourceExhausted:
      return rocksdb::Status::MemoryLimit(message);
  }
  return rocksdb::Status::Aborted(message);
}

std::string ToMessage(const rocksdb::Status& status) {
  constexpr std::string_view kPrefix = "blocksieve: ";
  std::string_view message = status.getState() == nullptr ? "" : status.getState();
  if (message.starts_with(kPrefix)) message.remove_prefix(kPrefix.size());
  return message.empty() ? status.ToString() : std::string(message);
}

rocksdb::Status CheckGiven(Arguments arguments) {
  for (const auto& [name, address] : arguments) {
    if (address != nullptr) continue;
    return rocksdb::Status::InvalidArgument("blocksieve: argument " + std::string(name) +
                                            " is null; allowed: an address");
  }
  return rocksdb::Status::OK();
}

rocksdb::Status OptionOutOfRange(const std::string& name, const std::string& value,
                                 const std::string& allowed, bool is_number) {
  return rocksdb::Status::InvalidArgument(
      "blocksieve: option " + name + " is " + (value.empty() ? "empty" : internal::Shown(value)) +
      (is_number ? "" : ", not a number") + "; allowed: " + allowed);
}

rocksdb::Status ParseInRange(const std::string& name, const std::string& text, double lowest,
                             double highest, double* number) {
  double value = 0;
  const bool is_number = FromText(text, &value);
  if (!is_number || !(value >= lowest && value <= highest)) {
    return OptionOutOfRange(name, text, ToText(lowest) + " to " + ToText(highest), is_number);
  }
  *number = value;
  return rocksdb::Status::OK();
}

namespace {

// Removes a unit from the end of the text and returns its size: 64k is 64 KiB, as in RocksDB.
uint64_t TakeUnit(std::string_view* text) {
  constexpr std::string_view kUnits = "kmgt";
  const bool has_bytes = text->ends_with('B');
  if (has_bytes) text->remove_suffix(1);
  const bool is_binary = has_bytes && text->ends_with('i');
  if (is_binary) text->remove_suffix(1);
  const char letter = text->empty() ? '\0' : static_cast<char>(text->back() | 0x20);
  const size_t power = kUnits.find(letter) + 1;  // npos + 1 is 0
  if (power != 0) text->remove_suffix(1);
  uint64_t size = 1;
  for (size_t i = 0; i < power; ++i) size *= has_bytes && !is_binary ? 1000 : 1024;
  return size;
}

}  // namespace

rocksdb::Status ParseWhole(const std::string& name, const std::string& text, uint64_t highest,
                           uint64_t* number) {
  std::string_view digits = text;
  const uint64_t unit = TakeUnit(&digits);
  uint64_t value = 0;
  // -1 is a number, but not a whole one.
  double real = 0;
  const bool is_whole = FromText(std::string(digits), &value);
  if (!is_whole || value > highest / unit) {
    return OptionOutOfRange(name, text, "0 to " + ToText(highest),
                            is_whole || FromText(text, &real));
  }
  *number = value * unit;
  return rocksdb::Status::OK();
}

rocksdb::Status ParseSwitch(const std::string& name, const std::string& text, bool* is_on) {
  *is_on = text == "true" || text == "1";
  if (*is_on || text == "false" || text == "0") return rocksdb::Status::OK();
  return OptionOutOfRange(name, text, "true, false");
}

rocksdb::OptionTypeInfo SwitchOption(size_t offset) {
  return OptionAsText<bool>(offset, ParseSwitch, SwitchText);
}

rocksdb::Status ParseOption(const rocksdb::ConfigOptions& config, const OptionTypes& types,
                            const std::string& name, const std::string& value, void* options) {
  const auto type = types.find(name);
  if (type != types.end()) return type->second.Parse(config, name, value, options);
  std::set<std::string> names;
  for (const auto& known : types) names.insert(known.first);
  std::string allowed = "id";
  for (const std::string& known : names) allowed += ", " + known;
  return rocksdb::Status::InvalidArgument("blocksieve: option " +
                                          internal::Shown(name + "=" + value) +
                                          " is unknown; allowed: " + allowed);
}

rocksdb::Status ParseTargetFpr(const std::string& name, const std::string& text,
                               double* target_fpr) {
  return ParseInRange(name, text, kMinTargetFpr, kMaxTargetFpr, target_fpr);
}

rocksdb::Status ParseRangeFpr(const std::string& name, const std::string& text, double* range_fpr) {
  return ParseInRange(name, text, kMinRangeFpr, kMaxRangeFpr, range_fpr);
}

rocksdb::Status ParsePrefixes(const std::string&, const std::string& text, std::string* prefixes) {
  if (text == "none" || text == "auto") {
    *prefixes = text == "none" ? "" : text;
    return rocksdb::Status::OK();
  }
  const Result<std::string> rule = CanonicalPrefixRule(text);
  if (rule.ok()) *prefixes = *rule;
  return ToRocksStatus(rule.status());
}

static std::string AsIs(const std::string& text) { return text; }

rocksdb::OptionTypeInfo PrefixesOption(size_t offset) {
  return OptionAsText<std::string>(offset, ParsePrefixes, AsIs);
}

}  // namespace blocksieve::rocksdb_plugin
