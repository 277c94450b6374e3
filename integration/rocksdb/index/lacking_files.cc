#include "integration/rocksdb/index/lacking_files.h"

#include <algorithm>
#include <map>

#include "integration/rocksdb/index/skip_index_collector.h"
#include "integration/rocksdb/index/skip_index_properties.h"

namespace blocksieve::rocksdb_plugin {
namespace {

bool HasIndex(const SstPlace& sst, const rocksdb::TableProperties& properties,
              const std::string& identity) {
  const auto& user = properties.user_collected_properties;
  const bool was_built = FindProperty(user, kIdentityProperty) == identity;
  if (was_built && !user.contains(kSidecarProperty)) return true;
  const auto sidecar = SidecarFile::Open(sst, properties);
  if (sidecar == nullptr) return false;
  if (sidecar->header().origin == SidecarOrigin::kWritten) return was_built;
  return sidecar->header().identity == identity;
}

}  // namespace

rocksdb::Status FindIndexOptions(const rocksdb::ColumnFamilyOptions& options,
                                 SkipIndexOptions* index) {
  int num_indexes = 0;
  for (const auto& factory : options.table_properties_collector_factories) {
    if (std::string_view(factory->Name()) != SkipIndexCollectorFactory::kName) continue;
    ++num_indexes;
    *index = static_cast<const SkipIndexCollectorFactory&>(*factory).options();
  }
  if (num_indexes == 1) return rocksdb::Status::OK();
  return rocksdb::Status::InvalidArgument(
      "blocksieve: skip indexes in the column family's options",
      "there are " + std::to_string(num_indexes) + "; allowed is 1");
}

rocksdb::Status FindLacking(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* column_family,
                            const SkipIndexOptions& index, std::vector<LackingFile>* files,
                            int* deepest_level) {
  rocksdb::TablePropertiesCollection properties;
  rocksdb::Status status = db->GetPropertiesOfAllTables(column_family, &properties);
  if (!status.ok()) return status;
  std::map<uint64_t, std::pair<std::string, std::shared_ptr<const rocksdb::TableProperties>>>
      by_number;
  for (const auto& [path, file] : properties) by_number[FileNumberOf(path)] = {path, file};

  const std::string identity = IdentityText(index);
  rocksdb::ColumnFamilyMetaData metadata;
  db->GetColumnFamilyMetaData(column_family, &metadata);
  files->clear();
  *deepest_level = 0;
  for (const rocksdb::LevelMetaData& level : metadata.levels) {
    for (const rocksdb::SstFileMetaData& file : level.files) {
      *deepest_level = std::max(*deepest_level, level.level);
      LackingFile lacking{file.name, level.level, file.size, {}, {}};
      lacking.place.file_system = db->GetEnv()->GetFileSystem();
      lacking.place.path = file.db_path + file.name;
      // Written since; its properties are not known, and nothing says that it lacks an index.
      const auto found = by_number.find(FileNumberOf(file.name));
      if (found == by_number.end()) continue;
      std::tie(lacking.place.path, lacking.properties) = found->second;
      if (HasIndex(lacking.place, *lacking.properties, identity)) continue;
      files->push_back(std::move(lacking));
    }
  }
  return status;
}

void NoteLeft(const std::vector<LackingFile>& files, BackfillProgress* progress) {
  progress->files_left = files.size();
  progress->bytes_left = 0;
  for (const LackingFile& file : files) progress->bytes_left += file.bytes;
}

}  // namespace blocksieve::rocksdb_plugin
