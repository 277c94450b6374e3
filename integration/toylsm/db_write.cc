#include <algorithm>
#include <utility>

#include "integration/toylsm/db.h"
#include "integration/toylsm/filter_rates.h"

// Writing: batches into log and memtable, memtables into files, files into deeper levels.

namespace blocksieve::toylsm {

Status Db::Put(std::string_view key, std::string_view value, const WriteOptions& options) try {
  WriteBatch batch;
  batch.Put(key, value);
  return Write(batch, options);
} catch (const std::bad_alloc&) {
  return internal::OutOfMemory();
}

Status Db::Delete(std::string_view key, const WriteOptions& options) try {
  WriteBatch batch;
  batch.Delete(key);
  return Write(batch, options);
} catch (const std::bad_alloc&) {
  return internal::OutOfMemory();
}

Status Db::Write(const WriteBatch& batch, const WriteOptions& options) try {
  if (!batch.status().ok()) return batch.status();
  Waiting self{.batch = &batch, .sync = options.sync};
  std::unique_lock lock(queue_mutex_);
  queue_.push_back(&self);
  turns_.wait(lock, [&] { return self.is_done || queue_.front() == &self; });
  if (self.is_done) return Status::Ok();
  lock.unlock();
  // Whoever is in front writes what has queued up; the others find their writes done. If it fails,
  // each of them comes to the front, and is told of that failure.
  size_t num_done = 1;
  Status status = MakeChange([&] {
    const Group group = JoinQueue();
    Status written = WriteGroup(group);
    if (written.ok()) num_done = group.num_writes;
    return written;
  });
  // Nothing here may throw: a write that has left must not stay in the queue.
  lock.lock();
  for (; num_done > 0; --num_done) {
    queue_.front()->is_done = true;
    queue_.pop_front();
  }
  turns_.notify_all();
  return status;
} catch (const std::bad_alloc&) {
  return internal::OutOfMemory();
}

Db::Group Db::JoinQueue() {
  constexpr size_t kMaxGroupBytes = 1 << 20;  // so that the first in a group does not wait for long
  Group group;
  const std::lock_guard lock(queue_mutex_);
  for (const Waiting* waiting : queue_) {
    const size_t num_bytes = group.batch.bytes().size() + waiting->batch->bytes().size();
    if (group.num_writes > 0 && num_bytes > kMaxGroupBytes) break;
    group.batch.Append(*waiting->batch);
    group.sync |= waiting->sync;
    ++group.num_writes;
  }
  return group;
}

Status Db::WriteGroup(const Group& group) {
  Status status;
  // Before the write that needs it and not after: a flush that fails then fails a write that has
  // not happened.
  if (version_->memtable->memory_bytes() >= options_.memtable_bytes) {
    status = FlushMemtable();
    if (status.ok()) status = CompactWhileNeeded();
  }
  return status.ok() ? Commit(group.batch, group.sync) : status;
}

Status Db::Commit(const WriteBatch& batch, bool sync) {
  const Sequence first = last_sequence_ + 1;
  const Sequence last = last_sequence_ + batch.num_entries();
  if (last > kMaxSequence) {
    return RememberFailure(Status::ResourceExhausted("sequence of a write is " +
                                                     std::to_string(last) + "; allowed is up to " +
                                                     std::to_string(kMaxSequence)));
  }
  Status status;
  if (batch.num_entries() > 0) status = log_->Append(batch.bytes(), first);
  if (status.ok() && sync) status = log_->Sync();
  if (!status.ok()) return RememberFailure(status);
  BatchReader reader(AsBytes(batch.bytes()), first);
  while (reader.Next()) version_->memtable->Add(reader.entry());
  // Readers see all of it from here on, and nothing before.
  const std::lock_guard lock(view_mutex_);
  last_sequence_ = last;
  return Status::Ok();
}

Status Db::Flush() {
  return MakeChange([this] {
    if (version_->memtable->empty()) return Status::Ok();
    Status status = FlushMemtable();
    return status.ok() ? CompactWhileNeeded() : status;
  });
}

Status Db::Compact(const CompactionProgress& progress) {
  return MakeChange([&] {
    Status status;
    if (!version_->memtable->empty()) status = FlushMemtable();
    if (!status.ok()) return status;
    const std::optional<Compaction> all = CompactionPicker::PickAll(*version_);
    return all ? RunCompaction(*all, progress) : status;
  });
}

Status Db::FlushMemtable() {
  const auto entries = Memtable::NewIterator(version_->memtable);
  constexpr int kAboveAll = -1;
  NeededVersions needed(SnapshotSequences(), [this](std::string_view key) {
    return MayBeBelow(version_->runs, kAboveAll, key);
  });
  const KeyFilterOptions key_filter =
      KeyFilterFor(options_, version_->runs, /*inputs=*/{}, version_->memtable->num_entries(), 0);
  Result<SstFiles> written = WriteFiles(entries.get(), &needed, key_filter, 0, UINT64_MAX, {});
  if (!written.ok()) return RememberFailure(written.status());
  // The new log is for what the new memtable will have; the old one is of no use as soon as the
  // manifest names the new one.
  const uint64_t number = manifest_.next_file_number++;
  Result<std::unique_ptr<LogWriter>> log =
      LogWriter::Create(options_.env, LogPath(directory_, number), number);
  if (!log.ok()) return RememberFailure(log.status());
  const uint64_t old_log = std::exchange(manifest_.log_number, number);
  manifest_.last_sequence = last_sequence_;
  SstFiles files = version_->AllFiles();
  files.insert(files.end(), written->begin(), written->end());
  Status status = Install(std::move(files), std::make_shared<Memtable>());
  if (!status.ok()) return status;
  log_ = *std::move(log);
  (void)options_.env->Remove(LogPath(directory_, old_log));  // else when opened next
  return Status::Ok();
}

Status Db::CompactWhileNeeded() {
  while (const std::optional<Compaction> compaction = picker_.Pick(*version_)) {
    Status status = RunCompaction(*compaction, {});
    if (!status.ok()) return status;
  }
  return Status::Ok();
}

Status Db::RunCompaction(const Compaction& compaction, const CompactionProgress& progress) {
  std::vector<std::unique_ptr<EntryIterator>> sources;
  for (const Run& run : compaction.inputs) {
    sources.push_back(NewRunIterator(&run, maintenance_context()));
  }
  MergingIterator entries(std::move(sources));
  NeededVersions needed(SnapshotSequences(), [&](std::string_view key) {
    return MayBeBelow(version_->runs, compaction.output_level, key);
  });
  const SstFiles inputs = compaction.InputFiles();
  uint64_t num_entries = 0;
  uint64_t num_bytes = 0;
  for (const auto& file : inputs) {
    num_entries += file->index().num_entries;
    num_bytes += file->info().num_bytes;
  }
  EntryWatch watch;
  if (progress) {
    const double bytes_each = static_cast<double>(num_bytes) / static_cast<double>(num_entries);
    watch = [&progress, num_bytes, bytes_each](uint64_t entries) {
      progress(static_cast<uint64_t>(static_cast<double>(entries) * bytes_each), num_bytes);
    };
  }
  const int level = compaction.output_level;
  const KeyFilterOptions key_filter =
      KeyFilterFor(options_, version_->runs, inputs, num_entries, level);
  Result<SstFiles> written =
      WriteFiles(&entries, &needed, key_filter, level, options_.file_bytes, watch);
  if (!written.ok()) return RememberFailure(written.status());
  SstFiles files = version_->AllFiles();
  std::erase_if(files, [&](const auto& file) {
    return std::find(inputs.begin(), inputs.end(), file) != inputs.end();
  });
  files.insert(files.end(), written->begin(), written->end());
  Status status = Install(std::move(files), version_->memtable);
  if (!status.ok()) return status;
  for (const auto& file : inputs) file->MarkObsolete();
  return Status::Ok();
}

Result<SstFiles> Db::WriteFiles(EntryIterator* entries, NeededVersions* needed,
                                const KeyFilterOptions& key_filter, int level, uint64_t max_bytes,
                                const EntryWatch& watch) {
  constexpr uint64_t kEntriesBetweenCalls = 4096;
  uint64_t num_entries = 0;
  SstFiles files;
  std::unique_ptr<SstBuilder> builder;
  const auto finish = [&]() -> Status {
    const Result<FileInfo> info = builder->Finish();
    builder = nullptr;
    if (!info.ok()) return info.status();
    auto file = SstReader::Open(options_.env, SstPath(directory_, info->number), *info,
                                maintenance_context());
    if (!file.ok()) return file.status();
    files.push_back(*std::move(file));
    return Status::Ok();
  };
  for (entries->SeekToFirst(); entries->Valid(); entries->Next()) {
    if (watch && num_entries % kEntriesBetweenCalls == 0) watch(num_entries);
    ++num_entries;
    const Entry& entry = entries->entry();
    if (!needed->IsNeeded(entry)) continue;
    // Between two keys only: files of a level must not share one.
    if (builder && builder->num_bytes() >= max_bytes && entry.key != builder->last_key()) {
      const Status status = finish();
      if (!status.ok()) return status;
    }
    if (!builder) {
      const uint64_t number = manifest_.next_file_number++;
      auto created =
          SstBuilder::Create(options_, key_filter, SstPath(directory_, number), number, level);
      if (!created.ok()) return created.status();
      builder = *std::move(created);
    }
    const Status status = builder->Add(entry);
    if (!status.ok()) return status;
  }
  Status status = entries->status();
  if (status.ok() && builder) status = finish();
  if (!status.ok()) return status;
  return files;
}

Status Db::Install(SstFiles files, std::shared_ptr<Memtable> memtable) {
  manifest_.files.clear();
  for (const auto& file : files) manifest_.files.push_back(file->info());
  Result<std::vector<Run>> runs = Version::MakeRuns(std::move(files));
  if (!runs.ok()) return RememberFailure(runs.status());
  const Status status = manifest_.Write(options_.env, directory_);
  if (!status.ok()) return RememberFailure(status);
  auto version = std::make_shared<Version>();
  version->memtable = std::move(memtable);
  version->runs = *std::move(runs);
  const std::lock_guard lock(view_mutex_);
  version_ = std::move(version);
  return Status::Ok();
}

Status Db::RememberFailure(const Status& status) {
  if (failure_.ok()) failure_ = status;
  return status;
}

}  // namespace blocksieve::toylsm
