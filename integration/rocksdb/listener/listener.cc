// SPDX-License-Identifier: Apache-2.0
#include "integration/rocksdb/listener/listener.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <string_view>

#include "integration/rocksdb/compat/log.h"
#include "integration/rocksdb/compat/version_differences.h"
#include "integration/rocksdb/levels/column_family_levels.h"
#include "integration/rocksdb/sidecar/databases.h"

namespace blocksieve::rocksdb_plugin {
namespace {

/// Calls `function` and logs its exceptions, since RocksDB is not exception-safe. Without sidecars,
/// indexes are in table properties, or files are read as a whole.
template <class Function>
void UpdateSidecars(Function function) noexcept {
  try {
    function();
  } catch (const std::exception& error) {
    LogLoudly(nullptr,
              "sidecar handling failed, so a skip index may be in table properties or missing: ",
              error.what());
  }
}

void LogCarrier(rocksdb::DB* db, const std::string& family, Listener::Explain explain) noexcept
    try {
  const std::string carrier = explain(db, family);
  if (carrier.empty()) return;
  LogQuietly(db->GetDBOptions().info_log.get(), "new files have ", carrier, family);
} catch (const std::exception&) {
  // Memory is short: the log lacks a line.
}

}  // namespace

const char Listener::kName[] = "blocksieve";

void Listener::OnBegin(rocksdb::DB* db, const FamilyId& family,
                       const std::vector<std::string>& ssts,
                       const rocksdb::CompactionJobInfo* compaction) {
  const bool is_first = RefreshLevels(db, family, compaction);
  UpdateSidecars([&] { RegisterForSidecars(db, family, ssts); });
  if (is_first) LogCarrier(db, family.name, explain_);
}

void Listener::OnFlushBegin(rocksdb::DB* db, const rocksdb::FlushJobInfo& flush) {
  OnBegin(db, {flush.cf_name, flush.cf_id}, {flush.file_path}, nullptr);
}

void Listener::OnCompactionBegin(rocksdb::DB* db, const rocksdb::CompactionJobInfo& compaction) {
  OnBegin(db, {compaction.cf_name, compaction.cf_id}, compaction.input_files, &compaction);
}

void Listener::OnBackgroundError(rocksdb::BackgroundErrorReason, rocksdb::Status* error) {
  const std::string_view text = error->getState() == nullptr ? "" : error->getState();
  if (!error->IsInvalidArgument() || text.find("user_defined_index_factory") == text.npos) return;
  static std::atomic<bool> said = false;
  if (said.exchange(true)) return;
  LogLoudly(nullptr,
            "RocksDB writes no files with a block index and parallel compression, nor with a null "
            "index that is primary; undo that by SetOptions and open the database again; reason: ",
            text);
}

void Listener::OnTableFileCreationStarted(const rocksdb::TableFileCreationBriefInfo& sst) {
  UpdateSidecars([&] { OnSstStarted(this, sst); });
}

void Listener::OnTableFileCreated(const rocksdb::TableFileCreationInfo& sst) {
  UpdateSidecars([&] { OnSstCreated(sst); });
}

void Listener::OnTableFileDeleted(const rocksdb::TableFileDeletionInfo& sst) {
  UpdateSidecars([&] { OnSstDeleted(this, sst); });
}

bool HasListener(const rocksdb::DBOptions& options) {
  return std::any_of(options.listeners.begin(), options.listeners.end(),
                     [](const auto& one) { return As<Listener>(one.get()) != nullptr; });
}

}  // namespace blocksieve::rocksdb_plugin
