#include "integration/cli/maintenance/options_change.h"

#include <fmt/format.h>
#include <rocksdb/env.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string_view>
#include <system_error>

#include "integration/cli/database/filter_options.h"
#include "integration/cli/database/open_database.h"
#include "integration/cli/term/failure.h"

namespace blocksieve::cli {
namespace {

// Prefix of kept files, which RocksDB ignores.
constexpr std::string_view kKept = "blocksieve-";

constexpr const char* kPolicy = "filter_policy";
constexpr const char* kNoObject = "nullptr";

rocksdb::Env& Env() { return *rocksdb::Env::Default(); }

void Check(const rocksdb::Status& status, const std::string& path) {
  if (!status.ok()) term::Fail("cannot write {}: {}", path, status.ToString());
}

// The filter options of the database before blocksieve's, from the OPTIONS files that
// WriteNextOptions kept.
class KeptOptions {
 public:
  explicit KeptOptions(const std::string& database) {
    for (const std::string& name : OptionsFileNames(database, kKept)) {
      files_.push_back(OptionsFile::Read(database + "/" + name));
    }
  }

  // The newest object that an option of this section named.
  std::optional<std::string> Find(const std::string& section, const char* option) const {
    for (auto file = files_.rbegin(); file != files_.rend(); ++file) {
      auto value = file->Find(section, option);
      if (!IsNone(value) && !NamesBlocksieve(*value)) return value;
    }
    return std::nullopt;
  }

  const std::vector<OptionsFile>& files() const { return files_; }

 private:
  std::vector<OptionsFile> files_;  // the newest last
};

// Visits the options of all column families that blocksieve replaces: visit(section, option).
template <class Visit>
void ForEachReplaced(const std::vector<std::string>& families, const Visit& visit) {
  for (const std::string& family : families) {
    visit(TableSection(family), kPolicy);
    visit(FamilySection(family), "prefix_extractor");
  }
}

OptionsFile ReadableOptions(const std::string& database) {
  OptionsFile file = OptionsFile::Latest(database);
  StoredOptions options;
  const rocksdb::Status status = ParseOptions(file, /*strict=*/false, &options);
  if (!status.ok()) {
    term::Fail("cannot read {} of database {}: {}", file.name(), database, status.ToString());
  }
  CheckComparators(database, file);
  return file;
}

void SyncDirectory(const std::string& path) {
  std::unique_ptr<rocksdb::Directory> directory;
  Check(Env().NewDirectory(path, &directory), path);
  Check(directory->Fsync(), path);
}

void WriteWhole(const std::string& text, const std::string& path) {
  const std::string part = path + ".dbtmp";  // RocksDB removes such files after a crash
  Check(rocksdb::WriteStringToFile(&Env(), text, part, /*should_sync=*/true), path);
  Check(Env().RenameFile(part, path), path);
}

}  // namespace

DatabaseLock::DatabaseLock(const std::string& database) {
  const rocksdb::Status status = Env().LockFile(database + "/LOCK", &lock_);
  if (!status.ok()) FailToOpen(database, status);
}

DatabaseLock::~DatabaseLock() { Env().UnlockFile(lock_).PermitUncheckedError(); }

OptionsFile OptionsWith(const std::string& database, const std::vector<std::string>& options,
                        const std::optional<std::string>& family) {
  OptionsFile file = ReadableOptions(database);
  const std::vector<std::string> families = file.Families(family);
  for (const std::string& option : options) PutOption(option, families, &file);
  CheckOpening(database, file);
  return file;
}

OptionsFile StockOptions(const std::string& database, const std::string& policy,
                         const std::optional<std::string>& family) {
  OptionsFile file = ReadableOptions(database);
  const KeptOptions kept(database);
  ForEachReplaced(file.Families(family), [&](const std::string& section, const char* option) {
    const bool is_ours = NamesBlocksieve(file.Find(section, option).value_or(""));
    if (const auto before = kept.Find(section, option)) {
      file.Set(section, option, *before);
    } else if (is_ours) {
      file.Set(section, option, option == kPolicy ? policy : kNoObject);
    }
  });
  const std::string listeners = file.Find(kDbSection, "listeners").value_or("{}");
  const std::vector<std::string> families = file.Families();
  const bool has_policy =
      std::any_of(families.begin(), families.end(), [&](const std::string& each) {
        return NamesBlocksieve(file.Find(TableSection(each), kPolicy).value_or(""));
      });
  if (!has_policy && WithoutListener(listeners) != listeners) {
    file.Set(kDbSection, "listeners", WithoutListener(listeners));
  }
  CheckOpening(database, file);
  return file;
}

Json DescribeChanges(const OptionsFile& file, const std::string& written) {
  const Json changes = ArrayOf(file.Changes(), [](const OptionChange& change) -> Json {
    return {{"section", change.section},
            {"option", change.option},
            {"before", OrNull(change.before)},
            {"after", change.after}};
  });
  return {{"read", file.name()},
          {"changes", changes},
          {"written", written.empty() ? Json(nullptr) : Json(written)}};
}

bool HadPolicy(const std::string& database, const std::string& family) {
  return KeptOptions(database).Find(TableSection(family), kPolicy).has_value();
}

std::string WriteNextOptions(const std::string& database, const OptionsFile& file) {
  const OptionsFile present = OptionsFile::Latest(database);
  const KeptOptions kept(database);
  bool is_to_keep = false;
  ForEachReplaced(present.Families(), [&](const std::string& section, const char* option) {
    const auto before = present.Find(section, option);
    const bool becomes_ours = NamesBlocksieve(file.Find(section, option).value_or(""));
    is_to_keep |= becomes_ours && !IsNone(before) && !NamesBlocksieve(*before) &&
                  kept.Find(section, option) != before;
  });
  if (is_to_keep) {
    WriteWhole(present.text(), fmt::format("{}/{}{}", database, kKept, present.name()));
  }
  std::string name = fmt::format("OPTIONS-{:06}", OptionsFileNumber(present.name()).value() + 1);
  WriteWhole(file.text(), database + "/" + name);
  SyncDirectory(database);
  return name;
}

void RemoveKeptOptions(const std::string& database, const OptionsFile& current) {
  const KeptOptions kept(database);
  bool is_restored = true;
  ForEachReplaced(current.Families(), [&](const std::string& section, const char* option) {
    const auto before = kept.Find(section, option);
    is_restored &= !before || before == current.Find(section, option);
  });
  std::error_code error;
  for (const OptionsFile& file : kept.files()) {
    if (is_restored) std::filesystem::remove(database + "/" + file.name(), error);
  }
}

}  // namespace blocksieve::cli
