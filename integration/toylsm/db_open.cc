#include <utility>

#include "integration/toylsm/db.h"

// Opening and closing.

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
  for (const KeyFilterOptions& filter : options.key_filters) {
    if (!filter.enabled) continue;
    const auto builder =
        FilterBuilder::Create({.kind = filter.kind, .target_fpr = filter.target_fpr});
    if (!builder.ok()) return builder.status();
  }
  return ValueIndexBuilder::Create(options).status();
}

bool HasSuffix(const std::string& name, std::string_view suffix) {
  return std::string_view(name).ends_with(suffix);
}

}  // namespace

Db::Db(const Options& options, std::string directory)
    : options_(options),
      directory_(std::move(directory)),
      cache_(options.cache_bytes),
      picker_(options_),
      version_(std::make_shared<Version>(Version{std::make_shared<Memtable>(), {}})) {}

Result<std::unique_ptr<Db>> Db::Open(const Options& options, const std::string& directory) {
  Status status = CheckOptions(options);
  if (!status.ok()) return status;
  std::unique_ptr<Db> db(new Db(options, directory));
  const std::lock_guard lock(db->write_mutex_);
  status = db->Recover();
  if (!status.ok()) {
    (void)db->RememberFailure(status);  // so that closing writes nothing
    return status;
  }
  return db;
}

Db::~Db() {
  // After a failure the log must end where it failed.
  if (failure_.ok() && log_ != nullptr) (void)log_->Close(last_sequence_ + 1);
}

Status Db::Recover() {
  Env* const env = options_.env;
  const Result<bool> exists = env->Exists(ManifestPath(directory_));
  if (!exists.ok()) return exists.status();
  if (!*exists && !options_.create_if_missing) {
    return Status::InvalidArgument("no database in " + directory_);
  }
  if (!*exists) {
    const Status created = env->CreateDirectory(directory_);
    if (!created.ok()) return created;
  }
  Result<std::unique_ptr<FileLock>> lock = env->Lock(directory_ + "/LOCK");
  if (!lock.ok()) return lock.status();
  lock_ = *std::move(lock);
  const Result<std::vector<std::string>> names = env->List(directory_);
  if (!names.ok()) return names.status();
  if (!*exists) {
    const Status status = CheckNothingIsThere(*names);
    return status.ok() ? FlushMemtable() : status;  // writes a first log and manifest
  }

  const Result<std::string> bytes = ReadWhole(env, ManifestPath(directory_));
  if (!bytes.ok()) return bytes.status();
  Result<Manifest> manifest = Manifest::Decode(AsBytes(*bytes));
  if (!manifest.ok()) return manifest.status();
  manifest_ = *std::move(manifest);
  last_sequence_ = manifest_.last_sequence;
  SstFiles files;
  for (const FileInfo& info : manifest_.files) {
    auto file = SstReader::Open(env, SstPath(directory_, info.number), info, read_context());
    if (!file.ok()) return file.status();
    files.push_back(*std::move(file));
  }
  Result<std::vector<Run>> runs = Version::MakeRuns(std::move(files));
  if (!runs.ok()) return runs.status();
  version_ = std::make_shared<Version>(Version{std::make_shared<Memtable>(), *std::move(runs)});
  const Status replayed = ReplayLog();
  if (!replayed.ok()) return replayed;
  RemoveLeftovers(*names);
  // Begins a new log even if the old one is empty: its end may be torn.
  return FlushMemtable();
}

// A lost manifest must not look like a new database.
Status Db::CheckNothingIsThere(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    bool is_data = HasSuffix(name, ".sst");
    if (HasSuffix(name, ".log")) {
      const Result<std::string> log = ReadWhole(options_.env, directory_ + "/" + name);
      if (!log.ok()) return log.status();
      is_data = !IsEmptyLog(AsBytes(*log));
    }
    if (is_data) return Status::Corruption(directory_ + " has " + name + " but no MANIFEST");
  }
  return Status::Ok();
}

Status Db::ReplayLog() {
  const std::string path = LogPath(directory_, manifest_.log_number);
  const Result<bool> exists = options_.env->Exists(path);
  if (!exists.ok()) return exists.status();
  if (!*exists) return Status::Corruption(path + " is missing");
  const Result<std::string> log = ReadWhole(options_.env, path);
  if (!log.ok()) return log.status();
  const Status status = ReadLog(AsBytes(*log), manifest_.log_number,
                                [this](ByteView batch, Sequence first) -> Status {
                                  if (first != last_sequence_ + 1)
                                    return Status::Corruption("writes are missing");
                                  BatchReader reader(batch, first);
                                  while (reader.Next()) {
                                    version_->memtable->Add(reader.entry());
                                    last_sequence_ = reader.entry().sequence;
                                  }
                                  return reader.status();
                                });
  if (status.code() == StatusCode::kCorruption) {
    return Status::Corruption(path + ": " + status.message());
  }
  return status;
}

void Db::RemoveLeftovers(const std::vector<std::string>& names) {
  std::set<std::string> wanted = {LogPath(directory_, manifest_.log_number)};
  for (const FileInfo& info : manifest_.files) wanted.insert(SstPath(directory_, info.number));
  for (const std::string& name : names) {
    const std::string path = directory_ + "/" + name;
    const bool is_ours =
        HasSuffix(name, ".sst") || HasSuffix(name, ".log") || HasSuffix(name, ".tmp");
    // Whether it succeeds does not matter: nothing refers to them, and numbers that are used again
    // replace them.
    if (is_ours && wanted.count(path) == 0) (void)options_.env->Remove(path);
  }
}

}  // namespace blocksieve::toylsm
