#include "integration/toylsm/db.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "integration/toylsm/filter_rates.h"
#include "integration/toylsm/recovery.h"

// Opening, reading and closing.

namespace blocksieve::toylsm {
namespace {

Status CheckOptions(const Options& options) {
  const auto reject = [](const char* name, double value, const char* allowed) {
    return Status::InvalidArgument(std::string(name) + " is " + std::to_string(value) +
                                   "; allowed is " + allowed);
  };
  if (options.level0_files < 1) return reject("level0_files", 0, "1 or more");
  if (!(options.size_ratio > 1)) return reject("size_ratio", options.size_ratio, "more than 1");
  if (options.value_granule_blocks < 1) return reject("value_granule_blocks", 0, "1 or more");
  const Status filters = CheckKeyFilters(options);
  if (!filters.ok() || options.value_columns.empty()) return filters;
  return FileSkipIndexBuilder::Create(options).status();
}

}  // namespace

Db::Db(const Options& options, std::string directory)
    : options_(options),
      directory_(std::move(directory)),
      cache_(options.cache_bytes),
      picker_(options_),
      version_(std::make_shared<Version>(Version{std::make_shared<Memtable>(), {}})) {}

Result<std::unique_ptr<Db>> Db::Open(const Options& options, const std::string& directory) try {
  Status status = CheckOptions(options);
  if (!status.ok()) return status;
  std::unique_ptr<Db> db(new Db(options, directory));
  status = db->MakeChange([&db] { return db->Recover(); });
  if (!status.ok()) return status;
  return db;
} catch (const std::bad_alloc&) {
  return internal::OutOfMemory();
}

Db::~Db() {
  // After a failure the log must end where it failed.
  if (log_ != nullptr) (void)MakeChange([this] { return log_->Close(last_sequence_ + 1); });
}

// It is an error if there has to be one.
Result<bool> Db::HasManifest() {
  Result<bool> exists = options_.env->Exists(ManifestPath(directory_));
  if (exists.ok() && !*exists && !options_.create_if_missing) {
    return Status::InvalidArgument("no database in " + directory_);
  }
  return exists;
}

Status Db::TakeLock() {
  // Where there is no database and none is to be, nothing is left behind, not even a lock.
  const Result<bool> has_manifest = HasManifest();
  Status status = has_manifest.status();
  if (status.ok() && !*has_manifest) status = options_.env->CreateDirectory(directory_);
  if (!status.ok()) return status;
  Result<std::unique_ptr<FileLock>> lock = options_.env->Lock(directory_ + "/LOCK");
  if (lock.ok()) lock_ = *std::move(lock);
  return lock.status();
}

Status Db::Recover() {
  Env* const env = options_.env;
  Status status = TakeLock();
  if (!status.ok()) return status;
  // Asked again: until just now somebody else may have had the lock, and made a database.
  const Result<bool> has_manifest = HasManifest();
  if (!has_manifest.ok()) return has_manifest.status();
  const Result<std::vector<std::string>> names = env->List(directory_);
  if (!names.ok()) return names.status();
  if (*has_manifest) {
    Result<Recovered> recovered = ReadDirectory(env, directory_, read_context());
    if (!recovered.ok()) return recovered.status();
    manifest_ = std::move(recovered->manifest);
    version_ = std::move(recovered->version);
    last_sequence_ = recovered->last_sequence;
  } else {
    status = CheckNothingIsThere(*names);
  }
  // Begins a new log even if the old one is empty: its end may be torn.
  if (status.ok()) status = FlushMemtable();
  if (status.ok()) status = CompactWhileNeeded();
  // Not before a manifest is written: the one that was found may itself be gone after a power loss,
  // if a process was killed before it had synced it. Then the one before it needs its files.
  if (status.ok()) RemoveLeftovers(*names);
  return status;
}

// A lost manifest must not look like a new database.
Status Db::CheckNothingIsThere(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    bool is_data = IsSstName(name);
    if (IsLogName(name)) {
      const auto log = options_.env->OpenFile(directory_ + "/" + name);
      if (!log.ok()) return log.status();
      is_data = !IsEmptyLog((*log)->size());
    }
    if (is_data) return Status::Corruption(directory_ + " has " + name + " but no MANIFEST");
  }
  return Status::Ok();
}

void Db::RemoveLeftovers(const std::vector<std::string>& names) {
  std::set<std::string> wanted = {LogPath(directory_, manifest_.log_number)};
  for (const FileInfo& info : manifest_.files) wanted.insert(SstPath(directory_, info.number));
  for (const std::string& name : names) {
    const std::string path = directory_ + "/" + name;
    const bool is_ours =
        IsSstName(name) || IsLogName(name) || path == TemporaryManifestPath(directory_);
    // Whether it succeeds does not matter: nothing refers to them, and numbers that are used again
    // replace them.
    if (is_ours && !wanted.contains(path)) (void)options_.env->Remove(path);
  }
}

std::shared_ptr<const Version> Db::version() const {
  const std::lock_guard lock(view_mutex_);
  return version_;
}

// Data and sequence are of the same moment: newer data might lack versions that an older sequence
// still sees, if no snapshot kept them.
View Db::ViewAt(const Snapshot* at) const {
  const std::lock_guard lock(view_mutex_);
  return {version_, at != nullptr ? at->sequence() : last_sequence_};
}

Result<std::optional<FoundEntry>> Db::Find(const View& view, std::string_view key) {
  if (const std::optional<Entry> entry = view.version->memtable->Find(key, view.sequence)) {
    return std::optional<FoundEntry>({*entry, nullptr});
  }
  for (const Run& run : view.version->runs) {
    const size_t file = run.FindFile(key);
    if (file == run.files.size()) continue;
    auto found = run.files[file]->Find(key, view.sequence, read_context());
    if (!found.ok() || found->has_value()) return found;
  }
  return std::optional<FoundEntry>();
}

Result<std::optional<std::string>> Db::Get(std::string_view key, const Snapshot* at) {
  auto values = MultiGet({&key, 1}, at);
  if (!values.ok()) return values.status();
  return std::move(values->front());
}

Result<std::vector<std::optional<std::string>>> Db::MultiGet(std::span<const std::string_view> keys,
                                                             const Snapshot* at) {
  const View view = ViewAt(at);
  std::vector<std::optional<std::string>> values(keys.size());
  // In key order, neighbours find each other's blocks and filters in the cache.
  std::vector<size_t> order(keys.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return keys[a] < keys[b]; });
  for (const size_t i : order) {
    const Result<std::optional<FoundEntry>> found = Find(view, keys[i]);
    if (!found.ok()) return found.status();
    if (found->has_value() && (*found)->entry.type == EntryType::kPut) {
      values[i] = (*found)->entry.value;
    }
  }
  return values;
}

std::unique_ptr<Iterator> Db::NewIterator(const Snapshot* at, const KeyRange& range) {
  return std::make_unique<Iterator>(ViewAt(at), read_context(), range);
}

std::unique_ptr<toylsm::Scan> Db::Scan(const Predicate& predicate, const Snapshot* at,
                                       bool use_index, const KeyRange& range) {
  return std::make_unique<toylsm::Scan>(ViewAt(at), read_context(), predicate, use_index,
                                        /*reverse=*/false, range);
}

std::unique_ptr<const Snapshot> Db::GetSnapshot() {
  const std::lock_guard lock(view_mutex_);
  snapshots_.insert(last_sequence_);
  return std::make_unique<const Snapshot>(this, last_sequence_);
}

Snapshot::~Snapshot() {
  const std::lock_guard lock(db_->view_mutex_);
  db_->snapshots_.erase(db_->snapshots_.find(sequence_));
}

std::vector<Sequence> Db::SnapshotSequences() const {
  const std::lock_guard lock(view_mutex_);
  return {snapshots_.begin(), snapshots_.end()};
}

Status Db::Verify() {
  const std::shared_ptr<const Version> version = this->version();
  for (const std::shared_ptr<SstReader>& file : version->AllFiles()) {
    Status status = VerifyFile(*file, options_.value_columns, maintenance_context());
    if (!status.ok()) return status;
  }
  return Status::Ok();
}

}  // namespace blocksieve::toylsm
