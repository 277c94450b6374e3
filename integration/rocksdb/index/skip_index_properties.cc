#include "integration/rocksdb/index/skip_index_properties.h"

#include "integration/rocksdb/compat/option_type.h"

namespace blocksieve::rocksdb_plugin {
std::string ColumnsText(const std::vector<Column>& columns) {
  std::string text;
  for (const Column& column : columns) text += column.ToText() + "\n";
  return text;
}

std::string IdentityText(const SkipIndexOptions& options) {
  return "version=" + std::string(kPropertiesVersion) +
         "\nblock_granules=" + (options.block_granules ? "true" : "false") +
         "\ngranule_rows=" + ToText(options.granule_rows) +
         "\ngranule_bytes=" + ToText(options.granule_bytes) +
         "\ntarget_fpr=" + ToText(options.target_fpr) +
         "\nmax_index_bytes=" + ToText(options.max_index_bytes) +
         "\nvalue_suffix_bytes=" + ToText(options.value_suffix_bytes) + "\n" +
         ColumnsText(options.columns);
}

std::optional<SkipIndexOptions> ReadIdentityText(std::string_view text) {
  std::vector<std::string_view> lines = SplitLines(text);
  size_t at = 0;
  const auto take = [&](std::string_view name, auto* value) {
    if (at == lines.size() || !lines[at].starts_with(name)) return false;
    return FromText(std::string(lines[at++].substr(name.size())), value);
  };
  SkipIndexOptions options;
  uint64_t version = 0;
  std::string_view flag;
  if (!take("version=", &version) || ToText(version) != kPropertiesVersion) return std::nullopt;
  if (at < lines.size()) flag = lines[at++];
  options.block_granules = flag == "block_granules=true";
  if (!options.block_granules && flag != "block_granules=false") return std::nullopt;
  if (!take("granule_rows=", &options.granule_rows) ||
      !take("granule_bytes=", &options.granule_bytes) ||
      !take("target_fpr=", &options.target_fpr) ||
      !take("max_index_bytes=", &options.max_index_bytes) ||
      !take("value_suffix_bytes=", &options.value_suffix_bytes)) {
    return std::nullopt;
  }
  for (; at < lines.size(); ++at) {
    Result<Column> column = Column::Parse(lines[at]);
    if (!column.ok()) return std::nullopt;
    options.columns.push_back(*std::move(column));
  }
  return options;
}

std::vector<std::string_view> SplitLines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::string_view FindProperty(const rocksdb::UserCollectedProperties& properties,
                              const char* name) {
  const auto found = properties.find(name);
  return found == properties.end() ? std::string_view() : std::string_view(found->second);
}

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

std::string FileNameOf(std::string_view path) {
  return std::string(path.substr(path.find_last_of('/') + 1));  // npos + 1 is 0
}

uint64_t FileNumberOf(std::string_view path) {
  path.remove_prefix(path.find_last_of('/') + 1);
  uint64_t number = 0;
  std::from_chars(path.data(), path.data() + path.size(), number);
  return number;
}

}  // namespace blocksieve::rocksdb_plugin
