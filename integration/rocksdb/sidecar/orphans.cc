#include "integration/rocksdb/sidecar/orphans.h"

#include <string_view>
#include <vector>

#include "integration/rocksdb/sidecar/databases.h"
#include "integration/rocksdb/sidecar/format.h"

namespace blocksieve::rocksdb_plugin {
namespace {

/// Of a sidecar, also of one that was being written; "" for other files.
std::string_view SidecarNumber(std::string_view name) {
  if (name.ends_with(kTemporarySuffix)) name.remove_suffix(kTemporarySuffix.size());
  return NumberInName(name, kSidecarSuffix);
}

uint64_t CollectIn(rocksdb::FileSystem* file_system, const std::string& directory) {
  const rocksdb::IOOptions io;
  std::vector<std::string> names;
  if (!file_system->GetChildren(directory, io, &names, nullptr).ok()) return 0;
  std::set<std::string_view> ssts;
  for (const std::string& name : names) ssts.insert(NumberInName(name, kSstSuffix));
  uint64_t num_deleted = 0;
  for (const std::string& name : names) {
    const std::string_view number = SidecarNumber(name);
    if (number.empty() || ssts.contains(number)) continue;
    const std::string sst = directory + "/" + std::string(number) + std::string(kSstSuffix);
    // In this order: one that has just been finished exists.
    if (SidecarDatabases::Instance().IsUnfinished(sst)) continue;
    const rocksdb::Status exists = file_system->FileExists(sst, io, nullptr);
    if (!exists.IsNotFound()) continue;
    num_deleted += file_system->DeleteFile(directory + "/" + name, io, nullptr).ok();
  }
  return num_deleted;
}

}  // namespace

std::set<std::string> SstDirectories(rocksdb::DB* db) {
  const rocksdb::DBOptions options = db->GetDBOptions();
  std::set<std::string> directories{db->GetName()};
  for (const rocksdb::DbPath& path : options.db_paths) directories.insert(path.path);
  // The paths of column families are known by where their files are.
  std::vector<rocksdb::LiveFileMetaData> files;
  db->GetLiveFilesMetaData(&files);
  for (const rocksdb::LiveFileMetaData& file : files) directories.insert(file.db_path);
  return directories;
}

uint64_t CollectOrphans(rocksdb::FileSystem* file_system,
                        const std::set<std::string>& directories) {
  uint64_t num_deleted = 0;
  for (const std::string& directory : directories) {
    num_deleted += CollectIn(file_system, directory);
  }
  return num_deleted;
}

}  // namespace blocksieve::rocksdb_plugin
