// SPDX-License-Identifier: Apache-2.0
#include "integration/rocksdb/index/skip_index_properties.h"

#include <new>

#include "blocksieve/sizing.h"
#include "integration/rocksdb/compat/log.h"
#include "lib/base/errors.h"

namespace blocksieve::rocksdb_plugin {
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

// The lines of a text without line ends; none if it is empty.
std::vector<std::string_view> SplitLines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

constexpr std::string_view kVersionLine = "version=1";

// The options of IdentityText, in its order.
constexpr const char* kIdentityOptions[] = {"block_granules",  "granule_rows",
                                            "granule_bytes",   "target_fpr",
                                            "max_index_bytes", "value_suffix_bytes"};

}  // namespace

std::string IdentityText(const SkipIndexSettings& settings) {
  std::string text = std::string(kVersionLine) + "\n";
  for (const std::string name : kIdentityOptions) {
    text += name + "=" + SkipIndexOptionTable()[name].write(&settings) + "\n";
  }
  for (const Column& column : settings.index.columns) text += column.ToText() + "\n";
  return text;
}

std::optional<SkipIndexSettings> ReadIdentityText(std::string_view text) {
  const std::vector<std::string_view> lines = SplitLines(text);
  if (lines.size() <= std::size(kIdentityOptions) || lines[0] != kVersionLine) return std::nullopt;
  SkipIndexSettings settings;
  size_t at = 1;
  for (const std::string name : kIdentityOptions) {
    const std::string line(lines[at++]);
    if (!line.starts_with(name + "=")) return std::nullopt;
    const std::string value = line.substr(name.size() + 1);
    if (!SkipIndexOptionTable()[name].parse(value, &settings).ok()) return std::nullopt;
  }
  for (const std::string_view line : ColumnLines(text)) {
    Result<Column> column = Column::Parse(line);
    // The text is no worse for a lack of memory, so nobody may remember that it is damaged.
    if (column.status().code() == StatusCode::kResourceExhausted) throw std::bad_alloc();
    if (!column.ok()) return std::nullopt;
    settings.index.columns.push_back(*std::move(column));
  }
  return settings;
}

std::vector<std::string_view> ColumnLines(std::string_view text) {
  std::vector<std::string_view> lines = SplitLines(text);
  lines.erase(lines.begin(),
              lines.begin() + std::min<ptrdiff_t>(1 + std::size(kIdentityOptions), lines.size()));
  return lines;
}

std::string_view FindProperty(const rocksdb::UserCollectedProperties& properties,
                              const char* name) {
  const auto found = properties.find(name);
  return found == properties.end() ? std::string_view() : std::string_view(found->second);
}

std::string BaseName(std::string_view path) {
  return std::string(path.substr(path.find_last_of('/') + 1));  // npos + 1 is 0
}

uint64_t ParseFileNumber(std::string_view path) {
  path.remove_prefix(path.find_last_of('/') + 1);
  uint64_t number = 0;
  std::from_chars(path.data(), path.data() + path.size(), number);
  return number;
}

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

const OptionTable& SkipIndexOptionTable() {
  const auto option = [](const OptionFacts& facts, auto get) {
    return OptionTable::Describe<SkipIndexSettings>(facts, get);
  };
  static const auto& table = *new OptionTable({
      option(
          {"columns", "the parts of the value that are indexed"},
          [](auto& settings) -> auto& { return settings.index.columns; }),
      option(
          {"target_fpr",
           "share of granules without a value that are read; lower than for keys, because most "
           "granules lack most values",
           kMinTargetFpr, kMaxTargetFpr},
          [](auto& settings) -> auto& { return settings.index.target_fpr; }),
      option(
          {"block_granules", "a granule is a data block"},
          [](auto& settings) -> auto& { return settings.index.block_granules; }),
      option(
          {"granule_rows", "rows of a granule that is not a block; 0: no limit"},
          [](auto& settings) -> auto& { return settings.index.granule_rows; }),
      option(
          {"granule_bytes", "bytes of such a granule; 0: no limit"},
          [](auto& settings) -> auto& { return settings.index.granule_bytes; }),
      option(
          {"max_index_bytes",
           "bytes of the index of a file, and 1/32 of the memory of building it; 0: no limit"},
          [](auto& settings) -> auto& { return settings.index.max_index_bytes; }),
      option(
          {"max_property_bytes", "a larger index is stored in a file beside the SST"},
          [](auto& settings) -> auto& { return settings.storage.max_property_bytes; }),
      option(
          {"value_suffix_bytes",
           "bytes at the end of each value that are not indexed: 4 under DBWithTTL"},
          [](auto& settings) -> auto& { return settings.storage.value_suffix_bytes; }),
  });
  return table;
}

}  // namespace blocksieve::rocksdb_plugin
