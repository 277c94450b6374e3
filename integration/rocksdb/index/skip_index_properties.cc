// SPDX-License-Identifier: Apache-2.0
#include "integration/rocksdb/index/skip_index_properties.h"

#include <new>

#include "blocksieve/sizing.h"
#include "integration/rocksdb/compat/log.h"
#include "lib/base/errors.h"

namespace blocksieve::rocksdb_plugin {
namespace {

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

const OptionTable& SkipIndexOptionTable() {
  const auto option = [](const OptionFacts& facts, auto get) {
    return OptionTable::Describe<SkipIndexSettings>(facts, get);
  };
  static const auto& table = *new OptionTable({
      option(
          {"columns", "the parts of values and keys that are indexed"},
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
          [](auto& settings) -> auto& { return settings.max_property_bytes; }),
      option(
          {"value_suffix_bytes",
           "bytes at the end of each value that are not indexed: 4 under DBWithTTL"},
          [](auto& settings) -> auto& { return settings.value_suffix_bytes; }),
  });
  return table;
}

}  // namespace blocksieve::rocksdb_plugin
