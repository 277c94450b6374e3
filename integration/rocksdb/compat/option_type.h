#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <rocksdb/convenience.h>
#include <rocksdb/status.h>
#include <rocksdb/utilities/options_type.h>

#include <array>
#include <charconv>
#include <initializer_list>
#include <limits>
#include <new>
#include <string>
#include <unordered_map>
#include <utility>

#include "blocksieve/status.h"

namespace blocksieve::rocksdb_plugin {

/// Makes RocksDB report names and options that it does not know instead of ignoring them.
inline rocksdb::ConfigOptions Strict() {
  rocksdb::ConfigOptions strict;
  strict.ignore_unsupported_options = false;
  strict.ignore_unknown_options = false;
  return strict;
}

/// Describes one option of type T to RocksDB: its offset in the options, Status parse(name, text,
/// T*) and string write(T). RocksDB omits an option whose text is empty.
template <class T, class Parse, class Write>
rocksdb::OptionTypeInfo OptionAsText(size_t offset, Parse parse, Write write) {
  using rocksdb::ConfigOptions;
  return rocksdb::OptionTypeInfo(
      static_cast<int>(offset), rocksdb::OptionType::kUnknown,
      rocksdb::OptionVerificationType::kNormal, rocksdb::OptionTypeFlags::kNone,
      [parse](const ConfigOptions&, const std::string& name, const std::string& text,
              void* address) { return parse(name, text, static_cast<T*>(address)); },
      [write](const ConfigOptions&, const std::string&, const void* address, std::string* text) {
        *text = write(*static_cast<const T*>(address));
        return rocksdb::Status::OK();
      },
      [](const ConfigOptions&, const std::string&, const void* a, const void* b, std::string*) {
        return *static_cast<const T*>(a) == *static_cast<const T*>(b);
      });
}

/// The shortest text that FromText reads as the same number. Independent of the locale.
template <class Number>
std::string ToText(Number number) {
  std::array<char, 32> buffer;
  const auto result = std::to_chars(buffer.data(), buffer.data() + buffer.size(), number);
  return {buffer.data(), result.ptr};
}

/// The RocksDB status of the same kind, with "blocksieve: " before the message.
rocksdb::Status ToRocksStatus(const Status& status);

/// The message of a status without its kind and without "blocksieve: ", for logs.
std::string ToMessage(const rocksdb::Status& status);

using Arguments = std::initializer_list<std::pair<const char*, const void*>>;  ///< By name.

/// InvalidArgument for the first argument that is null.
rocksdb::Status CheckGiven(Arguments arguments);

/// The body of a public function, which returns a Status: refuses null arguments, and returns
/// MemoryLimit if memory is short.
template <class Body>
rocksdb::Status PublicCall(Arguments arguments, const Body& body) try {
  rocksdb::Status given = CheckGiven(arguments);
  return given.ok() ? body() : given;
} catch (const std::bad_alloc&) {
  return rocksdb::Status::MemoryLimit();
}

/// InvalidArgument "option NAME is VALUE; allowed: ALLOWED". `is_number`: false for a text in place
/// of a number.
rocksdb::Status OptionOutOfRange(const std::string& name, const std::string& value,
                                 const std::string& allowed, bool is_number = true);

/// Parses the option `name`, a number in [lowest, highest]. Errors: OptionOutOfRange.
rocksdb::Status ParseInRange(const std::string& name, const std::string& text, double lowest,
                             double highest, double* number);

/// Parses a whole number up to `highest`, also as 64k, 8M, 64MiB or 10kB. Errors: OptionOutOfRange.
rocksdb::Status ParseWhole(const std::string& name, const std::string& text, uint64_t highest,
                           uint64_t* number);

/// The same for all numbers of type Whole.
template <class Whole>
rocksdb::Status ParseWhole(const std::string& name, const std::string& text, Whole* number) {
  uint64_t whole = *number;
  rocksdb::Status status = ParseWhole(name, text, std::numeric_limits<Whole>::max(), &whole);
  *number = static_cast<Whole>(whole);
  return status;
}

/// An option that is a whole number, at `offset` in the options.
template <class Whole>
rocksdb::OptionTypeInfo WholeOption(size_t offset) {
  return OptionAsText<Whole>(offset, &ParseWhole<Whole>, ToText<Whole>);
}

/// Parses true, 1, false or 0. RocksDB's own parser names no value in its errors.
rocksdb::Status ParseSwitch(const std::string& name, const std::string& text, bool* is_on);
inline const char* SwitchText(bool is_on) { return is_on ? "true" : "false"; }

/// A boolean option, at `offset` in the options.
rocksdb::OptionTypeInfo SwitchOption(size_t offset);

/// How RocksDB parses, writes and compares each option, by name.
using OptionTypes = std::unordered_map<std::string, rocksdb::OptionTypeInfo>;

/// Sets one of the `options` to a value. Errors: InvalidArgument, naming the option, its value and
/// what is allowed.
rocksdb::Status ParseOption(const rocksdb::ConfigOptions& config, const OptionTypes& types,
                            const std::string& name, const std::string& value, void* options);

/// Parses a target FPR, kMinTargetFpr to kMaxTargetFpr. Errors: OptionOutOfRange.
rocksdb::Status ParseTargetFpr(const std::string& name, const std::string& text,
                               double* target_fpr);

/// The same of a range filter, kMinRangeFpr to kMaxRangeFpr.
rocksdb::Status ParseRangeFpr(const std::string& name, const std::string& text, double* range_fpr);

/// Parses a rule of prefixes, as FilterPolicyOptions::prefixes. Errors: InvalidArgument.
rocksdb::Status ParsePrefixes(const std::string& name, const std::string& text,
                              std::string* prefixes);

/// An option that is such a rule, at `offset` in the options.
rocksdb::OptionTypeInfo PrefixesOption(size_t offset);

/// Returns whether all of `text` is a number in the range of `Number`.
template <class Number>
bool FromText(const std::string& text, Number* number) {
  const char* const end = text.data() + text.size();
  const auto [after, error] = std::from_chars(text.data(), end, *number);
  return error == std::errc() && after == end;
}

}  // namespace blocksieve::rocksdb_plugin
