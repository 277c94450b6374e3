#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "integration/rocksdb/sidecar/databases.h"

namespace blocksieve::rocksdb_plugin {
namespace {

constexpr std::string_view kSstSuffix = ".sst";
constexpr std::string_view kSidecarSuffix = ".bsx";

/// "000012.bsx": "000012"; "" for what is no sidecar's name.
std::string_view NumberOf(std::string_view name, std::string_view suffix) {
  if (!name.ends_with(suffix)) return {};
  name.remove_suffix(suffix.size());
  const bool is_number =
      std::all_of(name.begin(), name.end(), [](char c) { return c >= '0' && c <= '9'; });
  return is_number ? name : std::string_view();
}

uint64_t CollectIn(rocksdb::FileSystem* file_system, const std::string& directory) {
  const rocksdb::IOOptions io;
  std::vector<std::string> names;
  if (!file_system->GetChildren(directory, io, &names, nullptr).ok()) return 0;
  std::set<std::string_view> ssts;
  for (const std::string& name : names) ssts.insert(NumberOf(name, kSstSuffix));
  uint64_t num_deleted = 0;
  for (const std::string& name : names) {
    const std::string_view number = NumberOf(name, kSidecarSuffix);
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

uint64_t CollectOrphans(rocksdb::DB* db) {
  const rocksdb::DBOptions options = db->GetDBOptions();
  std::set<std::string> directories{db->GetName()};
  for (const rocksdb::DbPath& path : options.db_paths) directories.insert(path.path);
  // The paths of column families are known by where their files are.
  std::vector<rocksdb::LiveFileMetaData> files;
  db->GetLiveFilesMetaData(&files);
  for (const rocksdb::LiveFileMetaData& file : files) directories.insert(file.db_path);
  const std::shared_ptr<rocksdb::FileSystem>& file_system = db->GetEnv()->GetFileSystem();
  uint64_t num_deleted = 0;
  for (const std::string& directory : directories) {
    num_deleted += CollectIn(file_system.get(), directory);
  }
  return num_deleted;
}

}  // namespace blocksieve::rocksdb_plugin
