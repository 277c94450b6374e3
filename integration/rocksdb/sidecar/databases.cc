// SPDX-License-Identifier: Apache-2.0
#include "integration/rocksdb/sidecar/databases.h"

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string_view>
#include <utility>

namespace blocksieve::rocksdb_plugin {
namespace {

thread_local StartedSst started_sst;
thread_local std::string unfinished_path;

constexpr std::string_view kSstSuffix = ".sst";

std::string DirName(const std::string& path) { return path.substr(0, path.find_last_of('/')); }

struct Database {
  std::weak_ptr<rocksdb::FileSystem> file_system;
  std::weak_ptr<rocksdb::Logger> info_log;  // expires when the database is closed
  std::set<std::string> directories;        // known to have its SSTs
};

struct Registry {
  std::mutex mutex;
  std::map<std::string, Database> databases;  // by name
};

Registry& Registered() {
  // Never destroyed: databases may be closed while static destructors run.
  static auto& registry = *new Registry;
  return registry;
}

// The place of an SST of a database. Nothing if the database is unknown, or the directory: a worker
// of a remote compaction, also one in this process, writes SSTs elsewhere. The database then moves
// them without their sidecars.
std::optional<SstPlace> Find(const std::string& db_name, const std::string& sst_path) {
  const std::lock_guard lock(Registered().mutex);
  const auto known = Registered().databases.find(db_name);
  if (known == Registered().databases.end() || known->second.info_log.expired())
    return std::nullopt;
  if (!known->second.directories.contains(DirName(sst_path))) return std::nullopt;
  SstPlace place{known->second.file_system.lock(), sst_path};
  if (place.file_system == nullptr) return std::nullopt;
  return place;
}

// The directories in which a database may have SSTs, each once.
std::set<std::string> SstDirectories(rocksdb::DB* db) {
  const rocksdb::DBOptions options = db->GetDBOptions();
  std::set<std::string> directories{db->GetName()};
  for (const rocksdb::DbPath& path : options.db_paths) directories.insert(path.path);
  // The paths of column families follow from their live files.
  std::vector<rocksdb::LiveFileMetaData> files;
  db->GetLiveFilesMetaData(&files);
  for (const rocksdb::LiveFileMetaData& file : files) directories.insert(file.db_path);
  return directories;
}

// "000012.bsx" with suffix ".bsx": "000012". Empty if that is not a number.
std::string_view NumberInName(std::string_view name, std::string_view suffix) {
  if (!name.ends_with(suffix)) return {};
  name.remove_suffix(suffix.size());
  const bool is_number =
      std::all_of(name.begin(), name.end(), [](char c) { return c >= '0' && c <= '9'; });
  return is_number ? name : std::string_view();
}

// Deletes sidecars without an SST, finished or temporary. A sidecar is written after its SST was
// created.
void DeleteOrphans(rocksdb::FileSystem* file_system, const std::string& directory) {
  const rocksdb::IOOptions io;
  std::vector<std::string> names;
  if (!file_system->GetChildren(directory, io, &names, nullptr).ok()) return;
  std::set<std::string_view> ssts;
  for (const std::string& name : names) ssts.insert(NumberInName(name, kSstSuffix));
  for (const std::string& name : names) {
    std::string_view sidecar = name;
    if (sidecar.ends_with(kTemporarySuffix)) sidecar.remove_suffix(kTemporarySuffix.size());
    const std::string_view number = NumberInName(sidecar, kSidecarSuffix);
    if (number.empty() || ssts.contains(number)) continue;
    const std::string sst = directory + "/" + std::string(number) + std::string(kSstSuffix);
    const rocksdb::Status exists = file_system->FileExists(sst, io, nullptr);
    if (!exists.IsNotFound()) continue;
    file_system->DeleteFile(directory + "/" + name, io, nullptr).PermitUncheckedError();
  }
}

}  // namespace

void RegisterForSidecars(rocksdb::DB* db, const std::vector<std::string>& ssts) {
  const rocksdb::DBOptions options = db->GetDBOptions();
  bool is_new = false;
  {
    const std::lock_guard lock(Registered().mutex);
    std::erase_if(Registered().databases,
                  [](const auto& known) { return known.second.info_log.expired(); });
    is_new = Registered().databases[db->GetName()].info_log.lock() != options.info_log;
  }
  const auto directories = is_new ? SstDirectories(db) : std::set<std::string>();
  {
    const std::lock_guard lock(Registered().mutex);
    Database& known = Registered().databases[db->GetName()];
    known.file_system = db->GetEnv()->GetFileSystem();
    known.info_log = options.info_log;
    if (is_new) known.directories = directories;
    for (const std::string& sst : ssts) known.directories.insert(DirName(sst));
  }
  for (const std::string& directory : directories) {
    DeleteOrphans(db->GetEnv()->GetFileSystem().get(), directory);
  }
}

void OnSstStarted(const rocksdb::TableFileCreationBriefInfo& sst) {
  started_sst = {true, std::nullopt};
  // The database may have been closed and opened on another file system.
  if (sst.reason == rocksdb::TableFileCreationReason::kRecovery) return;
  std::optional<SstPlace> place = Find(sst.db_name, sst.file_path);
  if (!place) return;
  started_sst.place = std::move(place);
  unfinished_path = sst.file_path;
}

void OnSstCreated(const rocksdb::TableFileCreationInfo& sst) {
  started_sst = {};
  // For an SST that was not kept, `sst` may lack the path.
  const std::string path = std::exchange(unfinished_path, {});
  if (path.empty() || sst.status.ok()) return;
  if (const auto place = Find(sst.db_name, path)) DeleteSidecar(place->file_system.get(), path);
}

void OnSstDeleted(const rocksdb::TableFileDeletionInfo& sst) {
  if (!sst.status.ok()) return;
  if (const auto place = Find(sst.db_name, sst.file_path)) {
    DeleteSidecar(place->file_system.get(), sst.file_path);
  }
}

StartedSst TakeStartedSst() { return std::exchange(started_sst, {}); }

}  // namespace blocksieve::rocksdb_plugin
