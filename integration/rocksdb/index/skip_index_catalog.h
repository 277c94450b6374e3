#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <rocksdb/db.h>
#include <rocksdb/table_properties.h>

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "blocksieve/skip_index.h"
#include "integration/rocksdb/compat/cache_charge.h"
#include "integration/rocksdb/sidecar/file.h"
#include "lib/skip/column_index.h"

namespace blocksieve::rocksdb_plugin {

/// A skip index without keys, in a carrier that knows the keys of its granules.
struct CarriedIndex {
  std::shared_ptr<const SkipIndex> index;  ///< Null: none.
  std::string problem = {};                ///< Why there is none.
  uint32_t value_suffix_bytes = 0;
  uint64_t memory_bytes = 0;  ///< With the carrier.
  /// As SkipIndex::GetKeyRange; false: the first granule begins with the file.
  std::function<bool(size_t granule, std::string* first, std::string* last)> get_keys = nullptr;
};

/// Reads one from a file that has no index in a sidecar or in properties.
using ReadCarried = std::function<CarriedIndex(const SstPlace& sst)>;

/// The opened skip index of an SST, or the reason why it has none. Immutable, thread-safe.
class SstIndex {
 public:
  /// Opens the index in the sidecar of `sst`, and reads only `columns`, or all if not given.
  /// Without a sidecar that belongs to the SST, opens the index in `properties`, and keeps its
  /// bytes alive.
  explicit SstIndex(std::shared_ptr<const rocksdb::TableProperties> properties,
                    const SstPlace& sst = {},
                    std::optional<std::vector<Column>> columns = std::nullopt,
                    const ReadCarried& read_carried = nullptr);

  SstIndex(const SstIndex&) = delete;
  SstIndex& operator=(const SstIndex&) = delete;

  /// Null if there is no usable index; problem() then has the reason.
  const SkipIndex* index() const { return index_ ? &*index_ : carried_.index.get(); }
  const std::string& problem() const { return problem_; }

  /// Whether the sidecar of the SST is missing.
  bool lacks_sidecar() const { return lacks_sidecar_; }

  /// False if opening again may give another result: memory was short, or a sidecar is missing.
  bool is_lasting() const { return is_lasting_; }

  /// Whether the index has these columns. False if only others were read from a sidecar.
  bool HasRead(std::span<const Column> columns) const;

  /// Whether the index is in a sidecar.
  bool is_in_sidecar() const { return is_in_sidecar_; }

  /// The columns that were read from a sidecar; nothing: all.
  const std::optional<std::vector<Column>>& columns() const { return columns_; }

  uint32_t value_suffix_bytes() const { return value_suffix_bytes_; }

  /// Keys of a granule, as SkipIndex::GetKeyRange, or such that no key of it is outside. False if
  /// `*first` is not known, and stays as it is: the granule begins with the file.
  bool GetKeyRange(size_t granule, std::string* first, std::string* last) const;

  /// Whether an index in a carrier was looked for.
  bool looked_for_carried() const { return looked_for_carried_; }

  /// Memory held by the index, with the bytes that it refers to.
  uint64_t memory_bytes() const;

 private:
  bool OpenSidecar(const SstPlace& sst);
  void OpenProperties();
  bool Keep(Result<SkipIndex> index);

  const std::shared_ptr<const rocksdb::TableProperties> properties_;
  std::optional<std::vector<Column>> columns_;
  bool is_in_sidecar_ = false;
  bool lacks_sidecar_ = false;
  std::optional<SkipIndex> index_;
  CarriedIndex carried_;
  bool looked_for_carried_ = false;
  std::string problem_;
  bool is_lasting_ = true;
  uint32_t value_suffix_bytes_ = 0;
};

/// The opened indexes of many files for the columns of a condition. Has what is asked of each, so
/// that asking all misses few caches.
struct IndexesOfFiles {
  struct File {
    std::shared_ptr<const SstIndex> index = nullptr;  ///< Null: not opened.
    std::shared_ptr<const void> table = nullptr;      ///< The same for a file of other lists.
    bool has_index = false;
    size_t num_granules = 0;
    uint32_t value_suffix_bytes = 0;
  };

  uint64_t owner = 0;  ///< Serial number of the list of files.
  std::vector<Column> columns = {};
  std::vector<File> files = {};
  std::vector<internal::ColumnDigest> digests = {};  ///< Of the first file's columns, and so on.
};

/// LRU cache of opened indexes, which scans need not check and decompress again. Thread-safe.
class SkipIndexCatalog {
 public:
  explicit SkipIndexCatalog(uint64_t capacity_bytes) : capacity_bytes_(capacity_bytes) {}

  /// Changes the capacity. `charged`: as in SkipIndexCacheOptions.
  void Configure(uint64_t capacity_bytes, std::shared_ptr<rocksdb::Cache> charged);

  /// The catalog of this process: the ids of SSTs are unique across databases.
  static SkipIndexCatalog& Default();

  /// The index of `sst`, with at least these columns. `read_carried`: called if it has no other;
  /// may be empty. `id`: IdOfSst.
  std::shared_ptr<const SstIndex> Open(
      const std::optional<SidecarId>& id,
      const std::shared_ptr<const rocksdb::TableProperties>& properties, const SstPlace& sst,
      std::span<const Column> columns, const ReadCarried& read_carried = nullptr);
  std::shared_ptr<const SstIndex> Open(
      const std::shared_ptr<const rocksdb::TableProperties>& properties, const SstPlace& sst = {},
      std::span<const Column> columns = {}) {
    return Open(IdOfSst(*properties), properties, sst, columns);
  }

  /// Keeps the indexes of many files until an index is dropped, unless one was dropped since there
  /// were `num_dropped` of them. All must be in the catalog.
  void Keep(std::shared_ptr<const IndexesOfFiles> files, uint64_t num_dropped);

  /// Whether it has an index that Open returned, if none was dropped since there were so many.
  bool Holds(const SstIndex& index, uint64_t num_dropped) const;

  /// Those kept for the owner, or else for the earlier one, or null, and how many indexes were
  /// dropped so far.
  std::pair<std::shared_ptr<const IndexesOfFiles>, uint64_t> FindKept(
      uint64_t owner, uint64_t earlier_owner, const std::vector<Column>& columns) const;

  /// Drops the cached index of a file whose sidecar was replaced.
  void Forget(const rocksdb::TableProperties& properties);

  uint64_t used_bytes() const;

 private:
  using Entry = std::pair<SidecarId, std::shared_ptr<const SstIndex>>;
  struct Hash {
    size_t operator()(const SidecarId& id) const noexcept { return static_cast<size_t>(id[0]); }
  };
  using Positions = std::unordered_map<SidecarId, std::list<Entry>::iterator, Hash>;

  void Erase(Positions::iterator position);
  bool Takes(const SstIndex& index) const;
  void Insert(const std::optional<SidecarId>& id, const std::shared_ptr<const SstIndex>& index);

  /// Evicts indexes that exceed the capacity, or for which the charged cache has no room.
  void Shrink();

  mutable std::mutex mutex_;
  uint64_t capacity_bytes_;
  std::unique_ptr<CacheCharge> charge_;  // null: no cache is charged
  std::list<Entry> entries_;             // the most recently used first
  Positions positions_;                  // by IdOfSst
  uint64_t used_bytes_ = 0;
  std::vector<std::shared_ptr<const IndexesOfFiles>> kept_;  // the newest last
  uint64_t num_dropped_ = 0;
};

}  // namespace blocksieve::rocksdb_plugin
