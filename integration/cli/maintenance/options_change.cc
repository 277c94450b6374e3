#include "integration/cli/maintenance/options_change.h"

#include <fmt/format.h>
#include <rocksdb/env.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <string_view>
#include <system_error>

#include "integration/cli/database/filter_options.h"
#include "integration/cli/term/failure.h"
#include "integration/rocksdb/ranges/range_extractor.h"

namespace blocksieve::cli {
namespace {

// Prefix of kept files, which RocksDB ignores.
constexpr std::string_view kKept = "blocksieve-";

constexpr const char* kStockExtractor = "nullptr";

rocksdb::Env& Env() { return *rocksdb::Env::Default(); }

void Check(const rocksdb::Status& status, const std::string& path) {
  if (!status.ok()) term::Fail("cannot write {}: {}", path, status.ToString());
}

// Kept OPTIONS files by number.
std::map<uint64_t, std::filesystem::path> KeptFiles(const std::string& database) {
  std::map<uint64_t, std::filesystem::path> kept;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(database, error)) {
    const std::string name = entry.path().filename();
    if (!name.starts_with(kKept)) continue;
    if (const auto number = OptionsFileNumber(name.substr(kKept.size()))) {
      kept[*number] = entry.path();
    }
  }
  return kept;
}

uint64_t NextNumber(const std::string& database) {
  uint64_t last = 0;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(database, error)) {
    last = std::max(last, OptionsFileNumber(entry.path().filename()).value_or(0));
  }
  return last + 1;
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
  if (status.ok()) return;
  term::Fail("database {} is in use; close it in the other process: {}", database,
             status.ToString());
}

DatabaseLock::~DatabaseLock() { Env().UnlockFile(lock_).PermitUncheckedError(); }

OptionsFile OptionsWith(const std::string& database, const std::vector<std::string>& options,
                        const std::optional<std::string>& family) {
  OptionsFile file = OptionsFile::Latest(database);
  const std::vector<std::string> families = file.Families(family);
  for (const std::string& option : options) PutOption(option, families, &file);
  return file;
}

OptionsFile StockOptions(const std::string& database, const std::string& policy,
                         const std::optional<std::string>& family) {
  OptionsFile file = OptionsFile::Latest(database);
  const auto paths = KeptFiles(database);
  std::optional<OptionsFile> kept;
  if (!paths.empty()) kept = OptionsFile::Read(paths.rbegin()->second);
  const auto before = [&](const std::string& section, const char* option) {
    return kept ? kept->Find(section, option) : std::nullopt;
  };
  for (const std::string& name : file.Families(family)) {
    const std::string table = TableSection(name);
    if (NamesBlocksieve(file.Find(table, "filter_policy").value_or(""))) {
      const auto old = before(table, "filter_policy");
      file.Set(table, "filter_policy", old && !NamesBlocksieve(*old) ? *old : policy);
    }
    const std::string section = FamilySection(name);
    const auto extractor = file.Find(section, "prefix_extractor");
    if (extractor && extractor->find(rocksdb_plugin::RangeExtractor::kName) != std::string::npos) {
      file.Set(section, "prefix_extractor",
               before(section, "prefix_extractor").value_or(kStockExtractor));
    }
  }
  const std::string listeners = file.Find(kDbSection, "listeners").value_or("{}");
  if (!HasPolicyOfBlocksieve(file) && WithoutListener(listeners) != listeners) {
    file.Set(kDbSection, "listeners", WithoutListener(listeners));
  }
  return file;
}

std::string WriteNextOptions(const std::string& database, const OptionsFile& file) {
  const OptionsFile present = OptionsFile::Latest(database);
  if (!HasPolicyOfBlocksieve(present)) {
    WriteWhole(present.text(), fmt::format("{}/{}{}", database, kKept, present.name()));
  }
  std::string name = fmt::format("OPTIONS-{:06}", NextNumber(database));
  WriteWhole(file.text(), database + "/" + name);
  SyncDirectory(database);
  return name;
}

void RemoveKeptOptions(const std::string& database) {
  std::error_code error;
  for (const auto& [number, path] : KeptFiles(database)) std::filesystem::remove(path, error);
}

}  // namespace blocksieve::cli
