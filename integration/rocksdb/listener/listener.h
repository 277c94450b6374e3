#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <string>
#include <vector>

#include "blocksieve/rocksdb/enable.h"
#include "integration/rocksdb/compat/open_databases.h"
#include "integration/rocksdb/levels/filter_budget.h"

namespace blocksieve::rocksdb_plugin {

/// What the options of a column family say of its new files.
struct FamilyFacts {
  std::string carrier;    ///< As ExplainCarrier says; may be empty.
  FilterCeiling ceiling;  ///< Of filter_memory.
};

/// The listener of NewListener.
class Listener final : public rocksdb::EventListener {
 public:
  static const char kName[];

  /// Of the column family of this name. The listener cannot ask, as it gets no handles.
  using Describe = FamilyFacts (*)(rocksdb::DB* db, const std::string& family);

  explicit Listener(Describe describe) : describe_(describe) {}

  const char* Name() const override { return kName; }

  void OnFlushBegin(rocksdb::DB* db, const rocksdb::FlushJobInfo& flush) override;
  void OnFlushCompleted(rocksdb::DB* db, const rocksdb::FlushJobInfo& flush) override;
  void OnCompactionBegin(rocksdb::DB* db, const rocksdb::CompactionJobInfo& compaction) override;
  void OnCompactionCompleted(rocksdb::DB* db,
                             const rocksdb::CompactionJobInfo& compaction) override;

  /// Reads the levels and ceilings of a database in which perhaps nothing was flushed or compacted
  /// since it was opened, as before either.
  void Refresh(rocksdb::DB* db, const FamilyId& family) const { OnBegin(db, family, {}, nullptr); }

  /// Says what to do where RocksDB refuses to write files with a block index: SetOptions accepts
  /// what causes that, without a call of the index.
  void OnBackgroundError(rocksdb::BackgroundErrorReason reason, rocksdb::Status* error) override;

  void OnTableFileCreationStarted(const rocksdb::TableFileCreationBriefInfo& sst) override;
  void OnTableFileCreated(const rocksdb::TableFileCreationInfo& sst) override;
  void OnTableFileDeleted(const rocksdb::TableFileDeletionInfo& sst) override;

 private:
  void OnBegin(rocksdb::DB* db, const FamilyId& family, const std::vector<std::string>& ssts,
               const rocksdb::CompactionJobInfo* compaction) const;

  const Describe describe_;
};

/// What is wrong without the listener, for messages.
inline constexpr const char* kNeedsListener =
    "wasted_reads, bits_per_key and filter_memory need the listener; add NewListener() to "
    "DBOptions::listeners";

/// This version's listener among them, or null.
const Listener* FindListener(const rocksdb::DBOptions& options);
inline bool HasListener(const rocksdb::DBOptions& options) {
  return FindListener(options) != nullptr;
}

}  // namespace blocksieve::rocksdb_plugin
