// SPDX-License-Identifier: Apache-2.0
#include "tests/rocksdb/random/database.h"

#include <algorithm>
#include <cstring>

#include "integration/rocksdb/compat/version_differences.h"
#include "tests/rocksdb/compat/interfering_db.h"
#include "tests/rocksdb/random/generator.h"

namespace blocksieve::testing {

const RandomDb::Entry RandomDb::kEntries[] = {
    {"put", &RandomDb::Write},
    {"delete", &RandomDb::Write},
    {"merge", &RandomDb::Write},
    {"single_delete", &RandomDb::Write},
    {"delete_range", &RandomDb::Write},
    {"begin", &RandomDb::Begin},
    {"prepare", &RandomDb::Prepare},
    {"commit", &RandomDb::End},
    {"rollback", &RandomDb::End},
    {"flush", &RandomDb::Flush},
    {"compact", &RandomDb::Compact},
    {"compact_files", &RandomDb::CompactFiles},
    {"delete_files", &RandomDb::DeleteFiles},
    {"ingest", &RandomDb::Ingest},
    {"reopen", &RandomDb::Reopen},
    {"repair", &RandomDb::Repair},
    {"import", &RandomDb::Import},
    {"snapshot", &RandomDb::Snapshot},
    {"release", &RandomDb::Release},
    {"get", &RandomDb::Read, true},
    {"multiget", &RandomDb::Read, true},
    {"scan", &RandomDb::Read, true},
    {"multiscan", &RandomDb::Read, true},
    {"skipscan", &RandomDb::SkipScan, true},
    {"decide", &RandomDb::MakeDecision, true},
    {"iterator", &RandomDb::NewIterator, true},
    {"move", &RandomDb::MoveIterator, true},
    {"refresh", &RandomDb::RefreshIterator, true},
};

RandomDb::RandomDb(ReadTotals* totals, const Fault& fault) : totals_(*totals), fault_(fault) {}

const RandomDb::Entry* RandomDb::Find(const std::string& verb) {
  const auto* const entry =
      std::ranges::find_if(kEntries, [&](const Entry& each) { return each.verb == verb; });
  return entry == std::end(kEntries) ? nullptr : entry;
}

void RandomDb::Run(const Operations& text) {
  text_ = &text;
  if (db_ == nullptr && next_ == 0) {
    const bool has_settings = !text.empty() && text[0].verb == "open";
    Open(has_settings ? text[0] : Operation{"open"});
    next_ = has_settings;
  }
  while (next_ < text.size() && !has_failed()) RunOne(text[next_++]);
}

void RandomDb::RunOne(const Operation& operation) {
  const Entry* const entry = Find(operation.verb);
  if (entry == nullptr) return;
  if (!entry->is_read) EndDetour();
  (this->*entry->run)(operation);
}

// Openings.

void RandomDb::Open(const Operation& operation) {
  settings_ = Settings(operation, settings_ ? &*settings_ : nullptr);
  const rocksdb::Options options = settings_->ToConfig().ToOptions();
  if (const std::string policy = settings_->Get("transactions"); !policy.empty()) {
    auto db = OpenTransactionDb(options,
                                policy == "committed"  ? rocksdb::WRITE_COMMITTED
                                : policy == "prepared" ? rocksdb::WRITE_PREPARED
                                                       : rocksdb::WRITE_UNPREPARED,
                                path_);
    transactions_ = db.get();
    db_ = std::move(db);
  } else if (!Must(operation, rocksdb_plugin::OpenDb(options, path_, &db_))) {
    return;
  }
  if (rows_ == nullptr) rows_ = std::make_shared<Rows>(KeyLess{settings_->comparator()});
  AdvanceTime();
  loses_order_ |= settings_->Has("cf.preclude_last_level_data_seconds");
  if (settings_->Has("threads") && !is_repaired_) StartThreads();
}

void RandomDb::DropDecisions() {
  iterators_.clear();
  for (const auto& [slot, pruning] : decisions_) totals_.Add(*pruning);
  decisions_.clear();
}

void RandomDb::Close() {
  StopThreads();
  if (db_ == nullptr) return;
  EndDetour();
  DropDecisions();
  for (const auto& [slot, moment] : moments_) {
    if (moment.snapshot != nullptr) db_->ReleaseSnapshot(moment.snapshot);
  }
  moments_.clear();
  if (transaction_ != nullptr) transaction_->Rollback().PermitUncheckedError();
  transaction_ = nullptr;
  batch_ = nullptr;
  changed_ = nullptr;
  db_ = nullptr;
  transactions_ = nullptr;
}

void RandomDb::Reopen(const Operation& operation) {
  Close();
  Open(operation);
}

void RandomDb::EndDetour() {
  if (imported_ != nullptr) {
    DropDecisions();
    MustBeOk(db_->DropColumnFamily(imported_), "drop");
    MustBeOk(db_->DestroyColumnFamilyHandle(imported_), "drop");
    imported_ = nullptr;
  }
  // RocksDB 7.8.3 does not always go on with a repaired database.
  if (!is_repaired_) return;
  is_repaired_ = false;
  Close();
  MustBeOk(rocksdb::DestroyDB(path_, settings_->ToConfig().ToOptions()), "destroy");
  std::filesystem::remove_all(path_);  // RepairDB leaves files that it could not read
  rows_ = nullptr;
  trusts_database_ = false;
  num_writes_.clear();
  Open(settings_->operation());
}

void RandomDb::AdvanceTime() {
  if (!settings_->has_timestamps()) return;
  ++time_;
  now_.assign(sizeof(time_), '\0');
  std::memcpy(now_.data(), &time_, sizeof(time_));  // as EncodeU64Ts on little-endian
}

// Reads.

RowsPtr RandomDb::Load(rocksdb::ColumnFamilyHandle* family, const rocksdb::Snapshot* snapshot) {
  return LoadRows(
      *settings_, [&](const auto& read) { return db_->NewIterator(read, family); }, snapshot);
}

View RandomDb::MakeView(const Operation& operation) {
  View view{db_.get(), db_->DefaultColumnFamily(), rows_, nullptr, now_};
  if (const auto moment = moments_.find(operation.Get("snapshot")); moment != moments_.end()) {
    view.rows = moment->second.rows;
    view.snapshot = moment->second.snapshot;
    view.timestamp = moment->second.timestamp;
  }
  if (imported_ != nullptr) view.family = imported_;
  if (trusts_database_ || imported_ != nullptr) view.rows = Load(view.family, view.snapshot);
  return view;
}

std::shared_ptr<ReadPruning> RandomDb::FindDecision(const Operation& operation, const View& view) {
  if (const auto found = decisions_.find(operation.Get("prune")); found != decisions_.end())
    return found->second;
  if (operation.Has("matching")) return nullptr;
  return Decide(operation, view, context());
}

void RandomDb::Read(const Operation& operation) {
  View view = MakeView(operation);
  const std::string of = operation.verb == "scan" ? operation.Get("of") : "";
  if (of == "changes") {
    if (changed_ == nullptr || view.snapshot != nullptr || imported_ != nullptr) return;
    view.rows = changed_;
    const auto pruning = FindDecision(operation, view);
    return ReadOnce(operation, view, context(), pruning, [&](const auto& read) {
      if (transaction_ != nullptr) return transaction_->GetIterator(read);
      return batch_->NewIteratorWithBase(view.family, db_->NewIterator(read), &read);
    });
  }
  if (!of.empty()) return ReadElsewhere(operation, of);
  const auto pruning = FindDecision(operation, view);
  ReadOnce(operation, view, context(), pruning);
  if (pruning != nullptr && pruning.use_count() == 1) totals_.Add(*pruning);
}

// Other instances, and files.
void RandomDb::ReadElsewhere(const Operation& operation, const std::string& of) {
  // There, RocksDB 7.8.3 crashes at blobs.
  if (imported_ != nullptr || settings_->Has("cf.enable_blob_files")) return;
  const rocksdb_plugin::NoFileDeletions keep(db_.get());
  rocksdb::Options options = settings_->ToConfig().ToOptions();
  const auto read = [&](rocksdb::DB* db, const MakeIterator& make) {
    ReadOnce(operation,
             {db, nullptr, LoadRows(*settings_, make), nullptr,
              now_.empty() ? now_ : std::string(8, '\xff')},
             context(), nullptr, make);
  };
  if (of == "file") {
    if (settings_->has_timestamps()) return;
    std::vector<rocksdb::LiveFileMetaData> files;
    db_->GetLiveFilesMetaData(&files);
    if (files.empty()) return;
    const rocksdb::LiveFileMetaData& file = files[operation.Number("file") % files.size()];
    rocksdb::SstFileReader reader(options);
    if (!Must(operation, reader.Open(file.db_path + file.name))) return;
    return read(nullptr, [&](const auto& options) { return reader.NewIterator(options); });
  }
  if (!settings_->HidesUncommitted()) return;
  options.allow_2pc = settings_->Has("transactions");
  options.max_open_files = -1;  // RocksDB requires it for a secondary instance
  // RocksDB 7.8.3 reads no entity from a log there.
  const auto other = of == "readonly" || has_entities_
                         ? OpenReadOnly(options, path_)
                         : OpenSecondary(options, path_, dir_ / "second");
  read(other.get(), [&](const auto& options) { return other->NewIterator(options); });
}

// With over=N, the N writes and compactions that follow run between the steps of the scan.
void RandomDb::SkipScan(const Operation& operation) {
  View view = MakeView(operation);
  uint64_t left = operation.Number("over");
  if (left == 0) return ReadOnce(operation, view, context());
  if (transactions_ != nullptr || imported_ != nullptr || is_repaired_ || trusts_database_) return;
  rocksdb::ManagedSnapshot snapshot(db_.get());
  if (view.snapshot == nullptr) view.snapshot = snapshot.snapshot();
  InterferingDb interfering(db_.get(), [&] {
    static const std::set<std::string> kInterfering = {"put",   "delete",  "merge", "delete_range",
                                                       "flush", "compact", "ingest"};
    if (left == 0 || next_ == text_->size() || !kInterfering.contains((*text_)[next_].verb)) return;
    --left;
    RunOne((*text_)[next_++]);
  });
  view.db = &interfering;
  is_scanning_ = true;
  ReadOnce(operation, view, context());
  is_scanning_ = false;
}

void RandomDb::MakeDecision(const Operation& operation) {
  const View view = MakeView({});
  const auto base = decisions_.find(operation.Get("base"));
  auto pruning =
      Decide(operation, view, context(),
             base == decisions_.end() ? rocksdb::ReadOptions() : base->second->read_options());
  if (pruning == nullptr) return;
  std::shared_ptr<ReadPruning>& kept = decisions_[operation.Get("slot")];
  if (kept != nullptr) totals_.Add(*kept);
  kept = std::move(pruning);
}

void RandomDb::NewIterator(const Operation& operation) {
  const View view = MakeView(operation);
  auto& iterator = iterators_[operation.Get("slot")];
  iterator = nullptr;
  iterator =
      std::make_unique<KeptIterator>(operation, view, FindDecision(operation, view), context());
}

void RandomDb::MoveIterator(const Operation& operation) {
  const auto found = iterators_.find(operation.Get("slot"));
  if (found == iterators_.end()) return;
  if (found->second->is_tailing()) found->second->SetRows(MakeView({}).rows);
  found->second->Move(operation);
}

void RandomDb::RefreshIterator(const Operation& operation) {
  const auto found = iterators_.find(operation.Get("slot"));
  if (found != iterators_.end()) found->second->Refresh(operation, MakeView({}));
}

void RandomDb::StartThreads() {
  stop_ = false;
  for (uint64_t seed = 0; seed < 2; ++seed) {
    threads_.emplace_back([this, seed] { ReadBeside(seed); });
  }
}

void RandomDb::StopThreads() {
  stop_ = true;
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

void RandomDb::ReadBeside(uint64_t seed) {
  Generator generator(seed, settings_->operation().Number("keys"));
  while (!stop_ && !has_failed()) {
    rocksdb::ManagedSnapshot snapshot(db_.get());
    const View view{db_.get(), db_->DefaultColumnFamily(),
                    Load(db_->DefaultColumnFamily(), snapshot.snapshot()), snapshot.snapshot(), ""};
    for (int i = 0; i < 20 && !stop_; ++i) {
      const Operation operation = generator.DrawRead(*view.rows);
      const auto pruning = Decide(operation, view, context());
      ReadOnce(operation, view, context(), pruning);
      if (pruning != nullptr) totals_.Add(*pruning);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(3));
  }
}

}  // namespace blocksieve::testing
