// SPDX-License-Identifier: Apache-2.0
#include "integration/rocksdb/listener/listener.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <set>
#include <string_view>

#include "integration/rocksdb/compat/log.h"
#include "integration/rocksdb/compat/version_differences.h"
#include "integration/rocksdb/levels/column_family_levels.h"
#include "integration/rocksdb/levels/filter_budget.h"
#include "integration/rocksdb/sidecar/databases.h"
#include "lib/base/altered_answers.h"

namespace blocksieve::rocksdb_plugin {
namespace {

/// Calls `function` and drops its exceptions: the account of filter_memory then lacks an entry,
/// which the next reading of the levels adds.
template <class Function>
void UpdateAccount(Function function) noexcept {
  if (!KeepsAccounts()) return;
  try {
    if (internal::FailsAt("before_account")) throw std::bad_alloc();
    function();
    if (internal::FailsAt("after_account")) throw std::bad_alloc();
  } catch (const std::exception&) {
  }
}

std::set<uint64_t> NumbersOf(const std::vector<rocksdb::CompactionFileInfo>& files) {
  std::set<uint64_t> numbers;
  for (const auto& file : files) numbers.insert(file.file_number);
  return numbers;
}

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

void LogCarrier(rocksdb::DB* db, const std::string& family, Listener::Describe describe) noexcept
    try {
  const std::string carrier = describe(db, family).carrier;
  if (carrier.empty()) return;
  LogQuietly(db->GetDBOptions().info_log.get(), "new files have ", carrier, family);
} catch (const std::exception&) {
  // Memory is short: the log lacks a line.
}

}  // namespace

const char Listener::kName[] = "blocksieve";

void Listener::OnBegin(rocksdb::DB* db, const FamilyId& family,
                       const std::vector<std::string>& ssts,
                       const rocksdb::CompactionJobInfo* compaction) const {
  const bool is_first = RefreshLevels(db, family, compaction);
  UpdateAccount([&] {
    JoinCeilings(OpenDatabase(db),
                 [&](const std::string& name) { return describe_(db, name).ceiling; });
  });
  UpdateSidecars([&] { RegisterForSidecars(db, family, ssts); });
  if (is_first) LogCarrier(db, family.name, describe_);
}

void Listener::OnFlushBegin(rocksdb::DB* db, const rocksdb::FlushJobInfo& flush) {
  UpdateAccount([&] {
    // Of all column families, as there is no handle of this one.
    uint64_t num_keys = 0;
    db->GetAggregatedIntProperty(rocksdb::DB::Properties::kNumEntriesImmMemTables, &num_keys);
    BeginJob(OpenDatabase(db), {flush.cf_name, flush.job_id, {}, 0, num_keys});
  });
  OnBegin(db, {flush.cf_name, flush.cf_id}, {flush.file_path}, nullptr);
}

void Listener::OnFlushCompleted(rocksdb::DB* db, const rocksdb::FlushJobInfo& flush) {
  UpdateAccount(
      [&] { EndJob(OpenDatabase(db), flush.cf_name, flush.job_id, true, {flush.file_number}); });
}

void Listener::OnCompactionBegin(rocksdb::DB* db, const rocksdb::CompactionJobInfo& compaction) {
  UpdateAccount([&] {
    SstJob job{compaction.cf_name,
               compaction.job_id,
               NumbersOf(compaction.input_file_infos),
               compaction.output_level,
               0,
               compaction.compaction_reason == rocksdb::CompactionReason::kManualCompaction};
    for (const auto& [_, properties] : compaction.table_properties)
      job.num_keys += properties->num_entries;
    BeginJob(OpenDatabase(db), job);
  });
  OnBegin(db, {compaction.cf_name, compaction.cf_id}, compaction.input_files, &compaction);
}

void Listener::OnCompactionCompleted(rocksdb::DB* db,
                                     const rocksdb::CompactionJobInfo& compaction) {
  UpdateAccount([&] {
    EndJob(OpenDatabase(db), compaction.cf_name, compaction.job_id, compaction.status.ok(),
           NumbersOf(compaction.output_file_infos));
  });
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
  std::optional<WrittenSst> written;
  UpdateSidecars([&] {
    written = TakeWrittenSst(sst);
    if (written) OnSstCreated(*written, sst);
  });
  if (written) UpdateAccount([&] { EndSst(*written, sst); });
}

void Listener::OnTableFileDeleted(const rocksdb::TableFileDeletionInfo& sst) {
  UpdateSidecars([&] { DropSst(OnSstDeleted(this, sst), sst.file_path); });
}

const Listener* FindListener(const rocksdb::DBOptions& options) {
  for (const auto& one : options.listeners) {
    if (const auto* const listener = As<Listener>(one.get())) return listener;
  }
  return nullptr;
}

}  // namespace blocksieve::rocksdb_plugin
