// SPDX-License-Identifier: Apache-2.0
#include "integration/cli/database/log_lines.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "integration/cli/database/filter_options.h"
#include "integration/cli/term/terminal.h"

namespace blocksieve::cli {
namespace {

// Magic bytes, what they show, and the command that prints the text.
constexpr std::string_view kForeignFormats[][3] = {
    {"\x1f\x8b", "compressed by gzip", "zcat"},
    {"\x28\xb5\x2f\xfd", "compressed by zstd", "zstdcat"},
    {"\xfd\x37zXZ", "compressed by xz", "xzcat"},
    {"BZh", "compressed by bzip2", "bzcat"},
    {"\x04\x22\x4d\x18", "compressed by lz4", "lz4cat"},
    {"PK\x03\x04", "a zip archive", "unzip -p"},
    {"LPKSHHRH", "a journal of systemd", "journalctl --output=cat --file"},
    {"\xff\xfe", "in UTF-16", "iconv -f UTF-16 -t UTF-8"},
    {"\xfe\xff", "in UTF-16", "iconv -f UTF-16 -t UTF-8"},
    // Without a mark, a year.
    {{"\0002", 2}, "in UTF-16", "iconv -f UTF-16BE -t UTF-8"},
    {{"2\0", 2}, "in UTF-16", "iconv -f UTF-16LE -t UTF-8"}};

}  // namespace

LogLines::LogLines(const std::string& path) : file_(path) {
  if (!ReadLine()) lines_.emplace_back();
  for (const auto& [magic, what, command] : kForeignFormats) {
    if (!lines_.front().starts_with(magic)) continue;
    term::Fail("{} is {}; pass its text: {} {} | blocksieve advise --log -", name(), what, command,
               ShellWord(path));
  }
}

bool LogLines::ReadLine() {
  const std::optional<std::string_view> line = file_.Next();
  if (line) lines_.emplace_back(*line);
  return line.has_value();
}

bool LogLines::Next(std::string* line) {
  if (lines_.empty() && !ReadLine()) return false;
  *line = std::move(lines_.front());
  lines_.pop_front();
  return true;
}

std::string LogLines::BeginTime() {
  constexpr size_t kMaxLines = 100;
  constexpr std::string_view kTime = "0000/00/00-00:00:00";
  const auto fits = [](char byte, char pattern) {
    return pattern == '0' ? byte >= '0' && byte <= '9' : byte == pattern;
  };
  for (size_t i = 0; i < kMaxLines && (i < lines_.size() || ReadLine()); ++i) {
    const std::string& line = lines_[i];
    const auto found = std::search(line.begin(), line.end(), kTime.begin(), kTime.end(), fits);
    if (found != line.end()) return {found, line.end()};
  }
  return lines_.front();
}

}  // namespace blocksieve::cli
