#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <rocksdb/file_system.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "blocksieve/predicate.h"
#include "integration/rocksdb/index/prune_rule.h"
#include "integration/rocksdb/index/skip_index_catalog.h"
#include "integration/rocksdb/scan/family_files.h"
#include "lib/skip/granule_pruner.h"

namespace blocksieve::rocksdb_plugin {

/// Asks the indexes of files about one condition. Those that an earlier call opened, for this list
/// of files or the one before, are not looked up again. Not thread-safe. Throws std::bad_alloc.
class FileAsker {
 public:
  /// REQUIRES: `files` and `condition` outlive it
  FileAsker(const FamilyFiles& files, const Predicate& condition,
            std::shared_ptr<rocksdb::FileSystem> file_system, uint32_t value_suffix_bytes);
  FileAsker(const FileAsker&) = delete;
  FileAsker& operator=(const FileAsker&) = delete;

  /// What it says of a file is undefined after the next call.
  FileIndex Open(size_t file);

  /// Lets later calls find the indexes that this one opened.
  void Keep();

 private:
  size_t num_columns() const { return condition_.columns().size(); }
  ptrdiff_t Offset(size_t file) const { return static_cast<ptrdiff_t>(file * num_columns()); }
  std::span<const internal::ColumnDigest> DigestsOf(size_t file) const;
  void Start();
  void TakeOver(const IndexesOfFiles& earlier);
  void OpenByCatalog(size_t file);
  void ForgetUnlessHeld();

  const FamilyFiles& files_;
  const Predicate& condition_;
  const std::shared_ptr<rocksdb::FileSystem> file_system_;
  const uint32_t value_suffix_bytes_;
  internal::GranulePruner pruner_;
  std::shared_ptr<const IndexesOfFiles> kept_;
  std::shared_ptr<IndexesOfFiles> opened_;  // the same, if this call made them; else null
  uint64_t num_dropped_ = 0;
  std::optional<size_t> last_opened_;  // by the catalog

  // The file of the last call.
  const IndexesOfFiles::File* current_ = nullptr;
  std::span<const internal::ColumnDigest> digests_;
};

}  // namespace blocksieve::rocksdb_plugin
