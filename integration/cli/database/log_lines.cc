#include "integration/cli/database/log_lines.h"

#include <algorithm>
#include <nlohmann/json.hpp>
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

bool Has(std::string_view line, std::string_view text) { return line.find(text) != line.npos; }

// A string of JSON, where .NET writes a quote as \u0022.
bool HasEscapedQuote(std::string_view line) { return Has(line, "\\\"") || Has(line, "\\u0022"); }

// An event in a CSV file.
bool HasDoubledQuote(std::string_view line) { return Has(line, "{\"\""); }

// Whether the quote that `rest` begins with ends a string of JSON.
bool EndsString(std::string_view rest) {
  const size_t next = rest.find_first_not_of(' ', 1);
  return next == rest.npos || Has(",}]", rest.substr(next, 1));
}

// rsyslog writes a line end as #012.
bool IsEscaped(std::string_view line) {
  return HasEscapedQuote(line) || HasDoubledQuote(line) || Has(line, "\\n") || Has(line, "\\u") ||
         Has(line, "#012");
}

std::string Unescape(std::string_view line) {
  const bool is_json = HasEscapedQuote(line);
  const bool is_csv = !is_json && HasDoubledQuote(line);
  std::string text;
  for (size_t i = 0; i < line.size(); ++i) {
    const std::string_view rest = line.substr(i);
    if (rest.starts_with("#012")) {
      text += '\n';
      i += 3;
    } else if (is_csv && rest.starts_with("\"\"")) {
      text += line[i++];
    } else if (is_json && rest[0] == '"' && EndsString(rest)) {
      text += '\n';
    } else if (rest[0] != '\\' || rest.size() == 1) {
      text += rest[0];
    } else if (rest[1] == 'u') {
      size_t size = 0;  // of code units of UTF-16, of which some need each other
      while (rest.size() >= size + 6 && rest.substr(size, 2) == "\\u") size += 6;
      const auto units =
          nlohmann::json::parse('"' + std::string(rest.substr(0, size)) + '"', nullptr,
                                /*allow_exceptions=*/false);
      text += units.is_string() && size != 0 ? units.get<std::string>() : "\\u";
      i += units.is_string() && size != 0 ? size - 1 : 1;
    } else {
      text += rest[1] == 'n' ? '\n' : rest[1] == 't' ? '\t' : rest[1];
      ++i;
    }
  }
  return text;
}

}  // namespace

LogLines::LogLines(const std::string& path) : file_(path) {
  const std::string line(file_.Next().value_or(""));
  for (const auto& [magic, what, command] : kForeignFormats) {
    if (!line.starts_with(magic)) continue;
    term::Fail("{} is {}; pass its text: {} {} | blocksieve advise --log -", name(), what, command,
               ShellWord(path));
  }
  AddLines(line, 0);
}

void LogLines::AddLines(std::string_view text, int depth) {
  // Containers' loggers escape what other loggers have escaped.
  constexpr int kMaxDepth = 3;
  for (size_t begin = 0, end = 0; begin <= text.size(); begin = end + 1) {
    end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = text.substr(begin, end - begin);
    if (depth < kMaxDepth && IsEscaped(line)) {
      AddLines(Unescape(line), depth + 1);
    } else {
      lines_.emplace_back(line);
    }
  }
}

bool LogLines::ReadLine() {
  const std::optional<std::string_view> line = file_.Next();
  if (line) AddLines(*line, 0);
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
