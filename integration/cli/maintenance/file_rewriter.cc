// SPDX-License-Identifier: Apache-2.0
#include "integration/cli/maintenance/rewrite_plan.h"

#include <rocksdb/rate_limiter.h>

#include <algorithm>
#include <mutex>
#include <utility>

#include "integration/cli/maintenance/options_change.h"
#include "integration/cli/maintenance/skip_indexes.h"
#include "integration/cli/term/terminal.h"

namespace blocksieve::cli {
namespace {

Database OpenToRewrite(const Target& target, uint64_t bytes_per_second) {
  const StoredDatabase stored = ReadStored(target);
  CheckWritable(stored, Access::kRewrite);
  UsedOptions options = OptionsToWrite(stored, Access::kRewrite, StandInPolicies(stored));
  if (bytes_per_second != 0) {
    options.db.rate_limiter.reset(
        rocksdb::NewGenericRateLimiter(static_cast<int64_t>(bytes_per_second)));
  }
  for (rocksdb::ColumnFamilyDescriptor& family : options.families) {
    const auto index = NewIndexFactory(stored, family.name);
    if (index != nullptr) SetIndex(index, &family.options);
    // RocksDB ignores all listeners of an OPTIONS file if it does not know one.
    AddListenerFor(family.options, &options.db);
  }
  Database db(target, std::move(options));
  if (!target.family) return db;
  term::CheckOk(db->Flush(rocksdb::FlushOptions(), db.HandleOf(*target.family)),
                "cannot write database {}", target.path);
  return db;
}

}  // namespace

FileRewriter::FileRewriter(const Target& target, uint64_t bytes_per_second)
    : target_(target), db_(OpenToRewrite(target, bytes_per_second)) {}

FileRewriter::~FileRewriter() { Stop(); }

// A compaction that waits for the rate limiter does not notice that it was cancelled.
void FileRewriter::Stop() {
  constexpr int64_t kNoLimit = int64_t{1} << 40;
  db_->DisableManualCompaction();
  const auto limiter = db_->GetDBOptions().rate_limiter;
  if (limiter != nullptr) limiter->SetBytesPerSecond(kNoLimit);
}

bool FileRewriter::Rewrite(const RewritePlan& plan, const ShowProgress& show) {
  constexpr uint64_t kNoLimit = 0;  // the database has a rate limiter
  std::mutex mutex;
  FileProgress last;  // of the thread that compacts
  bool was_stopped = false;
  const rocksdb::Status status = db_.Compact(
      [&] {
        FileProgress progress;
        const auto report = [&](const FileProgress& done) {
          const std::lock_guard lock(mutex);
          last = done;
          return !was_stopped;
        };
        rocksdb::Status result = rocksdb_plugin::RewriteFiles(
            db_.get(), plan.rewrites,
            [this](const std::string& family) { return db_.HandleOf(family); }, kNoLimit, report,
            &progress);
        report(progress);
        return result;
      },
      [&](uint64_t all_written) {
        const std::lock_guard lock(mutex);
        // Output has nearly the size of the old file.
        FileProgress now = last;
        const uint64_t part =
            std::min(all_written - std::min(all_written, last.bytes_done), now.bytes_left);
        now.bytes_done += part;
        now.bytes_left -= part;
        if (was_stopped || show(now)) return;
        was_stopped = true;
        Stop();
      });
  show(last);
  if (!was_stopped) term::CheckOk(status, "cannot rewrite database {}", target_.path);
  db_.CheckRefused();
  return status.ok();
}

}  // namespace blocksieve::cli
