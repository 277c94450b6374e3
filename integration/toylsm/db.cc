#include "integration/toylsm/db.h"

#include <algorithm>
#include <utility>

#include "integration/toylsm/compaction.h"
#include "lib/base/errors.h"

// Opening and reading; see db_write.cc for the rest.

namespace blocksieve::toylsm {
namespace {

Status CheckOptions(const Options& options) {
  if (options.level0_files < 1) return internal::OutOfRange("level0_files", 0, 1, UINT32_MAX);
  if (!(options.size_ratio >= 2 && options.size_ratio <= 1e9)) {
    return internal::OutOfRange("size_ratio", options.size_ratio, 2, 1e9);
  }
  if (options.block_bytes < 1 || options.block_bytes > UINT32_MAX) {
    return internal::OutOfRange("block_bytes", static_cast<double>(options.block_bytes), 1,
                                UINT32_MAX);
  }
  return CheckFilters(options);
}

}  // namespace

Db::Db(const Options& options, std::string directory)
    : options_(options),
      directory_(std::move(directory)),
      cache_(options.cache_bytes),
      picker_(options_) {}

Result<std::unique_ptr<Db>> Db::Open(const Options& options, const std::string& directory) {
  Status status = CheckOptions(options);
  std::unique_ptr<Db> db(new Db(options, directory));
  if (status.ok()) status = db->Recover();
  if (!status.ok()) return status;
  return db;
}

Status Db::Recover() {
  Status status = options_.env->CreateDirectory(directory_);
  if (!status.ok()) return status;
  const Result<std::vector<std::string>> names = options_.env->List(directory_);
  if (!names.ok()) return names.status();
  if (std::find(names->begin(), names->end(), kManifestName) != names->end()) {
    status = ReadManifestAndLog();
  } else if (std::any_of(names->begin(), names->end(),
                         [](const auto& name) { return name.ends_with(kSstSuffix); })) {
    // A lost manifest must not look like a new database.
    return Status::Corruption(directory_ + " has SSTs but no MANIFEST");
  }
  // Begin a new log even if the old one is empty: its end may be torn.
  return status.ok() ? FlushMemtable() : status;
}

Status Db::ReadManifestAndLog() {
  Env* const env = options_.env;
  const auto bytes = ReadWhole(env, directory_ + "/" + kManifestName);
  if (!bytes.ok()) return bytes.status();
  Result<Manifest> manifest = Manifest::Decode(AsBytes(*bytes));
  if (!manifest.ok()) return manifest.status();
  manifest_ = *std::move(manifest);
  SstFiles files;
  for (const FileInfo& info : manifest_.files) {
    auto file =
        SstReader::Open(env, FilePath(directory_, info.number, kSstSuffix), info, &counters_);
    if (!file.ok()) return file.status();
    files.push_back(*std::move(file));
  }
  auto version = std::make_shared<Version>();
  version->runs = Version::MakeRuns(std::move(files));
  const auto log = ReadWhole(env, FilePath(directory_, manifest_.log_number, kLogSuffix));
  if (!log.ok()) return log.status();
  version_ = version;
  return ReadLog(AsBytes(*log), manifest_.log_number,
                 [&](const Entry& entry) { version->memtable->Add(entry); });
}

Result<std::optional<std::string>> Db::Get(std::string_view key) {
  std::optional<std::string> value;
  if (const std::optional<Entry> entry = version_->memtable->Find(key)) {
    if (entry->value) value = *entry->value;
    return value;
  }
  for (const Run& run : version_->runs) {
    const size_t file = run.FindFile(key);
    if (file == run.files.size()) continue;
    Result<Found> found = run.files[file]->Find(key, read_context());
    if (!found.ok()) return found.status();
    if (found->has_key) return std::move(found->value);
  }
  return value;
}

std::unique_ptr<Iterator> Db::NewIterator(const KeyRange& range) {
  return std::make_unique<Iterator>(version_, read_context(), range);
}

std::unique_ptr<ValueScan> Db::Scan(const Predicate& predicate, bool use_index) {
  return std::make_unique<ValueScan>(version_, read_context(), predicate, use_index);
}

}  // namespace blocksieve::toylsm
