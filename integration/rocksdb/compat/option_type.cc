#include "integration/rocksdb/compat/option_type.h"

#include <string_view>

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

std::string MessageOf(const rocksdb::Status& status) {
  constexpr std::string_view kPrefix = "blocksieve: ";
  std::string_view message = status.getState() == nullptr ? "" : status.getState();
  if (message.starts_with(kPrefix)) message.remove_prefix(kPrefix.size());
  return message.empty() ? status.ToString() : std::string(message);
}

rocksdb::Status CheckGiven(std::initializer_list<std::pair<const char*, const void*>> arguments) {
  for (const auto& [name, address] : arguments) {
    if (address != nullptr) continue;
    return rocksdb::Status::InvalidArgument("blocksieve: argument " + std::string(name) +
                                            " is null; allowed: an address");
  }
  return rocksdb::Status::OK();
}

rocksdb::Status OptionOutOfRange(const std::string& name, const std::string& value,
                                 const std::string& allowed) {
  return rocksdb::Status::InvalidArgument("blocksieve: option " + name + " is " +
                                          (value.empty() ? "empty" : internal::Shown(value)) +
                                          "; allowed: " + allowed);
}

rocksdb::Status ParseInRange(const std::string& name, const std::string& text, double lowest,
                             double highest, double* number) {
  double value = 0;
  if (!FromText(text, &value) || !(value >= lowest && value <= highest)) {
    return OptionOutOfRange(name, text, ToText(lowest) + " to " + ToText(highest));
  }
  *number = value;
  return rocksdb::Status::OK();
}

rocksdb::Status ParseWhole(const std::string& name, const std::string& text, uint64_t highest,
                           uint64_t* number) {
  constexpr std::string_view kUnits = "kKmMgGtT";
  const size_t unit = text.empty() ? kUnits.npos : kUnits.find(text.back());
  const size_t shift = unit == kUnits.npos ? 0 : 10 * (unit / 2 + 1);
  uint64_t value = 0;
  if (!FromText(text.substr(0, text.size() - (shift == 0 ? 0 : 1)), &value) ||
      value > highest >> shift) {
    return OptionOutOfRange(name, text, "0 to " + ToText(highest));
  }
  *number = value << shift;
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

rocksdb::Status ParseTargetFpr(const std::string& name, const std::string& text,
                               double* target_fpr) {
  return ParseInRange(name, text, kMinTargetFpr, kMaxTargetFpr, target_fpr);
}

}  // namespace blocksieve::rocksdb_plugin
