// SPDX-License-Identifier: Apache-2.0
#include <rocksdb/utilities/checkpoint.h>

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "blocksieve/rocksdb/skip_index.h"
#include "integration/rocksdb/compat/option_type.h"
#include "integration/rocksdb/compat/table_properties.h"
#include "integration/rocksdb/compat/version_differences.h"
#include "integration/rocksdb/index/skip_index_catalog.h"
#include "integration/rocksdb/index/skip_index_properties.h"
#include "integration/rocksdb/sidecar/databases.h"
#include "integration/rocksdb/sidecar/file.h"
#include "lib/base/errors.h"

// Copies and deletes sidecars where RocksDB handles SSTs without them.

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

rocksdb::Status CreateCheckpointWithSkipIndexes(rocksdb::DB* db, const std::string& directory) {
  return PublicCall({{"db", db}}, [&]() -> rocksdb::Status {
    const NoFileDeletions no_deletions(db);
    BLOCKSIEVE_RETURN_IF_ERROR(no_deletions.status());
    rocksdb::Checkpoint* made = nullptr;
    BLOCKSIEVE_RETURN_IF_ERROR(rocksdb::Checkpoint::Create(db, &made));
    const std::unique_ptr<rocksdb::Checkpoint> checkpoint(made);
    BLOCKSIEVE_RETURN_IF_ERROR(checkpoint->CreateCheckpoint(directory));
    rocksdb::FileSystem* const file_system = db->GetEnv()->GetFileSystem().get();
    const std::set<std::string> sources = SstDirectories(db);
    std::vector<std::string> names;
    file_system->GetChildren(directory, rocksdb::IOOptions(), &names, nullptr)
        .PermitUncheckedError();
    for (const std::string& name : names) {
      const std::string_view number = NumberInName(name, kSstSuffix);
      if (number.empty()) continue;
      const std::string sidecar = "/" + std::string(number) + std::string(kSidecarSuffix);
      for (const std::string& source : sources) {
        if (!FileExists(file_system, source + sidecar)) continue;
        BLOCKSIEVE_RETURN_IF_ERROR(
            LinkOrCopySidecar(file_system, source + sidecar, directory + sidecar));
      }
    }
    return rocksdb::Status::OK();
  });
}

rocksdb::Status SaveSkipIndexes(rocksdb::DB* db, const std::string& directory) {
  return PublicCall({{"db", db}}, [&]() -> rocksdb::Status {
    const NoFileDeletions no_deletions(db);
    BLOCKSIEVE_RETURN_IF_ERROR(no_deletions.status());
    rocksdb::FileSystem* const file_system = db->GetEnv()->GetFileSystem().get();
    BLOCKSIEVE_RETURN_IF_ERROR(
        file_system->CreateDirIfMissing(directory, rocksdb::IOOptions(), nullptr));
    std::vector<rocksdb::LiveFileMetaData> files;
    db->GetLiveFilesMetaData(&files);
    for (const rocksdb::LiveFileMetaData& file : files) {
      const std::string path = SidecarPath(file.db_path + file.name);
      const auto sidecar = SidecarFile::OpenAny(file_system, path);
      if (sidecar == nullptr) continue;
      const std::string copy =
          directory + "/" + ToHex(sidecar->header().id) + std::string(kSidecarSuffix);
      if (FileExists(file_system, copy)) continue;
      BLOCKSIEVE_RETURN_IF_ERROR(LinkOrCopySidecar(file_system, path, copy));
    }
    return rocksdb::Status::OK();
  });
}

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
    SstPlace sst{db->GetEnv()->GetFileSystem(), "", nullptr};
    for (const auto& [path, properties] : files) {
      sst.path = path;
      if (SidecarFile::Open(sst, *properties) != nullptr) continue;
      const std::optional<SidecarId> rebuilt = IdOfSst(*properties);
      const std::string_view written =
          FindProperty(properties->user_collected_properties, kSidecarProperty);
      for (const std::string& id :
           {rebuilt ? ToHex(*rebuilt) : "", std::string(IdInReference(written))}) {
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

rocksdb::Status DestroyDbWithSkipIndexes(
    const std::string& name, const rocksdb::Options& options,
    const std::vector<rocksdb::ColumnFamilyDescriptor>& column_families) {
  return PublicCall({}, [&]() -> rocksdb::Status {
    BLOCKSIEVE_RETURN_IF_ERROR(rocksdb::DestroyDB(name, options, column_families));
    std::set<std::string> directories{name};
    const auto add = [&](const std::vector<rocksdb::DbPath>& paths) {
      for (const rocksdb::DbPath& path : paths) directories.insert(path.path);
    };
    add(options.db_paths);
    add(options.cf_paths);
    for (const auto& family : column_families) add(family.options.cf_paths);
    rocksdb::FileSystem* const file_system = options.env->GetFileSystem().get();
    for (const std::string& directory : directories) {
      DeleteOrphanSidecars(file_system, directory);
      // DestroyDB kept the directories because of the sidecars.
      file_system->DeleteDir(directory, rocksdb::IOOptions(), nullptr).PermitUncheckedError();
    }
    return rocksdb::Status::OK();
  });
}

}  // namespace blocksieve
