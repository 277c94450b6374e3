#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <rocksdb/comparator.h>
#include <rocksdb/db.h>
#include <rocksdb/metadata.h>
#include <rocksdb/table_properties.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "integration/rocksdb/index/prune_rule.h"
#include "integration/rocksdb/scan/scan_context.h"
#include "integration/rocksdb/sidecar/file.h"

namespace blocksieve::rocksdb_plugin {

/// A table, and what its properties say. Immutable; the lists of files that have it share it.
struct KnownTable {
  KnownTable(std::string table_path, std::shared_ptr<const rocksdb::TableProperties> of_table);

  const std::string path;
  const std::shared_ptr<const rocksdb::TableProperties> properties;
  const uint64_t number;
  const uint64_t num_entries;
  const std::optional<SidecarId> id;           ///< IdOfSst
  const std::optional<SidecarId> block_index;  ///< FindFileId
  const bool is_of_writer;                     ///< An SstFileWriter wrote it.
  uint64_t memory_bytes = 0;                   ///< Approximate, with the metadata of a file.
};

/// The files of a column family, and what decisions need of them, whatever the condition. RocksDB
/// returns metadata and table properties in separate calls, and files change in between, so a file
/// may be in one of both only. Immutable, thread-safe.
class FamilyFiles {
 public:
  using Tables = std::vector<std::shared_ptr<const KnownTable>>;

  struct File {
    uint64_t number = 0;
    const rocksdb::SstFileMetaData* metadata = nullptr;
    std::shared_ptr<const KnownTable> table;  ///< Null if only the metadata has the file.
  };

  FamilyFiles(const rocksdb::Comparator* comparator, rocksdb::ColumnFamilyMetaData metadata,
              Tables tables);

  /// The current files. Asks RocksDB for those alone that are new since the last call for the
  /// column family, if the database has a session id. Errors: those of ReadTableProperties.
  static rocksdb::Status Read(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* family,
                              std::shared_ptr<const FamilyFiles>* files);

  /// In the order of their numbers.
  const Tables& tables() const { return tables_; }

  /// Whether all tables have properties: RocksDB passes null to a filter for one without.
  bool have_properties() const { return have_properties_; }

  /// @{
  /// Those of the metadata in the order of levels; of each, its place and where older entries are.
  std::span<const File> files() const { return files_; }
  std::span<const PlacedFile> places() const { return places_; }
  std::span<const OlderEntries> older() const { return older_; }
  /// @}

  struct FileById {
    std::optional<SidecarId> id;
    size_t file = 0;  ///< Number among files().
    uint64_t num_bytes = 0;
  };
  /// In the order of ids; files without one come first.
  std::span<const FileById> by_id() const { return by_id_; }

  /// Null if the metadata lacks the file.
  const rocksdb::SstFileMetaData* Find(uint64_t file_number) const {
    const std::optional<size_t> file = FindFile(file_number);
    return file ? files_[*file].metadata : nullptr;
  }

  /// The number of this very table among files(); nullopt for others, also equal ones.
  std::optional<size_t> Locate(const rocksdb::TableProperties& properties) const;

  /// Whether another file of the metadata has keys or tombstones in the range. REQUIRES: it has
  /// both ends.
  bool OthersOverlap(const ScanRange& range, uint64_t file_number) const;

  /// Differs from that of all others.
  uint64_t serial_number() const { return serial_number_; }

  /// That of the list before, most of whose files this one has; 0 if there was none.
  uint64_t earlier_serial_number() const { return earlier_serial_number_; }

  /// Approximate memory, with the properties, which open tables share.
  uint64_t memory_bytes() const { return memory_bytes_; }

 private:
  // The file whose last key is the last one, and the one before.
  struct Reach {
    std::optional<size_t> furthest;
    std::optional<size_t> second;
  };

  std::optional<size_t> FindFile(uint64_t number) const;

  const rocksdb::Comparator* const comparator_;
  const rocksdb::ColumnFamilyMetaData metadata_;
  Tables tables_;
  bool have_properties_ = true;
  std::vector<File> files_;
  std::vector<PlacedFile> places_;
  std::vector<OlderEntries> older_;
  std::vector<FileById> by_id_;
  std::vector<std::pair<uint64_t, size_t>> by_number_;
  std::vector<size_t> level_0_;  // by first key
  std::vector<Reach> reaches_;   // of files of level_0_ up to each
  uint64_t memory_bytes_ = 0;

  const uint64_t serial_number_;
  uint64_t earlier_serial_number_ = 0;
  uint64_t version_ = 0;  // of Read
};

}  // namespace blocksieve::rocksdb_plugin
