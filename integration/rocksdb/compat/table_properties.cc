// SPDX-License-Identifier: Apache-2.0
#include "integration/rocksdb/compat/table_properties.h"

#include <rocksdb/sst_file_reader.h>

#include "integration/rocksdb/compat/version_differences.h"
#include "lib/base/errors.h"

namespace blocksieve::rocksdb_plugin {

const std::shared_ptr<const rocksdb::TableProperties>& NoProperties() {
  static auto& none =
      *new std::shared_ptr<const rocksdb::TableProperties>(new rocksdb::TableProperties);
  return none;
}

std::string PathOfTable(const std::string& path, rocksdb::FileSystem* file_system) {
  const auto exists = [&](const std::string& name) {
    return file_system->FileExists(name, rocksdb::IOOptions(), nullptr).ok();
  };
  if (!path.ends_with(".sst") || exists(path)) return path;
  const std::string ldb = path.substr(0, path.size() - 3) + "ldb";
  return exists(ldb) ? ldb : path;
}

rocksdb::Status ReadTableProperties(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* family,
                                    rocksdb::TablePropertiesCollection* tables) {
  rocksdb::Status status = db->GetPropertiesOfAllTables(family, tables);
  if (!status.ok()) {
    tables->clear();
    const NoFileDeletions no_deletions(db);
    if (!no_deletions.status().ok()) return no_deletions.status();
    rocksdb::ColumnFamilyMetaData metadata;
    db->GetColumnFamilyMetaData(family, &metadata);
    for (const rocksdb::LevelMetaData& level : metadata.levels) {
      for (const rocksdb::SstFileMetaData& file : level.files) {
        const std::string path = file.db_path + file.name;  // which begins with a slash
        rocksdb::SstFileReader table(db->GetOptions(family));
        BLOCKSIEVE_RETURN_IF_ERROR(
            table.Open(PathOfTable(path, db->GetEnv()->GetFileSystem().get())));
        (*tables)[path] = table.GetTableProperties();
      }
    }
  }
  for (auto& [path, properties] : *tables) {
    if (properties == nullptr) properties = NoProperties();
  }
  return rocksdb::Status::OK();
}

}  // namespace blocksieve::rocksdb_plugin
