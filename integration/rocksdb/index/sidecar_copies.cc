// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "blocksieve/rocksdb/skip_index.h"
#include "integration/rocksdb/compat/option_type.h"
#include "integration/rocksdb/compat/table_properties.h"
#include "integration/rocksdb/index/skip_index_catalog.h"
#include "integration/rocksdb/index/skip_index_properties.h"
#include "integration/rocksdb/sidecar/file.h"
#include "lib/base/errors.h"

namespace blocksieve {
namespace {

using namespace rocksdb_plugin;  // NOLINT: the same component

/// The paths of the sidecars in a directory, by the digits of their ids. Errors: those of RocksDB.
rocksdb::Status FindSidecars(rocksdb::FileSystem* file_system, const std::string& directory,
                             std::map<std::string, std::string>* sidecars) {
  std::vector<std::string> names;
  rocksdb::Status status =
      file_system->GetChildren(directory, rocksdb::IOOptions(), &names, nullptr);
  for (const std::string& name : names) {
    if (!name.ends_with(kSidecarSuffix)) continue;
    const std::string path = directory + "/" + name;
    const auto sidecar = SidecarFile::OpenAny(file_system, path);
    if (sidecar != nullptr) (*sidecars)[ToHex(sidecar->header().id)] = path;
  }
  return status;
}

}  // namespace

rocksdb::Status CopySkipIndexes(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* column_family,
                                const std::string& directory, uint64_t* num_copied) {
  return PublicCall({{"db", db}}, [&]() -> rocksdb::Status {
    if (num_copied != nullptr) *num_copied = 0;
    if (column_family == nullptr) column_family = db->DefaultColumnFamily();
    rocksdb::FileSystem* const file_system = db->GetEnv()->GetFileSystem().get();
    std::map<std::string, std::string> found;
    rocksdb::Status status = FindSidecars(file_system, directory, &found);
    if (!status.ok()) {
      return rocksdb::Status::IOError("blocksieve: cannot read directory " + directory,
                                      status.ToString());
    }
    rocksdb::TablePropertiesCollection files;
    status = ReadTableProperties(db, column_family, &files);
    SstPlace sst{db->GetEnv()->GetFileSystem(), ""};
    for (const auto& [path, properties] : files) {
      sst.path = path;
      if (SidecarFile::Open(sst, *properties) != nullptr) continue;
      const std::optional<SidecarId> rebuilt = IdOfSst(*properties);
      const std::string_view written =
          FindProperty(properties->user_collected_properties, kSidecarProperty);
      for (const std::string& id : {rebuilt ? ToHex(*rebuilt) : "", std::string(written)}) {
        const auto sidecar = found.find(id);
        if (sidecar == found.end()) continue;
        BLOCKSIEVE_RETURN_IF_ERROR(
            LinkOrCopySidecar(file_system, sidecar->second, SidecarPath(path)));
        SkipIndexCatalog::Default().Forget(*properties);
        if (num_copied != nullptr) ++*num_copied;
        break;
      }
    }
    return status;
  });
}

}  // namespace blocksieve
