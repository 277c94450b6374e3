#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <rocksdb/db.h>
#include <rocksdb/options.h>
#include <rocksdb/table.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "integration/cli/term/terminal.h"
#include "integration/rocksdb/options/loaded_options.h"
#include "integration/rocksdb/options/options_text.h"

// What a database says of itself, and the options that it is opened with. Its OPTIONS file was true
// for some program on some machine: RocksDB's parser tells what it means, and the functions here
// what of it holds for this command. Everything throws Failure.

namespace blocksieve::cli {

inline constexpr uint32_t kTtlBytes = 4;  ///< Which rocksdb::DBWithTTL appends to values.

using rocksdb_plugin::OptionsSection;
using rocksdb_plugin::OptionsText;

/// A database that only its own program, or a later RocksDB, can open.
class CannotOpen : public term::Failure {
 public:
  using Failure::Failure;
};

/// What a subcommand works on, by the command line: a database or a single file. OPTIONS files also
/// name directories, but those may be of another machine, another program, or the original of a
/// copy.
struct Target {
  std::string path;                         ///< The directory of the database; empty: not given.
  std::string wal_dir = "";                 ///< --wal-dir: a directory, "none", or "" if not given.
  std::vector<std::string> data_dirs = {};  ///< --data-dir: DBOptions::db_paths, in their order.
  std::string file = "";                    ///< Empty: not given.
  std::optional<std::string> family = std::nullopt;  ///< --column-family; nullopt: all.
  bool drops_properties = false;                     ///< --drop-properties

  operator const std::string&() const { return path; }  // NOLINT: a path with more
  bool Has(const std::string& name) const { return name == family.value_or(name); }
};

/// What a subcommand does to a database.
enum class Access {
  kRead,     ///< Writes nothing, not even a log.
  kIndex,    ///< Writes only sidecars.
  kRewrite,  ///< Replaces files by others with the same rows.
  kLoad,     ///< Adds rows.
};

/// The directories of table files in the order of DBOptions::db_paths.
std::vector<std::string> DataDirectories(const Target& target);

/// The size of a file; 0 if it is unknown.
uint64_t SizeOfFile(const std::string& path);

/// Whether two paths are the same existing directory.
bool IsSameDirectory(const std::string& a, const std::string& b);

/// Names in a directory with this suffix, sorted; empty if it cannot be read.
std::vector<std::string> NamesWithSuffix(const std::string& directory, const char* suffix);

/// Prints a message on standard error, unless it was printed before.
void WarnOnce(const std::string& text);

struct StoredDatabase {
  Target target;

  /// The latest OPTIONS file; nullopt if there is none. Programs may set all options in code.
  std::optional<OptionsText> text = std::nullopt;

  /// What RocksDB loads from the text; without it, the families of the MANIFEST with defaults.
  rocksdb_plugin::LoadedOptions loaded = {};

  /// Why RocksDB does not load the text; empty if it does. `loaded` then has defaults.
  std::string problem = "";

  /// The column families, without RocksDB's own.
  std::vector<std::string> Families() const;

  /// That of the target, or all. Throws Failure if it does not exist.
  std::vector<std::string> TargetFamilies() const;

  /// Null if the database has no such family.
  const rocksdb::ColumnFamilyOptions* Find(const std::string& family) const;

  /// The option filter_policy of a family; "nullptr" if it is not set.
  std::string Policy(const std::string& family) const {
    return Value(OptionsSection::Table(family), "filter_policy").value_or("nullptr");
  }

  /// The option of a family's section, or of the database's, as the file has it.
  std::optional<std::string> Value(const OptionsSection& section, const std::string& option) const;

  /// Whether programs open it with rocksdb::DBWithTTL, which appends a time to each value.
  bool has_ttl() const;
};

/// Whether the directory has a database. Throws Failure if that is unknown; the other one, also if
/// it has none.
bool HasRocksDb(const std::string& path);
void CheckDatabase(const std::string& path);

/// Reads the database of a target. Another process may have it open, and write new files meanwhile.
StoredDatabase ReadStored(const Target& target);

/// The same with an OPTIONS file, such as an edited one.
StoredDatabase WithText(const Target& target, OptionsText text);

/// The options of block-based tables; null if the family has others.
const rocksdb::BlockBasedTableOptions* FindTableOptions(const rocksdb::ColumnFamilyOptions& family);

/// Whether the directory has a database that RocksDB did not write. The other one throws Failure.
bool IsOfLevelDb(const std::string& database);
void FailIfOfLevelDb(const std::string& database);

/// The names OPTIONS-NUMBER with this prefix in the directory of a database, by number.
std::map<uint64_t, std::string> OptionsFileNames(const std::string& database,
                                                 const std::string& prefix = "");

OptionsText ReadOptionsText(const std::string& path);

/// Ends the directory of a file whose path number has no directory in the list; see OptionsToRead.
inline constexpr const char* kPathSuffix = "/.";

/// RocksDB's options to open a database with.
struct UsedOptions {
  rocksdb::DBOptions db;
  std::vector<rocksdb::ColumnFamilyDescriptor> families;
  bool has_ttl = false;  ///< Open it with rocksdb::DBWithTTL.
  Access access = Access::kRead;
};

/// Options to read with: without objects that only writing needs. Reports a problem of `stored` on
/// standard error, once. Throws CannotOpen if this program lacks an object that reading needs.
UsedOptions OptionsToRead(const StoredDatabase& stored);

/// Throws Failure if this program must not write files of the target's families with these options:
/// they would lack filters or properties. kRead: only OPTIONS are written.
void CheckOptionsToWrite(const StoredDatabase& stored, Access access);

/// Options to write with, for options that pass the check. The families that are not of the target
/// are neither compacted nor, as far as RocksDB allows, flushed. `stock_policies`: for families
/// whose own policy builds no filters; RocksDB may flush them.
UsedOptions OptionsToWrite(const StoredDatabase& stored, Access access,
                           const std::map<std::string, std::string>& stock_policies);

/// Throws Failure without an OPTIONS file.
void FailIfNoText(const StoredDatabase& stored);

/// Throws Failure if a later RocksDB wrote the options, or this one does not load them.
void FailIfNotRead(const StoredDatabase& stored);

/// Whether the database has rows that only its WAL has.
bool HasRowsInWal(const StoredDatabase& stored);

}  // namespace blocksieve::cli
