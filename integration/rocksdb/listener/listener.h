#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <string>
#include <vector>

#include "blocksieve/rocksdb/enable.h"
#include "integration/rocksdb/compat/open_databases.h"

namespace blocksieve::rocksdb_plugin {

/// The listener of NewListener.
class Listener final : public rocksdb::EventListener {
 public:
  static const char kName[];

  /// What new files of a column family of this name hold, as ExplainCarrier says; may be empty.
  using Explain = std::string (*)(rocksdb::DB* db, const std::string& family);

  explicit Listener(Explain explain) : explain_(explain) {}

  const char* Name() const override { return kName; }

  void OnFlushBegin(rocksdb::DB* db, const rocksdb::FlushJobInfo& flush) override;
  void OnCompactionBegin(rocksdb::DB* db, const rocksdb::CompactionJobInfo& compaction) override;

  /// Says what to do where RocksDB refuses to write files with a block index: SetOptions accepts
  /// what causes that, without a call of the index.
  void OnBackgroundError(rocksdb::BackgroundErrorReason reason, rocksdb::Status* error) override;

  void OnTableFileCreationStarted(const rocksdb::TableFileCreationBriefInfo& sst) override;
  void OnTableFileCreated(const rocksdb::TableFileCreationInfo& sst) override;
  void OnTableFileDeleted(const rocksdb::TableFileDeletionInfo& sst) override;

 private:
  void OnBegin(rocksdb::DB* db, const FamilyId& family, const std::vector<std::string>& ssts,
               const rocksdb::CompactionJobInfo* compaction);

  const Explain explain_;
};

/// What is wrong without the listener, for messages.
inline constexpr const char* kNeedsListener =
    "wasted_reads and bits_per_key need the listener; add NewListener() to DBOptions::listeners";

/// Whether this version's listener is among them.
bool HasListener(const rocksdb::DBOptions& options);

}  // namespace blocksieve::rocksdb_plugin
