// SPDX-License-Identifier: Apache-2.0
#include "integration/rocksdb/options/options_text.h"

#include <rocksdb/convenience.h>
#include <rocksdb/table.h>

#include <algorithm>
#include <iterator>
#include <map>

#include "lib/base/errors.h"

namespace blocksieve::rocksdb_plugin {
namespace {

using Kind = OptionsSection::Kind;
using OptionMap = std::unordered_map<std::string, std::string>;

constexpr std::string_view kBlanks = " \t\n\v\f\r";
constexpr std::string_view kTableTitle = "TableOptions/";
constexpr const char* kDefaultTable = "BlockBasedTable";
// Options of a family that hold all options of its table factory.
constexpr std::string_view kInlineTables[] = {"table_factory", "block_based_table_factory",
                                              "plain_table_factory"};
// Begins the name of an option of a family that is one of its table factory.
constexpr std::string_view kDottedTable = "block_based_table_factory.";

std::string_view Trimmed(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
  return text.substr(0, text.find_last_not_of(kBlanks) + 1);
}

// The line without its comment, which starts at the first # that no \ precedes, and without blanks
// at its ends.
std::string_view Code(std::string_view line) {
  for (size_t at = 0; (at = line.find('#', at)) != std::string_view::npos; ++at) {
    if (at == 0 || line[at - 1] != '\\') return Trimmed(line.substr(0, at));
  }
  return Trimmed(line);
}

}  // namespace

std::string OptionsText::Unescape(std::string_view text) {
  std::string plain;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\') {
      plain += text[i];
    } else if (++i < text.size()) {
      plain += text[i] == 'n' ? '\n' : text[i] == 'r' ? '\r' : text[i];
    }
  }
  return plain;
}

namespace {

// RocksDB's own, which is not public, also escapes colons.
std::string Escape(std::string_view plain, std::string_view special = "\\#\r\n") {
  std::string text;
  for (const char c : plain) {
    if (special.find(c) != std::string_view::npos) text += '\\';
    text += c == '\n' ? 'n' : c == '\r' ? 'r' : c;
  }
  return text;
}

std::string QuotedFamily(const std::string& name) { return " \"" + Escape(name, "\\#:\r\n") + '"'; }

// The options in "{id=X;a=1}"; empty for a bare name, and for what RocksDB refuses.
OptionMap Fields(const std::string& value) {
  OptionMap fields;
  if (value.find('=') != std::string::npos && !rocksdb::StringToMap(value, &fields).ok()) return {};
  return fields;
}

}  // namespace

OptionsText::OptionsText(std::string text, std::string name)
    : text_(std::move(text)), original_(text_), name_(std::move(name)) {
  Parse();
}

void OptionsText::Parse() {
  parts_.clear();
  const std::string_view text = text_;
  // RocksDB ignores a last line without a line feed.
  for (size_t begin = 0, end = 0; (end = text.find('\n', begin)) != std::string_view::npos;
       begin = end + 1) {
    const std::string_view line = text.substr(begin, end - begin);
    const std::string_view code = Code(line);
    if (code.empty()) continue;
    const size_t line_end = begin + line.find_last_not_of(kBlanks) + 1;
    if (code.size() > 1 && code.starts_with('[') && code.ends_with(']')) {
      Part part;
      part.title = code.substr(1, code.size() - 2);
      part.end = line_end;
      std::string_view title = part.title;
      std::string_view argument;
      const size_t quote = title.find('"');
      if (const size_t last = title.rfind('"'); quote != last) {
        argument = title.substr(quote + 1, last - quote - 1);
        title = title.substr(0, quote);
      }
      title = Trimmed(title);
      part.section.kind = title == "Version"                                       ? Kind::kVersion
                          : title == "DBOptions"                                   ? Kind::kDb
                          : title == "CFOptions"                                   ? Kind::kFamily
                          : title.starts_with(kTableTitle) && title != kTableTitle ? Kind::kTable
                                                                                   : Kind::kUnknown;
      if (part.section.kind == Kind::kTable) part.table_factory = title.substr(kTableTitle.size());
      if (part.section.kind == Kind::kTable || part.section.kind == Kind::kFamily) {
        part.section.family = Unescape(argument);
      }
      parts_.push_back(std::move(part));
    } else if (const size_t equals = code.find('='); equals != std::string_view::npos) {
      if (parts_.empty()) continue;
      const std::string_view value = Trimmed(code.substr(equals + 1));
      const auto offset = [&](const char* at) { return static_cast<size_t>(at - text.data()); };
      // An empty value has its place after the '='.
      const size_t at = value.empty() ? offset(code.data()) + equals + 1 : offset(value.data());
      parts_.back().statements.push_back({.option = std::string(Trimmed(code.substr(0, equals))),
                                          .line_begin = begin,
                                          .option_begin = offset(code.data()),
                                          .value = {at, at + value.size()}});
      parts_.back().end = line_end;
    }
  }
}

std::vector<std::string> OptionsText::Families() const {
  std::vector<std::string> names;
  for (const Part& part : parts_) {
    if (part.section.kind == Kind::kFamily) names.push_back(part.section.family);
  }
  return names;
}

const OptionsText::Part* OptionsText::FindPart(const OptionsSection& section) const {
  const Part* found = nullptr;
  for (const Part& part : parts_) {
    // A later table section replaces all of an earlier one. RocksDB refuses other sections twice.
    if (part.section == section && (found == nullptr || section.kind == Kind::kTable)) {
      found = &part;
    }
  }
  return found;
}

const OptionsText::Statement* OptionsText::FindStatement(const Part* part,
                                                         std::string_view option) const {
  if (part == nullptr) return nullptr;
  const auto found = std::ranges::find(part->statements, option, &Statement::option);
  return found == part->statements.end() ? nullptr : &*found;
}

std::string OptionsText::Text(Span span) const {
  return text_.substr(span.begin, span.end - span.begin);
}

const OptionsText::Statement* OptionsText::InlineTable(const std::string& family) const {
  const Part* const part = FindPart(OptionsSection::Family(family));
  for (const std::string_view option : kInlineTables) {
    if (const Statement* const found = FindStatement(part, option)) return found;
  }
  return nullptr;
}

bool OptionsText::IsInlineTable(std::string_view option) {
  return std::ranges::find(kInlineTables, option) != std::end(kInlineTables) ||
         option.starts_with(kDottedTable);
}

std::string OptionsText::TableFactory(const std::string& family) const {
  if (const Part* const part = FindPart(OptionsSection::Table(family))) return part->table_factory;
  const Statement* const statement = InlineTable(family);
  if (statement == nullptr) return kDefaultTable;
  if (statement->option == "plain_table_factory") return "PlainTable";
  const std::string value = Unescape(Text(statement->value));
  if (statement->option == "table_factory" && value.find('=') == std::string::npos) {
    return value == "nullptr" ? "" : value;
  }
  const OptionMap fields = Fields(value);
  const auto id = fields.find("id");
  return id == fields.end() ? kDefaultTable : id->second;
}

OptionMap OptionsText::Options(const OptionsSection& section) const {
  OptionMap options;
  const Part* const part = FindPart(section);
  if (part != nullptr) {
    for (const Statement& statement : part->statements) {
      options.insert({statement.option, Text(statement.value)});
    }
  } else if (section.kind == Kind::kTable) {
    const Part* const family = FindPart(OptionsSection::Family(section.family));
    if (family == nullptr) return options;
    // RocksDB applies all of them to one factory; as everywhere, the first statement counts.
    for (const Statement& statement : family->statements) {
      if (!IsInlineTable(statement.option) ||
          &statement != FindStatement(family, statement.option)) {
        continue;
      }
      if (statement.option.starts_with(kDottedTable)) {
        options.insert({statement.option.substr(kDottedTable.size()), Text(statement.value)});
        continue;
      }
      for (const auto& [option, value] : Fields(Unescape(Text(statement.value)))) {
        // RocksDB removes escapes at each depth, so a section has the same ones, and braces.
        const std::string plain = Escape(Unescape(value));
        options.insert({option, plain.starts_with("id=") ? "{" + plain + "}" : plain});
      }
    }
    options.erase("id");
  }
  return options;
}

std::optional<std::string> OptionsText::Find(const OptionsSection& section,
                                             const std::string& option) const {
  const OptionMap options = Options(section);
  const auto found = options.find(option);
  if (found == options.end()) return std::nullopt;
  return Unescape(found->second);
}

void OptionsText::Replace(Span span, const std::string& text) {
  text_.replace(span.begin, span.end - span.begin, text);
  Parse();
}

std::string OptionsText::LineBreak() const {
  const size_t line_feed = text_.find('\n');
  const bool is_crlf =
      line_feed != std::string::npos && line_feed > 0 && text_[line_feed - 1] == '\r';
  return is_crlf ? "\r\n" : "\n";
}

rocksdb::Status OptionsText::MakeTableSection(const std::string& family) {
  const OptionsSection section = OptionsSection::Family(family);
  const std::string factory = TableFactory(family);
  if (FindPart(section) == nullptr || factory.empty()) {
    return rocksdb::Status::NotFound(
        name_, "no table options of column family " + family + "; required: its CFOptions section");
  }
  const OptionMap options = Options(OptionsSection::Table(family));
  const std::string replacement = "table_factory=" + factory;
  if (const Statement* const statement = InlineTable(family)) {
    Replace({statement->option_begin, statement->value.end}, replacement);
  }
  for (size_t i = 0; i < FindPart(section)->statements.size();) {
    const Statement& other = FindPart(section)->statements[i];
    if (!IsInlineTable(other.option) || other.option == "table_factory") {
      ++i;
    } else {
      Replace({other.option_begin, other.value.end}, "");
    }
  }
  std::string text =
      LineBreak() + "[" + std::string(kTableTitle) + factory + QuotedFamily(family) + "]";
  for (const auto& [option, value] : std::map(options.begin(), options.end())) {
    text += LineBreak() + "  " + option + "=" + value;
  }
  const size_t end = FindPart(section)->end;
  Replace({end, end}, text);
  return rocksdb::Status::OK();
}

rocksdb::Status OptionsText::Set(const OptionsSection& section, const std::string& option,
                                 const std::string& value) {
  if (Find(section, option) == value) return rocksdb::Status::OK();
  const std::string written = Escape(value);
  if (Unescape(Code(written)) != value) {
    return rocksdb::Status::InvalidArgument("option " + option + " is '" + value +
                                            "'; allowed: values without blanks at their ends");
  }
  if (section.kind == Kind::kTable && FindPart(section) == nullptr) {
    BLOCKSIEVE_RETURN_IF_ERROR(MakeTableSection(section.family));
  }
  const Part* const part = FindPart(section);
  if (part == nullptr) {
    return rocksdb::Status::NotFound(
        name_, "no section for option " + option +
                   (section.family.empty() ? "" : " of column family ") + section.family);
  }
  edits_.push_back({section, option, value});
  if (const Statement* const statement = FindStatement(part, option)) {
    // A comment must not become part of a value that ends with a backslash.
    const bool needs_blank = written.ends_with('\\') && statement->value.end < text_.size() &&
                             text_[statement->value.end] == '#';
    Replace(statement->value, needs_blank ? written + " " : written);
    return rocksdb::Status::OK();
  }
  std::string indentation = "  ";
  if (!part->statements.empty()) {
    const Statement& last = part->statements.back();
    indentation = Text({last.line_begin, last.option_begin});
  }
  Replace({part->end, part->end}, LineBreak() + indentation + option + "=" + written);
  return rocksdb::Status::OK();
}

void OptionsText::AddFamily(const std::string& name) {
  // An unfinished last line stays one.
  const size_t end = text_.rfind('\n') + 1;
  Replace({end, end}, LineBreak() + "[CFOptions" + QuotedFamily(name) + "]" + LineBreak());
  edits_.push_back({OptionsSection::Family(name), "", ""});
}

std::vector<OptionChange> OptionsText::Changes() const {
  std::vector<OptionChange> changes;
  const OptionsText original(original_);
  for (const Part& part : parts_) {
    if (&part != FindPart(part.section)) continue;
    const OptionMap before = original.Options(part.section);
    for (const Statement& statement : part.statements) {
      if (&statement != FindStatement(&part, statement.option)) continue;
      const auto old = before.find(statement.option);
      const std::string value = Text(statement.value);
      if (old != before.end() && old->second == value) continue;
      changes.push_back({part.section, statement.option, value,
                         old == before.end() ? std::nullopt : std::optional(old->second),
                         part.title});
    }
  }
  return changes;
}

}  // namespace blocksieve::rocksdb_plugin
