#pragma once

#include <rocksdb/table_properties.h>

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "blocksieve/skip_index.h"
#include "integration/rocksdb/compat/cache_charge.h"
#include "integration/rocksdb/sidecar/file.h"
#include "lib/skip/file_index.h"

namespace blocksieve::rocksdb_plugin {

/// What identifies the contents of an SST file. Neither part suffices alone: files of an
/// SstFileWriter all have number 1. A file that was ingested twice is in the database twice.
struct FileIdentity {
  std::string session_id;
  uint64_t file_number = 0;

  /// Old or foreign files have none.
  bool is_known() const { return !session_id.empty() && file_number != 0; }
  friend bool operator==(const FileIdentity&, const FileIdentity&) = default;
  friend auto operator<=>(const FileIdentity&, const FileIdentity&) = default;
};

FileIdentity IdentityOf(const rocksdb::TableProperties& properties);

/// The same comparison, but without taking memory.
bool HasIdentity(const rocksdb::TableProperties& properties, const FileIdentity& identity) noexcept;

/// The opened index of a file, or why it has none. Immutable, thread-safe.
class FileIndex {
 public:
  /// Opens the index that `properties` carry, whose bytes it keeps alive.
  explicit FileIndex(std::shared_ptr<const rocksdb::TableProperties> properties)
      : FileIndex(std::move(properties), {}, std::nullopt) {}

  /// Opens the index in the sidecar of `sst`, and reads no other columns than `columns`, or all. If
  /// there is none that belongs to the SST, the one of the properties.
  FileIndex(std::shared_ptr<const rocksdb::TableProperties> properties, const SstPlace& sst,
            std::optional<std::vector<Column>> columns);

  FileIndex(const FileIndex&) = delete;
  FileIndex& operator=(const FileIndex&) = delete;

  /// Null if there is no usable one; then problem() says why.
  const SkipIndex* index() const { return index_ ? &*index_ : nullptr; }
  const std::string& problem() const { return problem_; }

  /// Whether the file beside the SST is missing in which the index is.
  bool lacks_sidecar() const { return lacks_sidecar_; }

  /// False if it may be another time: memory was short, or a sidecar is missing.
  bool is_lasting() const { return is_lasting_; }

  /// False if it is in a sidecar of which other columns were read.
  bool HasRead(std::span<const Column> columns) const;

  /// Whether it is in a file beside the SST.
  bool is_in_sidecar() const { return is_in_sidecar_; }

  /// Those that were read of a sidecar; nothing: all.
  const std::optional<std::vector<Column>>& columns() const { return columns_; }

  uint32_t value_suffix_bytes() const { return value_suffix_bytes_; }

  /// Whether snapshots that are older than the file's newest entry must read all of it.
  bool has_newest_versions_only() const { return has_newest_versions_only_; }

  const rocksdb::TableProperties& properties() const { return *properties_; }
  FileIdentity identity() const { return IdentityOf(*properties_); }

  /// Memory held by the index and by what it refers to, in bytes.
  uint64_t memory_bytes() const;

 private:
  bool OpenSidecar(const SstPlace& sst);
  void OpenProperties();
  bool OpenIndex(ByteView bytes);

  const std::shared_ptr<const rocksdb::TableProperties> properties_;
  std::optional<std::vector<Column>> columns_;
  std::string read_bytes_;  // of a sidecar
  bool is_in_sidecar_ = false;
  bool lacks_sidecar_ = false;
  std::optional<SkipIndex> index_;
  std::string problem_;
  bool is_lasting_ = true;
  uint32_t value_suffix_bytes_ = 0;
  bool has_newest_versions_only_ = false;
};

/// Opened indexes, so that scans need not check and decompress them again. Least recently used ones
/// go when `capacity_bytes` are exceeded. Thread-safe.
class SkipIndexCatalog {
 public:
  explicit SkipIndexCatalog(uint64_t capacity_bytes) : capacity_bytes_(capacity_bytes) {}

  /// From now on. `charged`: as in SkipIndexCacheOptions.
  void Configure(uint64_t capacity_bytes, std::shared_ptr<rocksdb::Cache> charged);

  /// The one of this process: identities are unique among databases, too.
  static SkipIndexCatalog& Default();

  /// The index of `sst`, with these columns at least.
  std::shared_ptr<const FileIndex> Open(
      const std::shared_ptr<const rocksdb::TableProperties>& properties, const SstPlace& sst = {},
      std::span<const Column> columns = {});

  /// Another one took its place.
  void Forget(const FileIdentity& identity);

  uint64_t used_bytes() const;
  uint64_t num_opened() const;  ///< Indexes that were not found here and opened.

 private:
  using Entry = std::pair<FileIdentity, std::shared_ptr<const FileIndex>>;

  void Erase(std::map<FileIdentity, std::list<Entry>::iterator>::iterator position);
  void Insert(const FileIdentity& identity, const std::shared_ptr<const FileIndex>& index);

  /// Lets go what exceeds the capacity, and what a cache that is charged has no room for.
  void Shrink();

  mutable std::mutex mutex_;
  uint64_t capacity_bytes_;
  std::unique_ptr<CacheCharge> charge_;  // null: no cache is charged
  std::list<Entry> entries_;             // the most recently used first
  std::map<FileIdentity, std::list<Entry>::iterator> positions_;
  uint64_t used_bytes_ = 0;
  uint64_t num_opened_ = 0;
};

}  // namespace blocksieve::rocksdb_plugin
