#include "integration/cli/database/options_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <rocksdb/env.h>
#include <rocksdb/utilities/options_util.h>

#include <algorithm>
#include <charconv>
#include <sstream>
#include <string_view>
#include <utility>

#include "integration/cli/term/failure.h"
#include "integration/cli/term/text.h"

namespace blocksieve::cli {
namespace {

constexpr std::string_view kPrefix = "OPTIONS-";

std::string_view Trimmed(std::string_view text) {
  constexpr const char* kSpace = " \t\r";
  text.remove_prefix(std::min(text.find_first_not_of(kSpace), text.size()));
  return text.substr(0, text.find_last_not_of(kSpace) + 1);
}

bool Sets(std::string_view line, std::string_view option) {
  const size_t equals = line.find('=');
  return equals != std::string_view::npos && Trimmed(line.substr(0, equals)) == option;
}

std::string ValueIn(std::string_view line) {
  return std::string(Trimmed(line.substr(line.find('=') + 1)));
}

}  // namespace

std::optional<uint64_t> OptionsFileNumber(std::string_view name) {
  uint64_t number = 0;
  if (!name.starts_with(kPrefix)) return std::nullopt;
  const char* const end = name.data() + name.size();
  const auto [rest, error] = std::from_chars(name.data() + kPrefix.size(), end, number);
  return error == std::errc() && rest == end ? std::optional(number) : std::nullopt;
}

std::vector<std::string> OptionsFileNames(const std::string& database, std::string_view prefix) {
  std::vector<std::string> names;
  rocksdb::Env::Default()->GetChildren(database, &names).PermitUncheckedError();
  const auto number = [&](std::string_view name) {
    return OptionsFileNumber(name.substr(name.starts_with(prefix) ? prefix.size() : name.size()));
  };
  std::erase_if(names, [&](const std::string& name) { return !number(name); });
  std::ranges::sort(names, {}, number);
  return names;
}

void FailFamily(const std::string& family, const std::vector<std::string>& known) {
  term::Fail("--column-family is {}, which does not exist; allowed: {}", term::Shown(family),
             fmt::join(known, ", "));
}

std::optional<OptionsFile> OptionsFile::FindLatest(const std::string& database) {
  // Another process may write a new OPTIONS file and delete the old one before it was read.
  constexpr int kMaxTries = 3;
  for (int tries = 1;; ++tries) {
    std::string name;
    const rocksdb::Status status =
        rocksdb::GetLatestOptionsFileName(database, rocksdb::Env::Default(), &name);
    if (status.IsNotFound()) return std::nullopt;
    if (!status.ok()) term::Fail("cannot read database {}: {}", database, status.ToString());
    try {
      return Read(database + "/" + name);
    } catch (const term::Failure&) {
      if (tries == kMaxTries) throw;
    }
  }
}

OptionsFile OptionsFile::Latest(const std::string& database) {
  std::optional<OptionsFile> file = FindLatest(database);
  if (!file) term::Fail("database {} has no OPTIONS file", database);
  return *std::move(file);
}

OptionsFile OptionsFile::Read(const std::string& path) {
  std::string text;
  const rocksdb::Status status = rocksdb::ReadFileToString(rocksdb::Env::Default(), path, &text);
  if (!status.ok()) term::Fail("cannot read {}: {}", path, status.ToString());
  return OptionsFile(std::move(text), path.substr(path.rfind('/') + 1));
}

std::vector<OptionsFile> OptionsFile::All(const std::string& database) {
  std::vector<OptionsFile> files;
  for (const std::string& name : OptionsFileNames(database)) {
    std::string text;
    const std::string path = database + "/" + name;
    const rocksdb::Status status = rocksdb::ReadFileToString(rocksdb::Env::Default(), path, &text);
    if (status.ok())
      files.emplace_back(std::move(text), name);  // otherwise it was removed meanwhile
  }
  return files;
}

OptionsFile::OptionsFile(std::string text, std::string name) : name_(std::move(name)) {
  std::istringstream lines(std::move(text));
  std::string section;
  for (std::string line; std::getline(lines, line);) {
    if (line.ends_with('\r')) line.pop_back();
    if (line.starts_with('[') && line.ends_with(']')) section = line.substr(1, line.size() - 2);
    lines_.push_back({.text = line, .section = section, .before = line});
  }
}

std::string OptionsFile::text() const {
  std::string text;
  for (const Line& line : lines_) text += line.text + "\n";
  return text;
}

std::vector<std::string> OptionsFile::Families(const std::optional<std::string>& only) const {
  constexpr std::string_view kFamily = "[CFOptions \"";
  std::vector<std::string> names;
  for (const Line& line : lines_) {
    if (!line.text.starts_with(kFamily) || !line.text.ends_with("\"]")) continue;
    names.push_back(line.text.substr(kFamily.size(), line.text.size() - kFamily.size() - 2));
  }
  if (!only) return names;
  if (std::find(names.begin(), names.end(), *only) == names.end()) FailFamily(*only, names);
  return {*only};
}

const OptionsFile::Line* OptionsFile::FindLine(const std::string& section,
                                               const std::string& option) const {
  const auto found = std::find_if(lines_.begin(), lines_.end(), [&](const Line& line) {
    return line.section == section && Sets(line.text, option);
  });
  return found == lines_.end() ? nullptr : &*found;
}

std::optional<std::string> OptionsFile::Find(const std::string& section,
                                             const std::string& option) const {
  const Line* const line = FindLine(section, option);
  if (line == nullptr) return std::nullopt;
  return ValueIn(line->text);
}

void OptionsFile::Set(const std::string& section, const std::string& option,
                      const std::string& value) {
  const std::string text = fmt::format("  {}={}", option, value);
  if (const Line* const line = FindLine(section, option)) {
    lines_[static_cast<size_t>(line - lines_.data())].text = text;
    return;
  }
  const auto last = std::find_if(lines_.rbegin(), lines_.rend(), [&](const Line& line) {
    return line.section == section && !Trimmed(line.text).empty();
  });
  if (last == lines_.rend()) term::Fail("{} has no section [{}]", name_, section);
  lines_.insert(last.base(), {.text = text, .section = section, .before = ""});
}

std::vector<OptionChange> OptionsFile::Changes() const {
  std::vector<OptionChange> changes;
  for (const Line& line : lines_) {
    const bool is_new = line.before.empty();
    if (is_new ? line.text.empty() : ValueIn(line.before) == ValueIn(line.text)) continue;
    changes.push_back({line.section, std::string(Trimmed(line.text.substr(0, line.text.find('=')))),
                       is_new ? std::nullopt : std::optional(ValueIn(line.before)),
                       ValueIn(line.text)});
  }
  return changes;
}

std::string OptionsFile::ChangesText() const {
  std::string text;
  std::string shown_section;
  for (const OptionChange& change : Changes()) {
    if (change.section != shown_section) text += fmt::format("  [{}]\n", change.section);
    shown_section = change.section;
    if (change.before) text += fmt::format("-  {}={}\n", change.option, *change.before);
    text += fmt::format("+  {}={}\n", change.option, change.after);
  }
  return text;
}

}  // namespace blocksieve::cli
