#include "integration/rocksdb/policy_options.h"

#include <array>
#include <charconv>
#include <utility>

#include "blocksieve/sizing.h"

namespace blocksieve::rocksdb_plugin {
namespace {

using rocksdb::ConfigOptions;
using rocksdb::OptionTypeInfo;

constexpr std::array<std::pair<PolicyKind, const char*>, 3> kKinds{{
    {PolicyKind::kAuto, "auto"},
    {PolicyKind::kBloom, "bloom"},
    {PolicyKind::kRibbon, "ribbon"},
}};

rocksdb::Status OutOfRange(const std::string& name, const std::string& value,
                           const std::string& allowed) {
  return rocksdb::Status::InvalidArgument("blocksieve: " + name + " is " +
                                          (value.empty() ? "empty" : value) + "; allowed is " +
                                          allowed);
}

template <class Number>
std::string ToText(Number number) {
  std::array<char, 32> buffer;
  const auto result = std::to_chars(buffer.data(), buffer.data() + buffer.size(), number);
  return {buffer.data(), result.ptr};
}

template <class Number>
bool FromText(const std::string& text, Number* number) {
  const char* const end = text.data() + text.size();
  const auto [after, error] = std::from_chars(text.data(), end, *number);
  return error == std::errc() && after == end;
}

rocksdb::Status ParseKind(const std::string& text, PolicyKind* kind) {
  std::string allowed;
  for (const auto& [known, name] : kKinds) {
    if (text == name) {
      *kind = known;
      return rocksdb::Status::OK();
    }
    allowed += (allowed.empty() ? "" : ", ") + std::string(name);
  }
  return OutOfRange("kind", text, allowed);
}

const char* KindName(PolicyKind kind) {
  for (const auto& [known, name] : kKinds) {
    if (known == kind) return name;
  }
  return "unknown";
}

rocksdb::Status ParseBytes(const std::string& name, const std::string& text, uint64_t* bytes) {
  if (FromText(text, bytes)) return rocksdb::Status::OK();
  return OutOfRange(name, text, "0 (no limit) to 18446744073709551615");
}

// One option: where it lies in FilterPolicyOptions, how it is parsed and how it is written.
template <class T, class Parse, class Write>
OptionTypeInfo OptionType(size_t offset, Parse parse, Write write) {
  return OptionTypeInfo(
      static_cast<int>(offset), rocksdb::OptionType::kUnknown,
      rocksdb::OptionVerificationType::kNormal, rocksdb::OptionTypeFlags::kNone,
      [parse](const ConfigOptions&, const std::string&, const std::string& text, void* address) {
        return parse(text, static_cast<T*>(address));
      },
      [write](const ConfigOptions&, const std::string&, const void* address, std::string* text) {
        *text = write(*static_cast<const T*>(address));
        return rocksdb::Status::OK();
      },
      [](const ConfigOptions&, const std::string&, const void* a, const void* b, std::string*) {
        return *static_cast<const T*>(a) == *static_cast<const T*>(b);
      });
}

}  // namespace

rocksdb::Status ParseTargetFpr(const std::string& text, double* target_fpr) {
  double value = 0;
  if (!FromText(text, &value) || !(value >= kMinTargetFpr && value <= kMaxTargetFpr)) {
    return OutOfRange("target_fpr", text, ToText(kMinTargetFpr) + " to " + ToText(kMaxTargetFpr));
  }
  *target_fpr = value;
  return rocksdb::Status::OK();
}

rocksdb::Status ValidatePolicyOptions(const FilterPolicyOptions& options) {
  FilterPolicyOptions ignored;
  rocksdb::Status status = ParseTargetFpr(ToText(options.target_fpr), &ignored.target_fpr);
  if (status.ok()) status = ParseKind(KindName(options.kind), &ignored.kind);
  return status;
}

const std::unordered_map<std::string, OptionTypeInfo>& PolicyOptionTypes() {
  // Never destroyed: databases may be closed after static destructors began.
  static const auto& types = *new std::unordered_map<std::string, OptionTypeInfo>{
      {"target_fpr", OptionType<double>(offsetof(FilterPolicyOptions, target_fpr), ParseTargetFpr,
                                        ToText<double>)},
      {"kind", OptionType<PolicyKind>(offsetof(FilterPolicyOptions, kind), ParseKind, KindName)},
      {"max_build_bytes", OptionType<uint64_t>(
                              offsetof(FilterPolicyOptions, max_build_bytes),
                              [](const std::string& text, uint64_t* bytes) {
                                return ParseBytes("max_build_bytes", text, bytes);
                              },
                              ToText<uint64_t>)},
  };
  return types;
}

std::string PolicyOptionProblem(const ConfigOptions& config_options, const std::string& name,
                                const std::string& value) {
  const auto type = PolicyOptionTypes().find(name);
  if (type == PolicyOptionTypes().end()) {
    return "unknown filter policy option: " + name + "=" + value +
           "; known are target_fpr, kind, max_build_bytes";
  }
  FilterPolicyOptions ignored;
  const rocksdb::Status status = type->second.Parse(config_options, name, value, &ignored);
  return status.ok() ? "" : "invalid filter policy option: " + status.ToString();
}

std::string DescribePolicyOptions(const FilterPolicyOptions& options) {
  return "    target_fpr: " + ToText(options.target_fpr) + "\n    kind: " + KindName(options.kind) +
         "\n    max_build_bytes: " + ToText(options.max_build_bytes) + "\n";
}

}  // namespace blocksieve::rocksdb_plugin
