// SPDX-License-Identifier: Apache-2.0
#include "integration/toylsm/db.h"

#include <algorithm>
#include <utility>

#include "lib/base/errors.h"

// Opening and reading; see db_write.cc for the rest.

namespace blocksieve::toylsm {
namespace {

using internal::CheckRange;

Status CheckOptions(const Options& options) {
  const auto block_bytes = static_cast<double>(options.block_bytes);
  BLOCKSIEVE_RETURN_IF_ERROR(CheckRange("level0_files", options.level0_files, 1, UINT32_MAX));
  BLOCKSIEVE_RETURN_IF_ERROR(CheckRange("size_ratio", options.size_ratio, 2, 1e9));
  BLOCKSIEVE_RETURN_IF_ERROR(CheckRange("block_bytes", block_bytes, 1, UINT32_MAX));
  return CheckFilters(options);
}

}  // namespace

Db::Db(const Options& options, std::string directory)
    : options_(options),
      directory_(std::move(directory)),
      cache_(options.cache_bytes),
      picker_(options_) {}

Result<std::unique_ptr<Db>> Db::Open(const Options& options, const std::string& directory) {
  BLOCKSIEVE_RETURN_IF_ERROR(CheckOptions(options));
  std::unique_ptr<Db> db(new Db(options, directory));
  BLOCKSIEVE_RETURN_IF_ERROR(db->Recover());
  return db;
}

Status Db::Recover() {
  BLOCKSIEVE_RETURN_IF_ERROR(options_.env->CreateDirectory(directory_));
  BLOCKSIEVE_ASSIGN_OR_RETURN(const auto names, options_.env->List(directory_));
  if (std::ranges::find(names, kManifestName) != names.end()) {
    BLOCKSIEVE_RETURN_IF_ERROR(ReadManifestAndLog());
  } else if (std::ranges::any_of(names, [](auto& name) { return name.ends_with(kSstSuffix); })) {
    // A lost manifest must not look like a new database.
    return Status::Corruption(directory_ + " has SSTs but no MANIFEST");
  }
  // Begin a new log even if the old one is empty: its end may be torn.
  return FlushMemtable();
}

Status Db::ReadManifestAndLog() {
  Env* const env = options_.env;
  BLOCKSIEVE_ASSIGN_OR_RETURN(const auto bytes, ReadWhole(env, directory_ + "/" + kManifestName));
  BLOCKSIEVE_ASSIGN_OR_RETURN(manifest_, Manifest::Decode(AsBytes(bytes)));
  SstFiles files;
  for (const FileInfo& info : manifest_.files) {
    const std::string path = FilePath(directory_, info.number, kSstSuffix);
    BLOCKSIEVE_ASSIGN_OR_RETURN(files.emplace_back(), SstReader::Open(env, path, info, &counters_));
  }
  auto version = std::make_shared<Version>();
  version->runs = Version::MakeRuns(std::move(files));
  const std::string log_path = FilePath(directory_, manifest_.log_number, kLogSuffix);
  BLOCKSIEVE_ASSIGN_OR_RETURN(const auto log, ReadWhole(env, log_path));
  version_ = version;
  return ReadLog(AsBytes(log), manifest_.log_number,
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
    BLOCKSIEVE_ASSIGN_OR_RETURN(Found found, run.files[file]->Find(key, read_context()));
    if (found.has_key) return std::move(found.value);
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
