// SPDX-License-Identifier: Apache-2.0
#include "integration/toylsm/db.h"

#include <algorithm>
#include <set>
#include <utility>

#include "integration/toylsm/compaction.h"
#include "lib/base/errors.h"

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

// Whether `key` may be in one of `runs` that is older than a new run of `level`. From level 1 on,
// other files of the level have none of the new run's keys.
bool MayHaveOlder(const std::vector<Run>& runs, int level, std::string_view key) {
  return std::any_of(runs.begin(), runs.end(), [&](const Run& run) {
    return run.level >= level && run.FindFile(key) < run.files.size();
  });
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

// Writing: to log and memtable, from memtables to files, from files to deeper levels.

Status Db::Write(const Entry& entry, const WriteOptions& options) {
  return MakeChange([&] {
    // Flush before the write, not after it: if the flush fails, the write has not happened.
    if (version_->memtable->memory_bytes() >= options_.memtable_bytes) {
      BLOCKSIEVE_RETURN_IF_ERROR(FlushMemtable());
    }
    BLOCKSIEVE_RETURN_IF_ERROR(log_->Append(entry));
    if (options.sync) BLOCKSIEVE_RETURN_IF_ERROR(log_->Sync());
    version_->memtable->Add(entry);
    return Status::Ok();
  });
}

Status Db::Flush() {
  return MakeChange(
      [this] { return version_->memtable->empty() ? Status::Ok() : FlushMemtable(); });
}

Status Db::Compact() {
  BLOCKSIEVE_RETURN_IF_ERROR(Flush());
  return MakeChange([this] {
    const std::vector<Run>& runs = version_->runs;
    if (runs.empty()) return Status::Ok();
    return RunCompaction(std::vector(runs), std::max(1, runs.back().level));
  });
}

Status Db::FlushMemtable() {
  // The new log belongs to the new memtable. The old one is obsolete when the manifest names the
  // new one.
  manifest_.log_number = manifest_.next_file_number++;
  const std::string log_path = FilePath(directory_, manifest_.log_number, kLogSuffix);
  BLOCKSIEVE_ASSIGN_OR_RETURN(auto log_file, options_.env->NewWritableFile(log_path));
  const std::shared_ptr<Memtable> flushed = version_->memtable;
  Memtable::Iterator entries(flushed);
  BLOCKSIEVE_RETURN_IF_ERROR(WriteRun(&entries, flushed->num_entries(), 0, version_->AllFiles(),
                                      std::make_shared<Memtable>()));
  log_ = std::make_unique<LogWriter>(std::move(log_file), manifest_.log_number);
  for (std::vector<Run> inputs; !(inputs = picker_.Pick(*version_)).empty();) {
    BLOCKSIEVE_RETURN_IF_ERROR(RunCompaction(inputs, inputs.front().level + 1));
  }
  return Status::Ok();
}

Status Db::RunCompaction(const std::vector<Run>& inputs, int output_level) {
  std::vector<std::unique_ptr<EntryIterator>> sources;
  uint64_t num_entries = 0;
  for (const Run& run : inputs) {
    sources.push_back(NewRunIterator(&run, compaction_context()));
    num_entries += run.num_entries();
  }
  MergingIterator entries(std::move(sources));
  const SstFiles merged = ListFiles(inputs);
  SstFiles others = version_->AllFiles();
  std::erase_if(others, [&](const auto& file) {
    return std::find(merged.begin(), merged.end(), file) != merged.end();
  });
  return WriteRun(&entries, num_entries, output_level, std::move(others), version_->memtable);
}

Status Db::WriteRun(EntryIterator* entries, uint64_t num_entries, int level, SstFiles others,
                    std::shared_ptr<Memtable> memtable) {
  const std::vector<Run> runs = Version::MakeRuns(others);
  // Call site: the FPR of the new filters, from the sizes of all runs.
  const std::optional<FilterOptions> key_filter =
      KeyFilterFor(options_, runs, num_entries, level, &filter_shares_);
  std::unique_ptr<SstBuilder> builder;
  const auto finish = [&]() -> Status {
    BLOCKSIEVE_ASSIGN_OR_RETURN(const auto info, std::exchange(builder, nullptr)->Finish());
    const std::string path = FilePath(directory_, info.number, kSstSuffix);
    BLOCKSIEVE_ASSIGN_OR_RETURN(others.emplace_back(),
                                SstReader::Open(options_.env, path, info, &counters_));
    return Status::Ok();
  };
  for (entries->Seek({}); entries->Valid(); entries->Next()) {
    const Entry entry = entries->entry();
    // A delete is dropped if it hides nothing older.
    if (!entry.value && !MayHaveOlder(runs, level, entry.key)) continue;
    if (!builder) {
      const FileInfo info{.number = manifest_.next_file_number++, .level = level, .index = {}};
      const std::string path = FilePath(directory_, info.number, kSstSuffix);
      BLOCKSIEVE_ASSIGN_OR_RETURN(builder, SstBuilder::Create(options_, key_filter, path, info));
    }
    BLOCKSIEVE_RETURN_IF_ERROR(builder->Add(entry));
    if (level > 0 && builder->num_bytes() >= options_.file_bytes) {
      BLOCKSIEVE_RETURN_IF_ERROR(finish());
    }
  }
  BLOCKSIEVE_RETURN_IF_ERROR(entries->status());
  if (builder) BLOCKSIEVE_RETURN_IF_ERROR(finish());
  return Install(std::move(others), std::move(memtable));
}

Status Db::Install(SstFiles files, std::shared_ptr<Memtable> memtable) {
  manifest_.files.clear();
  for (const auto& file : files) manifest_.files.push_back(file->info());
  BLOCKSIEVE_RETURN_IF_ERROR(manifest_.Write(options_.env, directory_));
  version_ =
      std::make_shared<Version>(Version{std::move(memtable), Version::MakeRuns(std::move(files))});
  RemoveObsoleteFiles();
  return Status::Ok();
}

// Also removes leftovers of a crash. Only after a manifest is written: the one found by Open may be
// lost in a power loss if a process was killed before syncing it, and then its predecessor needs
// its files.
void Db::RemoveObsoleteFiles() {
  std::set<std::string> wanted = {FilePath(directory_, manifest_.log_number, kLogSuffix)};
  for (const FileInfo& info : manifest_.files) {
    wanted.insert(FilePath(directory_, info.number, kSstSuffix));
  }
  const auto names = options_.env->List(directory_);
  for (const std::string& name : names.ok() ? *names : std::vector<std::string>()) {
    const std::string path = directory_ + "/" + name;
    const bool is_ours = name.ends_with(kSstSuffix) || name.ends_with(kLogSuffix);
    // Failure does not matter: nothing refers to these files. Iterators with open files keep
    // reading them.
    if (is_ours && !wanted.contains(path)) (void)options_.env->Remove(path);
  }
}

}  // namespace blocksieve::toylsm
