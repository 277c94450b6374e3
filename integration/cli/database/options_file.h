#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

// OPTIONS files of RocksDB as text. What is not changed stays as it is, also what only the
// program that wrote it understands. Everything throws Failure.

namespace blocksieve::cli {

class OptionsFile {
 public:
  /// The one that RocksDB would load for a database.
  static OptionsFile Latest(const std::string& database);

  static OptionsFile Read(const std::string& path);

  /// All that there are, of which RocksDB keeps a few.
  static std::vector<OptionsFile> All(const std::string& database);

  explicit OptionsFile(std::string text, std::string name = "");

  const std::string& name() const { return name_; }  ///< "OPTIONS-000012"
  std::string text() const;

  /// Names of the column families in it, in their order, or of `only` one, which must be in it.
  std::vector<std::string> Families(const std::optional<std::string>& only = std::nullopt) const;

  /// The value of an option; nothing if the file does not set it. `section` is as in the file,
  /// without its brackets.
  std::optional<std::string> Find(const std::string& section, const std::string& option) const;

  /// Replaces the value, or adds the option to the end of its section. Fails without the section.
  void Set(const std::string& section, const std::string& option, const std::string& value);

  /// The lines that Set changed, each under its section: "- " before what was, "+ " before what is.
  std::string Changes() const;

 private:
  struct Line {
    std::string text;
    std::string section;  // that it stands in
    std::optional<std::string> before;
    bool is_new = false;
  };

  const Line* FindLine(const std::string& section, const std::string& option) const;

  std::string name_;
  std::vector<Line> lines_;
};

/// The number of a file "OPTIONS-000012"; nothing if it is none.
std::optional<uint64_t> OptionsFileNumber(const std::string& name);

}  // namespace blocksieve::cli
