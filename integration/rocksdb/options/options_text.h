#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <rocksdb/options.h>
#include <rocksdb/status.h>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

// OPTIONS files as text, read by the rules of RocksDB's parser and edited in place. RocksDB writes
// only what it knows; comments, options of later versions and objects of other programs survive
// only in the text.

namespace blocksieve::rocksdb_plugin {

/// A section of an OPTIONS file.
struct OptionsSection {
  enum class Kind { kUnknown, kVersion, kDb, kFamily, kTable };

  static OptionsSection Version() { return {Kind::kVersion, ""}; }
  static OptionsSection Db() { return {Kind::kDb, ""}; }
  static OptionsSection Family(std::string name) { return {Kind::kFamily, std::move(name)}; }
  /// The options of a column family's table factory, in a section of their own or inline in the
  /// section of the family.
  static OptionsSection Table(std::string family) { return {Kind::kTable, std::move(family)}; }

  bool operator==(const OptionsSection&) const = default;

  Kind kind = Kind::kUnknown;
  std::string family;  ///< Its name, without escapes; empty for kVersion and kDb.
};

/// An edit of an OPTIONS file, or a difference between the text and what it was made from.
struct OptionChange {
  OptionsSection section;
  std::string option;  ///< Empty: the column family was added.
  std::string after;   ///< Its value; for a difference, as written in the file, like `before`.

  /// @{
  /// Only for a difference.
  std::optional<std::string> before = std::nullopt;  ///< nullopt: it was not set.
  std::string title = "";  ///< In the file, without brackets: CFOptions "default"
  /// @}
};

/// The text of an OPTIONS file. Bytes that no edit concerns stay as they are. Reads any text; Load
/// (loaded_options.h) judges whether RocksDB does.
class OptionsText {
 public:
  /// `name`: of the file, such as "OPTIONS-000012", for errors.
  explicit OptionsText(std::string text, std::string name = "");

  const std::string& text() const { return text_; }
  const std::string& name() const { return name_; }

  /// The names of the column families, without escapes, in the order of the file.
  std::vector<std::string> Families() const;

  /// The value that RocksDB gives to the option, without escapes; nullopt if the section does not
  /// set it. Of several statements RocksDB takes the first; of several table sections of a family,
  /// the last.
  std::optional<std::string> Find(const OptionsSection& section, const std::string& option) const;

  /// All options of the section, with their values as written, with escapes: what RocksDB's
  /// Get*OptionsFromMap takes.
  std::unordered_map<std::string, std::string> Options(const OptionsSection& section) const;

  /// The name of the family's table factory, such as BlockBasedTable.
  std::string TableFactory(const std::string& family) const;

  /// RocksDB's UnescapeOptionString, which is not public.
  static std::string Unescape(std::string_view text);

  /// Whether an option of a family holds all options of its table factory: table_factory={...}.
  static bool IsInlineTable(std::string_view option);

  /// Replaces the value that Find returns unless it is the same, or adds the option at the end of
  /// its section. Table options that were inline, or not set, become a section. NotFound: no such
  /// section. InvalidArgument: RocksDB cannot read the value back, such as one that ends with a
  /// blank.
  rocksdb::Status Set(const OptionsSection& section, const std::string& option,
                      const std::string& value);

  /// Appends a column family with RocksDB's defaults. REQUIRES: it does not exist.
  void AddFamily(const std::string& name);

  /// The edits so far: calls of Set and AddFamily.
  const std::vector<OptionChange>& edits() const { return edits_; }

  /// What the edits changed, in the order of the file.
  std::vector<OptionChange> Changes() const;

 private:
  struct Span {
    size_t begin = 0;
    size_t end = 0;
  };
  struct Statement {
    std::string option;
    size_t line_begin;
    size_t option_begin;
    Span value;
  };
  struct Part {
    OptionsSection section;
    std::string title;          // without brackets
    std::string table_factory;  // of a table section
    std::vector<Statement> statements;
    size_t end = 0;  // of its last line with a title or statement, without blanks
  };

  void Parse();
  std::string Text(Span span) const;
  const Part* FindPart(const OptionsSection& section) const;
  const Statement* FindStatement(const Part* part, std::string_view option) const;
  const Statement* InlineTable(const std::string& family) const;
  std::string LineBreak() const;
  void Replace(Span span, const std::string& text);
  rocksdb::Status MakeTableSection(const std::string& family);

  std::string text_;
  std::string original_;
  std::string name_;
  std::vector<Part> parts_;
  std::vector<OptionChange> edits_;
};

}  // namespace blocksieve::rocksdb_plugin
