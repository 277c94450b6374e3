// SPDX-License-Identifier: Apache-2.0
#include "integration/rocksdb/compat/option_type.h"

#include <algorithm>
#include <set>

#include "blocksieve/filter.h"
#include "integration/rocksdb/compat/log.h"

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

bool IsMisspelt(std::string_view name, std::string_view known, size_t max_mistakes) {
  const size_t same = static_cast<size_t>(std::ranges::mismatch(name, known).in1 - name.begin());
  name.remove_prefix(same);
  known.remove_prefix(same);
  if (name.empty() || known.empty()) return name.size() + known.size() <= max_mistakes;
  return max_mistakes != 0 && (IsMisspelt(name.substr(1), known.substr(1), max_mistakes - 1) ||
                               IsMisspelt(name.substr(1), known, max_mistakes - 1) ||
                               IsMisspelt(name, known.substr(1), max_mistakes - 1));
}

rocksdb::Status ParseValue(const OptionFacts& option, const std::string& text, double* number) {
  double value = 0;
  const bool is_number = FromText(text, &value);
  if (!is_number || !(value >= option.lowest && value <= option.highest)) {
    return OptionOutOfRange(option.name, text, AllowedValues(option, number), is_number);
  }
  *number = value;
  return rocksdb::Status::OK();
}

rocksdb::Status ParseValue(const OptionFacts& option, const std::string& text,
                           std::optional<double>* number) {
  double value = 0;
  // SetOptions keeps the options of a policy of the same id unless they are set again, so an
  // earlier goal must be cleared where another one is set.
  const bool is_set = text != "none";
  if (is_set) BLOCKSIEVE_RETURN_IF_ERROR(ParseValue(option, text, &value));
  *number = is_set ? std::optional(value) : std::nullopt;
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

// `asked`: of the type that the error says the range of.
template <class Whole, class Asked>
rocksdb::Status ParseWhole(const OptionFacts& option, const std::string& text, Whole* number,
                           const Asked* asked) {
  std::string_view digits = text;
  const uint64_t unit = TakeUnit(&digits);
  uint64_t value = 0;
  // -1 is a number, but not a whole one.
  double real = 0;
  const bool is_whole = FromText(std::string(digits), &value);
  if (!is_whole || value > std::numeric_limits<Whole>::max() / unit) {
    return OptionOutOfRange(option.name, text, AllowedValues(option, asked),
                            is_whole || FromText(text, &real));
  }
  *number = static_cast<Whole>(value * unit);
  return rocksdb::Status::OK();
}

}  // namespace

rocksdb::Status ParseValue(const OptionFacts& option, const std::string& text, uint64_t* whole) {
  return ParseWhole(option, text, whole, whole);
}

rocksdb::Status ParseValue(const OptionFacts& option, const std::string& text, uint32_t* whole) {
  return ParseWhole(option, text, whole, whole);
}

rocksdb::Status ParseValue(const OptionFacts& option, const std::string& text,
                           std::optional<uint64_t>* whole) {
  uint64_t value = 0;
  const bool is_set = text != "none";
  if (is_set) BLOCKSIEVE_RETURN_IF_ERROR(ParseWhole(option, text, &value, whole));
  if (is_set && (value == 0 || value > kMaxCeilingBytes))
    return OptionOutOfRange(option.name, text, AllowedValues(option, whole));
  *whole = is_set ? std::optional(value) : std::nullopt;
  return rocksdb::Status::OK();
}

// RocksDB's own parser names no value in its errors.
rocksdb::Status ParseValue(const OptionFacts& option, const std::string& text, bool* is_on) {
  *is_on = text == "true" || text == "1";
  if (*is_on || text == "false" || text == "0") return rocksdb::Status::OK();
  return OptionOutOfRange(option.name, text, AllowedValues(option, is_on));
}

rocksdb::Status ParseValue(const OptionFacts&, const std::string& text, std::string* prefixes) {
  if (text == "none" || text == "auto") {
    *prefixes = text == "none" ? "" : text;
    return rocksdb::Status::OK();
  }
  const Result<std::string> rule = CanonicalPrefixRule(text);
  if (rule.ok()) *prefixes = *rule;
  return ToRocksStatus(rule.status());
}

namespace {

// Punctuation of option strings, of OPTIONS files (comments, escapes) and of the column list.
// Blanks at the ends of a definition are escaped too, as RocksDB would strip them.
constexpr std::string_view kEscaped = "=;{}#%|\\:,\"'";

rocksdb::Status Unescape(std::string_view text, std::string* plain) {
  plain->clear();
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      plain->push_back(text[i]);
      continue;
    }
    unsigned byte = 0;
    const char* const digits = text.data() + i + 1;
    if (i + 2 >= text.size() || std::from_chars(digits, digits + 2, byte, 16).ptr != digits + 2) {
      return OptionOutOfRange("columns", std::string(text), "% followed by two hex digits");
    }
    plain->push_back(static_cast<char>(byte));
    i += 2;
  }
  return rocksdb::Status::OK();
}

}  // namespace

std::string WriteValue(const OptionFacts&, const ColumnList& columns) {
  std::string text;
  for (const Column& column : columns) {
    const std::string definition = column.ToText();
    if (!text.empty()) text += '|';
    for (size_t i = 0; i < definition.size(); ++i) {
      const char c = definition[i];
      const bool is_outer = i == 0 || i + 1 == definition.size();
      if (kEscaped.find(c) == std::string_view::npos && !(c == ' ' && is_outer)) {
        text += c;
        continue;
      }
      constexpr std::string_view kDigits = "0123456789ABCDEF";
      text += '%';
      text += kDigits[static_cast<unsigned char>(c) / 16];
      text += kDigits[static_cast<unsigned char>(c) % 16];
    }
  }
  return text;
}

rocksdb::Status ParseValue(const OptionFacts&, const std::string& text, ColumnList* columns) {
  ColumnList read;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('|', begin), text.size());
    std::string definition;
    BLOCKSIEVE_RETURN_IF_ERROR(Unescape({text.data() + begin, end - begin}, &definition));
    Result<Column> column = Column::Parse(definition);
    if (!column.ok()) {
      // RocksDB may silently drop the factory, or continue without columns.
      LogLoudly(nullptr, "no skip indexes for new files; reason: ", column.status().message());
      return ToRocksStatus(column.status());
    }
    read.push_back(*std::move(column));
    begin = end + 1;
  }
  *columns = std::move(read);
  return rocksdb::Status::OK();
}

OptionTable::OptionTable(std::vector<Entry> entries) : entries_(std::move(entries)) {
  using rocksdb::ConfigOptions;
  for (const Entry& entry : entries_) {
    types_.emplace(
        entry.name,
        rocksdb::OptionTypeInfo(
            /*offset=*/0, rocksdb::OptionType::kUnknown, rocksdb::OptionVerificationType::kNormal,
            rocksdb::OptionTypeFlags::kNone,
            [&entry](const ConfigOptions&, const std::string&, const std::string& text,
                     void* options) { return entry.parse(text, options); },
            // RocksDB omits options whose text is empty.
            [&entry](const ConfigOptions&, const std::string&, const void* options,
                     std::string* text) {
              *text = entry.write(options);
              return rocksdb::Status::OK();
            },
            [&entry](const ConfigOptions&, const std::string&, const void* a, const void* b,
                     std::string*) { return entry.write(a) == entry.write(b); }));
  }
}

const OptionTable::Entry& OptionTable::operator[](std::string_view name) const {
  return *std::ranges::find(entries_, name, &Entry::name);
}

std::vector<OptionTable::Entry> OptionTable::Select(
    std::initializer_list<const char*> names) const {
  std::vector<Entry> entries;
  for (const char* const name : names) entries.push_back((*this)[name]);
  return entries;
}

rocksdb::Status OptionTable::Parse(const std::string& name, const std::string& text,
                                   void* options) const {
  const auto entry = std::ranges::find(entries_, name, &Entry::name);
  if (entry != entries_.end()) return entry->parse(text, options);
  std::set<std::string> names;
  std::string nearest;
  for (const Entry& known : entries_) {
    names.insert(known.name);
    if (IsMisspelt(name, known.name)) nearest = std::string("did you mean ") + known.name + "? ";
  }
  std::string allowed = "id";
  for (const std::string& known : names) allowed += ", " + known;
  return rocksdb::Status::InvalidArgument("blocksieve: option " +
                                          internal::Shown(name + "=" + text) + " is unknown; " +
                                          nearest + "allowed: " + allowed);
}

rocksdb::Status OptionTable::ParseAll(const std::string& text, const std::string& id,
                                      void* options) const {
  std::unordered_map<std::string, std::string> values;
  if (text.find('=') == std::string::npos) {
    values["id"] = text;
  } else if (const rocksdb::Status status = rocksdb::StringToMap(text, &values); !status.ok()) {
    return rocksdb::Status::InvalidArgument("blocksieve: options \"" + internal::Shown(text) +
                                            "\": " + internal::Shown(ToMessage(status)));
  }
  if (const auto given = values.extract("id"); given && given.mapped() != id) {
    if (!given.mapped().starts_with(id + ":")) return OptionOutOfRange("id", given.mapped(), id);
    values.emplace("target_fpr", given.mapped().substr(id.size() + 1));
  }
  for (const auto& [name, value] : values) BLOCKSIEVE_RETURN_IF_ERROR(Parse(name, value, options));
  return rocksdb::Status::OK();
}

rocksdb::Status OptionTable::Copy(const void* from, void* to) const {
  for (const Entry& entry : entries_) {
    const std::string text = entry.write(from);
    if (!text.empty()) BLOCKSIEVE_RETURN_IF_ERROR(entry.parse(text, to));
  }
  return rocksdb::Status::OK();
}

std::string OptionTable::Print(const void* options) const {
  std::string lines;
  for (const Entry& entry : entries_) {
    const std::string text = entry.write(options);
    if (!text.empty()) lines += std::string("    ") + entry.name + ": " + text + "\n";
  }
  return lines;
}

}  // namespace blocksieve::rocksdb_plugin
