#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <rocksdb/convenience.h>
#include <rocksdb/status.h>
#include <rocksdb/utilities/options_type.h>

#include <charconv>
#include <functional>
#include <initializer_list>
#include <limits>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "blocksieve/column.h"
#include "blocksieve/status.h"
#include "lib/base/errors.h"

namespace blocksieve::rocksdb_plugin {

/// Makes RocksDB report names and options that it does not know instead of ignoring them.
inline rocksdb::ConfigOptions Strict() {
  rocksdb::ConfigOptions strict;
  strict.ignore_unsupported_options = false;
  strict.ignore_unknown_options = false;
  return strict;
}

/// The shortest text that FromText reads as the same number. Independent of the locale.
template <class Number>
std::string ToText(Number number) {
  return internal::ShortestText(number);
}

/// Returns whether all of `text` is a number in the range of `Number`.
template <class Number>
bool FromText(const std::string& text, Number* number) {
  const char* const end = text.data() + text.size();
  const auto [after, error] = std::from_chars(text.data(), end, *number);
  return error == std::errc() && after == end;
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

/// Whether `name` is `known` with at most this many letters inserted, deleted or replaced.
bool IsMisspelt(std::string_view name, std::string_view known, size_t max_mistakes = 2);

/// The largest ceiling for which a plan can be made.
inline constexpr uint64_t kMaxCeilingBytes = uint64_t{1} << 60;

/// An option of a struct, as OptionTable has it.
struct OptionFacts {
  const char* name;
  const char* meaning;  ///< For OPTIONS.md, in Markdown.
  double lowest = 0;    ///< Of a number that is not whole.
  double highest = 0;
};

/// @{
/// Parse the text of an option: a number in its range, or none for one that may be missing; a whole
/// number, also as 64k, 8M, 64MiB or 10kB; true, 1, false or 0; a rule of prefixes. Other types
/// have functions of the same names. Errors: InvalidArgument, naming the option, its value and what
/// is allowed. Columns are definitions, separated by '|', with punctuation as %XX; readers require
/// this only for '|', ';', '{', '}', '#' and '%'.
rocksdb::Status ParseValue(const OptionFacts& option, const std::string& text, double* number);
rocksdb::Status ParseValue(const OptionFacts& option, const std::string& text,
                           std::optional<double>* number);
rocksdb::Status ParseValue(const OptionFacts& option, const std::string& text, uint64_t* whole);
rocksdb::Status ParseValue(const OptionFacts& option, const std::string& text, uint32_t* whole);
rocksdb::Status ParseValue(const OptionFacts& option, const std::string& text,
                           std::optional<uint64_t>* whole);  ///< 1 to kMaxCeilingBytes.
rocksdb::Status ParseValue(const OptionFacts& option, const std::string& text, bool* is_on);
rocksdb::Status ParseValue(const OptionFacts& option, const std::string& text,
                           std::string* prefixes);
rocksdb::Status ParseValue(const OptionFacts& option, const std::string& text, ColumnList* columns);
/// @}

/// A list that ParseValue reads as these columns.
std::string WriteValue(const OptionFacts& option, const ColumnList& columns);

/// What ParseValue reads as the same value; empty: not set.
template <class T>
std::string WriteValue(const OptionFacts&, const T& value) {
  if constexpr (std::is_same_v<T, std::optional<double>> ||
                std::is_same_v<T, std::optional<uint64_t>>) {
    return value ? ToText(*value) : "";
  } else if constexpr (std::is_same_v<T, bool>) {
    return value ? "true" : "false";
  } else if constexpr (std::is_same_v<T, std::string>) {
    return value;
  } else {
    return ToText(value);
  }
}

/// What ParseValue allows, for a null pointer of the type; empty if its errors alone say it.
template <class T>
std::string AllowedValues(const OptionFacts& option, const T*) {
  if constexpr (std::is_same_v<T, bool>) {
    return "true, false";
  } else if constexpr (std::is_integral_v<T>) {
    return "0 to " + ToText(std::numeric_limits<T>::max());
  } else if constexpr (std::is_same_v<T, std::optional<uint64_t>>) {
    return "1 to " + ToText(kMaxCeilingBytes);
  } else if constexpr (std::is_same_v<T, std::string>) {
    return "";
  } else if constexpr (std::is_same_v<T, ColumnList>) {
    return "at most 256";
  } else {
    return internal::RangeText(option.lowest, option.highest);
  }
}

/// How RocksDB parses, writes and compares each option, by name.
using OptionTypes = std::unordered_map<std::string, rocksdb::OptionTypeInfo>;

/// The options of a struct: the one place that has their names, types, defaults, ranges and
/// meaning. Parsers, errors, printed options, the command's help and OPTIONS.md take them from it.
/// Functions with `options` REQUIRE the address of such a struct.
class OptionTable {
 public:
  struct Entry : OptionFacts {
    std::string allowed;
    std::string default_text;
    std::function<rocksdb::Status(const std::string& text, void* options)> parse;
    std::function<std::string(const void* options)> write;
  };

  /// Lives as long as the process: databases may be closed while static destructors run.
  explicit OptionTable(std::vector<Entry> entries);
  OptionTable(const OptionTable&) = delete;

  /// The entry of the option that `get`, a pointer to a member or a function, returns of the
  /// struct.
  template <class Options, class Get>
  static Entry Describe(const OptionFacts& facts, Get get) {
    using Value = std::remove_cvref_t<std::invoke_result_t<Get, Options&>>;
    Entry entry{facts, AllowedValues(facts, static_cast<const Value*>(nullptr)), "", {}, {}};
    entry.parse = [facts, get](const std::string& text, void* options) {
      return ParseValue(facts, text, &std::invoke(get, *static_cast<Options*>(options)));
    };
    entry.write = [facts, get](const void* options) {
      return WriteValue(facts, std::invoke(get, *static_cast<const Options*>(options)));
    };
    const Options defaults;
    entry.default_text = entry.write(&defaults);
    return entry;
  }

  const std::vector<Entry>& entries() const { return entries_; }

  /// The entries of some options, for a table of the same struct. REQUIRES: the table has them.
  std::vector<Entry> Select(std::initializer_list<const char*> names) const;

  /// REQUIRES: the table has the option.
  const Entry& operator[](std::string_view name) const;

  /// Sets an option. Errors: those of ParseValue, and of an unknown name, with the nearest one.
  rocksdb::Status Parse(const std::string& name, const std::string& text, void* options) const;

  /// Sets the options in "{id=ID;NAME=VALUE}", "ID" or "ID:<target_fpr>". Errors: InvalidArgument,
  /// naming the option, its value and what is allowed.
  rocksdb::Status ParseAll(const std::string& text, const std::string& id, void* options) const;

  /// Sets each option that is set in `from` to what it would be read back as; both may be one.
  /// Errors: those of ParseValue.
  rocksdb::Status Copy(const void* from, void* to) const;

  /// A line for each option that is set, as RocksDB's info log has those of a table.
  std::string Print(const void* options) const;

  const OptionTypes& types() const { return types_; }

 private:
  const std::vector<Entry> entries_;
  OptionTypes types_;
};

}  // namespace blocksieve::rocksdb_plugin
