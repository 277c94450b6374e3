// SPDX-License-Identifier: Apache-2.0
#include <rocksdb/convenience.h>
#include <rocksdb/sst_file_writer.h>
#include <rocksdb/utilities/checkpoint.h>

#include <algorithm>

#include "tests/rocksdb/random/database.h"

// Operations that change the contents of a random database, or move them between files.

namespace blocksieve::testing {
namespace {

bool IsBefore(const Rows& rows, const std::string& a, const std::string& b) {
  return rows.key_comp()(a, b);
}

void EraseRange(const Operation& range, Rows* rows) {
  const std::string begin = range.Get("begin");
  const std::string end = range.Get("end");
  if (IsBefore(*rows, begin, end)) rows->erase(rows->lower_bound(begin), rows->lower_bound(end));
}

// A template, as RocksDB has it since 9.6 only. Returns whether it has.
template <class Options>
bool AllowDbGenerated(Options* options) {
  if constexpr (requires { options->allow_db_generated_files; }) {
    options->allow_db_generated_files = true;
    return true;
  }
  return false;
}

}  // namespace

// Readers keep what they have.
Rows* RandomDb::Changed() {
  std::shared_ptr<Rows>& rows = changed_ != nullptr ? changed_ : rows_;
  if (rows.use_count() > 1) rows = std::make_shared<Rows>(*rows);
  return rows.get();
}

void RandomDb::Apply(const Operation& operation, Rows* rows) {
  const std::string key = operation.Get("key");
  const std::string value = operation.Get("value");
  if (operation.verb == "delete_range") return EraseRange(operation, rows);
  ++num_writes_[key];
  if (!fault_.reader.empty()) {
    const auto flushed = rows->find(key);
    if (flushed != rows->end() && !written_.contains(key)) fault_.flushed.insert(*flushed);
    written_.insert(key);
  }
  if (operation.verb == "put") {
    (*rows)[key] = value;
  } else if (operation.verb == "merge") {
    MergeInto(&(*rows)[key], value);
  } else {
    rows->erase(key);
  }
}

void RandomDb::Write(const Operation& operation) {
  const std::string& verb = operation.verb;
  const std::string key = operation.Get("key");
  const std::string value = operation.Get("value");
  const std::string begin = operation.Get("begin");
  const std::string end = operation.Get("end");
  const bool at_once = is_written_at_once();
  if (verb == "merge" &&
      (!settings_->Has("merges") || at_once || (NeedsBase(value) && !rows_->contains(key))))
    return;
  if (verb == "delete_range" &&
      (!settings_->Has("delete_ranges") || at_once || !IsBefore(*rows_, begin, end)))
    return;
  // SingleDelete requires a key that was written once.
  if (verb == "single_delete" && (num_writes_[key] != 1 || at_once || !rows_->contains(key)))
    return;
  if (transactions_ != nullptr && transaction_ == nullptr && at_once) return;
  AdvanceTime();
  rocksdb::ColumnFamilyHandle* const family = db_->DefaultColumnFamily();
  rocksdb::WriteBatch one;
  rocksdb::Status status;
  if (transaction_ != nullptr) {
    status = verb == "put" ? transaction_->Put(key, value) : transaction_->Delete(key);
  } else if (batch_ != nullptr) {
    status = verb == "put" ? batch_->Put(key, value) : batch_->Delete(key);
  } else if (verb == "put" && operation.Has("entity") && !settings_->Has("merges") &&
             transactions_ == nullptr && !settings_->has_timestamps()) {
    has_entities_ = true;
    status = one.PutEntity(family, key, {{rocksdb::kDefaultWideColumnName, value}, {"other", "x"}});
  } else if (verb == "put") {
    status = now_.empty() ? one.Put(key, value) : one.Put(family, key, now_, value);
  } else if (verb == "delete") {
    status = now_.empty() ? one.Delete(key) : one.Delete(family, key, now_);
  } else if (verb == "merge") {
    status = one.Merge(key, value);
  } else if (verb == "single_delete") {
    status = now_.empty() ? one.SingleDelete(key) : one.SingleDelete(family, key, now_);
  } else {
    status = one.DeleteRange(begin, end);
  }
  if (status.ok() && !at_once && !is_replaying_) status = db_->Write({}, &one);
  if (Must(operation, status)) Apply(operation, Changed());
}

// A transaction, or a batch with an index.
void RandomDb::Begin(const Operation&) {
  if (is_written_at_once() || settings_->has_timestamps() || settings_->Has("merges")) return;
  if (transactions_ != nullptr) {
    transaction_.reset(transactions_->BeginTransaction({}));
  } else {
    batch_ = std::make_unique<rocksdb::WriteBatchWithIndex>(
        settings_->ToConfig().options.comparator, 0, /*overwrite_key=*/true);
  }
  changed_ = std::make_shared<Rows>(*rows_);
}

void RandomDb::Prepare(const Operation& operation) {
  if (transaction_ == nullptr ||
      transaction_->GetState() != rocksdb::Transaction::TransactionState::STARTED)
    return;
  Must(operation, transaction_->SetName("t" + std::to_string(++num_names_)));
  Must(operation, transaction_->Prepare());
}

void RandomDb::End(const Operation& operation) {
  if (!is_written_at_once()) return;
  const bool commits = operation.verb == "commit";
  rocksdb::Status status;
  if (transaction_ != nullptr) {
    status = commits ? transaction_->Commit() : transaction_->Rollback();
  } else if (commits) {
    status = db_->Write({}, batch_->GetWriteBatch());
  }
  Must(operation, status);
  if (commits) rows_ = changed_;
  changed_ = nullptr;
  transaction_ = nullptr;
  batch_ = nullptr;
}

void RandomDb::Flush(const Operation& operation) {
  Must(operation, db_->Flush({}));
  written_.clear();
}

void RandomDb::Compact(const Operation& operation) {
  const std::string begin = operation.Get("begin");
  const std::string end = operation.Get("end");
  const rocksdb::Slice bounds[] = {begin, end};
  bool everything = !operation.Has("begin") || !IsBefore(*rows_, begin, end);
  rocksdb::CompactRangeOptions options;
  if (operation.Has("force")) {
    options.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForceOptimized;
  }
  if (operation.Has("level") && !settings_->is_universal() && !settings_->is_fifo()) {
    options.change_level = true;
    options.target_level = static_cast<int>(operation.Number("level"));
  }
  rocksdb::Slice oldest(now_);
  if (operation.Has("history") && settings_->has_timestamps()) {
    iterators_.clear();
    moments_.clear();
    options.full_history_ts_low = &oldest;
    everything = true;
  }
  // Some levels are refused.
  db_->CompactRange(options, everything ? nullptr : &bounds[0], everything ? nullptr : &bounds[1])
      .PermitUncheckedError();
}

// Some files of a level to another, or into files cut at other keys.
void RandomDb::CompactFiles(const Operation& operation) {
  // RocksDB cannot do it with these.
  if (settings_->is_fifo() || settings_->Has("cf.preclude_last_level_data_seconds")) return;
  rocksdb::ColumnFamilyMetaData metadata;
  db_->GetColumnFamilyMetaData(&metadata);
  const auto level = static_cast<size_t>(operation.Number("level")) % metadata.levels.size();
  std::vector<std::string> files;
  for (const auto& file : metadata.levels[level].files) {
    if ((operation.Number("files") >> files.size() % 8) % 2 == 0) files.push_back(file.name);
  }
  if (files.empty()) return;
  const size_t to = std::min(level + operation.Number("down") % 2, metadata.levels.size() - 1);
  rocksdb::CompactionOptions options;
  if (operation.Has("limit")) options.output_file_size_limit = operation.Number("limit");
  db_->CompactFiles(options, files, static_cast<int>(to))
      .PermitUncheckedError();  // may be busy, or refused
}

void RandomDb::DeleteFiles(const Operation& operation) {
  if (!threads_.empty() || is_written_at_once() || settings_->has_timestamps() ||
      settings_->Has("places") || settings_->Has("merges"))  // operands would lose their bases
    return;
  const std::string begin = operation.Get("begin");
  const std::string end = operation.Get("end");
  const rocksdb::Slice bounds[] = {begin, end};
  if (!IsBefore(*rows_, begin, end)) return;
  trusts_database_ = true;
  Must(operation,
       rocksdb::DeleteFilesInRange(db_.get(), db_->DefaultColumnFamily(), &bounds[0], &bounds[1]));
  rows_ = std::make_shared<Rows>(*Load(db_->DefaultColumnFamily()));
}

// The rows of the arguments, in a file of an SstFileWriter (again: that of the last time), or, with
// `from_db`, in those of another database, with their indexes.
void RandomDb::Ingest(const Operation& operation) {
  if (!takes_files() || is_written_at_once()) return;
  // Of what is ingested first of all, compactions of RocksDB 7.8.3 lose the rows of a snapshot.
  if (db_->GetLatestSequenceNumber() == 0) return;
  if (settings_->is_universal() && !threads_.empty()) return;
  if (operation.Has("again") && !last_ingested_path_.empty())
    return IngestFrom(operation, {last_ingested_path_}, last_ingested_, false);
  Rows rows(rows_->key_comp());
  const std::vector<std::string> keys = operation.All("key");
  const std::vector<std::string> values = operation.All("value");
  for (size_t i = 0; i < std::min(keys.size(), values.size()); ++i) rows[keys[i]] = values[i];
  if (rows.empty()) return;
  DbConfig config = settings_->ToConfig();
  if (operation.Has("from_db")) {
    // RocksDB 9.10 also takes such files with FIFO compaction, and then its iterators hide their
    // rows, or abort.
    if (settings_->is_fifo() || settings_->Has("cf.enable_blob_files")) return;
    config.options.compaction_style = rocksdb::kCompactionStyleLevel;
    TestDb other(config);
    for (const auto& [key, value] : rows) other.Put(key, value);
    other.Flush();
    other.Compact();
    std::vector<std::string> paths;
    for (const auto& [path, properties] : FilesOf(other.db())) paths.push_back(path);
    return IngestFrom(operation, paths, operation, true);
  }
  if (operation.Has("without_index") && !settings_->Has("uniform"))
    config.options.table_properties_collector_factories.clear();
  const std::string path = dir_ / ("ingest" + std::to_string(++num_names_));
  rocksdb::SstFileWriter writer(rocksdb::EnvOptions(), config.ToOptions());
  if (!Must(operation, writer.Open(path))) return;
  for (const auto& [key, value] : rows) Must(operation, writer.Put(key, value));
  if (operation.Has("begin") && settings_->Has("delete_ranges") &&
      IsBefore(*rows_, operation.Get("begin"), operation.Get("end")))
    Must(operation, writer.DeleteRange(operation.Get("begin"), operation.Get("end")));
  if (!Must(operation, writer.Finish())) return;
  last_ingested_ = operation;
  last_ingested_path_ = path;
  IngestFrom(operation, {path}, operation, false);
}

void RandomDb::IngestFrom(const Operation& operation, const std::vector<std::string>& paths,
                          const Operation& rows, bool is_db_generated) {
  rocksdb::IngestExternalFileOptions ingest;
  ingest.move_files = operation.Has("move");
  ingest.write_global_seqno = operation.Has("global_seqno");
  ingest.snapshot_consistency =
      !operation.Has("into_snapshots") || is_scanning_ || !moments_.empty() || !threads_.empty();
  if (is_db_generated && !AllowDbGenerated(&ingest)) return;
  if (ingest.move_files) last_ingested_path_.clear();
  if (settings_->is_universal()) {
    // Compactions of RocksDB 7.8.3 may then lose rows. It refuses to flush a memtable that has rows
    // from before and after the sequence numbers of files that were compacted meanwhile.
    trusts_database_ = true;
    if (!Must(operation, db_->Flush({}))) return;
  }
  // Some overlaps are refused.
  if (!db_->IngestExternalFile(paths, ingest).ok()) return;
  loses_order_ = true;
  Rows* const changed = Changed();
  // But no rows of the same file.
  if (!is_db_generated && rows.Has("begin") && settings_->Has("delete_ranges"))
    EraseRange(rows, changed);
  const std::vector<std::string> keys = rows.All("key");
  const std::vector<std::string> values = rows.All("value");
  for (size_t i = 0; i < std::min(keys.size(), values.size()); ++i)
    Apply(Operation{"put"}.Add("key", keys[i]).Add("value", values[i]), changed);
}

// RepairDB knows no transactions.
void RandomDb::Repair(const Operation&) {
  if (!takes_files() || settings_->Has("delete_ranges") || settings_->Has("cf.enable_blob_files") ||
      !threads_.empty())
    return;
  // RepairDB of later versions loses the order of files that were ingested, or written to two
  // levels by one compaction: Get and iterators then show different versions of a key. In any
  // version, merges may lose their base.
  if ((ROCKSDB_MAJOR >= 8 || settings_->Has("merges")) && loses_order_) return;
  Close();
  is_repaired_ = true;
  if (!rocksdb::RepairDB(path_, settings_->ToConfig().ToOptions()).ok()) {
    return EndDetour();
  }
  trusts_database_ = true;
  Open(settings_->operation());
}

// The files in another column family, with their levels and sequence numbers.
void RandomDb::Import(const Operation& operation) {
  if (!takes_files() || settings_->Has("cf.enable_blob_files")) return;
  // Before 8.1, the bounds of imported files leave out range deletes: readers then disagree, or end
  // the process.
  const auto tables = FilesOf(*db_);
  if (std::pair(ROCKSDB_MAJOR, ROCKSDB_MINOR) < std::pair(8, 1) &&
      std::ranges::any_of(
          tables, [](const auto& table) { return table.second->num_range_deletions != 0; })) {
    return;
  }
  const std::unique_ptr<rocksdb::Checkpoint> checkpoint = NewCheckpoint(db_.get());
  rocksdb::ExportImportFilesMetaData* files = nullptr;
  const std::string dir = dir_ / ("export" + std::to_string(++num_names_));
  if (!Must(operation, checkpoint->ExportColumnFamily(db_->DefaultColumnFamily(), dir, &files)))
    return;
  const std::unique_ptr<rocksdb::ExportImportFilesMetaData> owned(files);
  DropDecisions();
  // Some ingested files are refused.
  db_->CreateColumnFamilyWithImport(settings_->ToConfig().ToOptions(), dir, {}, *files, &imported_)
      .PermitUncheckedError();
}

void RandomDb::Snapshot(const Operation& operation) {
  Release(operation);
  const bool has_time = settings_->has_timestamps();
  moments_[operation.Get("slot")] = {rows_, has_time ? nullptr : db_->GetSnapshot(), now_};
}

void RandomDb::Release(const Operation& operation) {
  const auto moment = moments_.find(operation.Get("slot"));
  if (moment == moments_.end()) return;
  if (const rocksdb::Snapshot* const snapshot = moment->second.snapshot; snapshot != nullptr) {
    std::erase_if(iterators_, [](const auto& each) { return each.second->is_at_snapshot(); });
    db_->ReleaseSnapshot(snapshot);
  }
  moments_.erase(moment);
}

}  // namespace blocksieve::testing
