#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// OPTIONS files of RocksDB as text. Keeps everything that is not changed, including options that
// only the writing program understands. Everything throws Failure.

namespace blocksieve::cli {

struct OptionChange {
  std::string section;
  std::string option;
  std::optional<std::string> before;  ///< nullopt: it was not set.
  std::string after;
};

class OptionsFile {
 public:
  /// The file that RocksDB would load for a database.
  static OptionsFile Latest(const std::string& database);

  /// The same; nullopt if there is none.
  static std::optional<OptionsFile> FindLatest(const std::string& database);

  static OptionsFile Read(const std::string& path);

  /// All OPTIONS files of the database, the newest last; RocksDB keeps the last few.
  static std::vector<OptionsFile> All(const std::string& database);

  explicit OptionsFile(std::string text, std::string name = "");

  const std::string& name() const { return name_; }  ///< "OPTIONS-000012"
  std::string text() const;

  /// The column families in the file, in order, or just `only`; fails if the file does not have it.
  std::vector<std::string> Families(const std::optional<std::string>& only = std::nullopt) const;

  /// The value of an option; nullopt if the file does not set it. `section` is without brackets.
  std::optional<std::string> Find(const std::string& section, const std::string& option) const;

  /// Replaces the value, or adds the option at the end of its section. Fails without the section.
  void Set(const std::string& section, const std::string& option, const std::string& value);

  /// The options changed by Set, in the order of the file, and as a diff with their sections.
  std::vector<OptionChange> Changes() const;
  std::string ChangesText() const;

 private:
  struct Line {
    std::string text;
    std::string section;
    std::string before;  // the text in the file; empty if Set added the line
  };

  const Line* FindLine(const std::string& section, const std::string& option) const;

  std::string name_;
  std::vector<Line> lines_;
};

/// Reports that --column-family names one that the database does not have.
[[noreturn]] void FailFamily(const std::string& family, const std::vector<std::string>& known);

/// The number in "OPTIONS-000012"; nullopt for other names.
std::optional<uint64_t> OptionsFileNumber(std::string_view name);

/// The names PREFIXOPTIONS-NUMBER in the directory of a database, the largest number last.
std::vector<std::string> OptionsFileNames(const std::string& database,
                                          std::string_view prefix = "");

}  // namespace blocksieve::cli
