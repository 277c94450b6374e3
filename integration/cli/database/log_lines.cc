// SPDX-License-Identifier: Apache-2.0
#include "integration/cli/database/log_lines.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace blocksieve::cli {

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
  return lines_.empty() ? "" : lines_.front();
}

}  // namespace blocksieve::cli
