// SPDX-License-Identifier: Apache-2.0
#include "tests/rocksdb/random/database.h"

#include <algorithm>
#include <cstring>
#include <fstream>

#include "blocksieve/rocksdb/maintenance.h"
#include "integration/rocksdb/compat/version_differences.h"
#include "integration/rocksdb/index/skip_index_catalog.h"
#include "integration/rocksdb/listener/listener.h"
#include "integration/rocksdb/sidecar/file.h"
#include "lib/base/altered_answers.h"
#include "tests/rocksdb/compat/interfering_db.h"
#include "tests/rocksdb/random/generator.h"

namespace blocksieve::testing {

const RandomDb::Entry RandomDb::kEntries[] = {
    {"put", &RandomDb::Write, false, true},
    {"delete", &RandomDb::Write, false, true},
    {"merge", &RandomDb::Write, false, true},
    {"single_delete", &RandomDb::Write},
    {"delete_range", &RandomDb::Write, false, true},
    {"begin", &RandomDb::Begin},
    {"prepare", &RandomDb::Prepare},
    {"commit", &RandomDb::End},
    {"rollback", &RandomDb::End},
    {"flush", &RandomDb::Flush, false, true},
    {"compact", &RandomDb::Compact, false, true},
    {"compact_files", &RandomDb::CompactFiles, false, true},
    {"delete_files", &RandomDb::DeleteFiles},
    {"ingest", &RandomDb::Ingest, false, true},
    {"reopen", &RandomDb::Reopen},
    {"repair", &RandomDb::Repair},
    {"import", &RandomDb::Import},
    {"rewrite", &RandomDb::Rewrite, false, true},
    {"place", &RandomDb::PassPlace},
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

bool RandomDb::IsSimple(const Operation& operation) {
  const Entry* const entry = Find(operation.verb);
  return entry != nullptr && entry->is_simple && !operation.Has("over");
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
  path_ = operation.Get("path", path_);
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
  if (settings_->Has("path")) rows_ = std::make_shared<Rows>(*Load(db_->DefaultColumnFamily()));
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
    // A merge whose base is in another file fails.
    if (settings_->has_timestamps() || settings_->Has("merges")) return;
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

// With `lost`, after a copy without the sidecars.
void RandomDb::Rewrite(const Operation& operation) {
  for (const auto& [path, properties] : FilesOf(*db_)) {
    if (!operation.Has("lost")) break;
    std::filesystem::remove(rocksdb_plugin::SidecarPath(path));
    rocksdb_plugin::SkipIndexCatalog::Default().Forget(*properties);
  }
  RewriteFilters(db_.get(), {db_->DefaultColumnFamily()}).PermitUncheckedError();
  RebuildSkipIndexes(db_.get(), {db_->DefaultColumnFamily()}).PermitUncheckedError();
}

// A place of the product fails while the `over` operations run that follow.
void RandomDb::PassPlace(const Operation& operation) {
  size_t end = next_ + std::min<uint64_t>(operation.Number("over"), text_->size() - next_);
  end = std::find_if_not(text_->begin() + next_, text_->begin() + end, IsSimple) - text_->begin();
  const std::string kind = operation.Get("kind", "fail");
  const bool is_child = settings_->Has("path");
  if (kind == "exit" && internal::kCanAlterAnswers && !is_child) return PassInChild(operation, end);
  internal::armed_place.kind = kind[0];
  internal::armed_place.every = 1 + operation.Number("every");
  internal::armed_place.place =
      std::ranges::find(internal::kPlaces, operation.Get("at")) - internal::kPlaces;
  while (next_ < end && !has_failed()) {
    RunOne((*text_)[next_++]);
    if (is_child) std::ofstream(path_ + ".done", std::ios::app) << '.';
  }
  internal::armed_place.place = std::size(internal::kPlaces);
  CheckFiles(operation);
}

// Threads of RocksDB survive no fork, so the child runs this program anew. What it wrote up to its
// end must be there; of its last operation, all or nothing.
void RandomDb::PassInChild(const Operation& operation, size_t end) {
  Close();
  Operations text = {Operation{"open", settings_->operation().args}.Add("path", path_), operation};
  text.insert(text.end(), text_->begin() + next_, text_->begin() + end);
  std::ofstream(path_ + ".text") << ToText(text);
  std::ofstream(path_ + ".done").close();
  const std::string program = std::filesystem::read_symlink("/proc/self/exe");
  // NOLINTNEXTLINE(cert-env33-c,concurrency-mt-unsafe)
  const int status = std::system(("BLOCKSIEVE_RANDOM_TEXT='" + path_ + ".text' exec '" + program +
                                  "' --gtest_filter=RandomText* >'" + path_ + ".log' 2>&1")
                                     .c_str());
  const bool has_exited = status == internal::kExitedAtPlace << 8;  // as waitpid has it
  totals_.processes_exited += has_exited;
  if (status != 0 && !has_exited)
    return comparer_.Fail(operation, "in a child process:\n" + ReadFile(path_ + ".log"));
  Open(settings_->operation());
  if (has_failed()) return;
  const RowsPtr shown = Load(db_->DefaultColumnFamily());
  const size_t done = next_ + ReadFile(path_ + ".done").size();
  is_replaying_ = true;
  for (; next_ < end && (next_ < done || (next_ == done && *shown != *rows_)); ++next_) {
    if (Find((*text_)[next_].verb)->run == &RandomDb::Write) Write((*text_)[next_]);
  }
  is_replaying_ = false;
  next_ = end;
  if (*shown != *rows_) comparer_.Fail(operation, "the next opening shows other rows");
  CheckFiles(operation);
}

// All files belong to the database, or to iterators, and filters do not exceed the ceiling.
void RandomDb::CheckFiles(const Operation& operation) {
  const auto* const listener = rocksdb_plugin::FindListener(db_->GetDBOptions());
  if (!settings_->Has("places") || listener == nullptr) return;
  listener->Refresh(db_.get(), {"default", 0});
  Must(operation, db_->PauseBackgroundWork());
  uint64_t filter_bytes = 0;
  std::string sizes;
  std::set<std::string> live;
  for (const auto& [path, properties] : FilesOf(*db_)) {
    live.insert(std::filesystem::path(path).stem());
    // Filters that were left out always answer "may match".
    if (properties->filter_size <= 8) continue;
    filter_bytes += properties->filter_size;
    sizes += " " + std::to_string(properties->filter_size);
  }
  // Files that came in by ingestion may exceed it.
  if (filter_bytes > 512 && !loses_order_)
    comparer_.Fail(operation, "filters take " + std::to_string(filter_bytes) + " bytes:" + sizes);
  for (const auto& entry : std::filesystem::directory_iterator(path_)) {
    const std::filesystem::path name = entry.path().filename();
    const bool is_ours = name.extension() == ".sst" || name.extension() == ".bsx";
    const bool is_left = is_ours && iterators_.empty() && !live.contains(name.stem());
    if (is_left || name.extension() == ".tmp")
      comparer_.Fail(operation, "leaves the file " + name.string());
  }
  Must(operation, db_->ContinueBackgroundWork());
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
    if (left == 0 || next_ == text_->size() || !IsSimple((*text_)[next_])) return;
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
