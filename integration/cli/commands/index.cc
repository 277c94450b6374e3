// SPDX-License-Identifier: Apache-2.0

#include "blocksieve/rocksdb/skip_index.h"
#include "integration/cli/commands/rewrite.h"
#include "integration/cli/maintenance/skip_indexes.h"
#include "integration/cli/rows/rows.h"

namespace blocksieve::cli {
namespace {

constexpr const char* kIndexFooter =
    R"help(Large skip indexes are stored in sidecar files beside the SSTs, such as 000012.bsx beside
000012.sst. RocksDB's checkpoints, backups and imports do not copy them; --copy-from does, from the
database or from a directory of *.bsx files. Scans without an index return the same rows but read
more.

By default, reads each SST whose index is missing or damaged, and builds the same index as the
newest indexed SST has. --index adds an index on another part of the value, even if another program
wrote the database and it has no index yet; fields of the value are numbered from 1 (see blocksieve
load --help) and separated by TAB, or by the delimiter in parentheses: field(,):2. SSTs are not
rewritten. An interrupted command continues when it is run again. Another process may have the
database open; the files that it writes meanwhile have the indexes of its own options.

A process without the plug-in leaves sidecars of deleted SSTs; blocksieve's listener deletes them.
Before RocksDB 9.3, SSTs with several versions of a row get none.

Examples:
  blocksieve index --db paths.db                        # after a restore
  blocksieve index --db paths.db --index lib=words:2    # another index, or the first)help";

struct IndexOptions : TargetOptions {
  IndexChange change;
  uint64_t bytes_per_second = 0;
  std::vector<std::string> indexes;
  std::string copy_from;
};

// Builds an index for each SST that lacks one or whose index is damaged, also for new SSTs of
// another process. `progress` as in RebuildSkipIndexes; returns false if it stopped the work.
bool RebuildIndexes(const IndexOptions& options, const ShowProgress& progress) {
  constexpr int kMaxPasses = 5;
  const std::string& path = options.target.path;
  const StoredDatabase stored = ReadStored(options.target);
  const std::string family = stored.TargetFamilies().front();
  const auto factory = NewIndexFactory(stored, family, options.change);
  if (factory == nullptr) {
    term::FailUsage("database {} has no skip index; define one with --index", path);
  }
  FileProgress all;  // of the passes before
  for (int pass = 1; pass <= kMaxPasses; ++pass) {
    const auto db = OpenReadOnly(options.target, family, Access::kIndex, factory);
    FileProgress last;
    uint64_t num_listed = 0;
    bool was_stopped = false;
    const rocksdb::Status status = RebuildSkipIndexes(
        db.get(), {db.FindHandle(family)},
        [&](const FileProgress& done) {
          last = done;
          num_listed = std::max(num_listed, done.files_left);
          last.files_done += all.files_done;
          last.bytes_done += all.bytes_done;
          was_stopped = !progress(last);
          return !was_stopped;
        },
        options.bytes_per_second);
    if (was_stopped) return false;
    term::CheckOk(status, "cannot rebuild the indexes of database {}", path);
    // Otherwise another process removed files, and wrote others in their place.
    if (last.files_done - all.files_done == num_listed) break;
    all = last;
  }
  return true;
}

void Rebuild(IndexOptions options) {
  options.change.columns = ParseColumns(options.indexes);
  const FileProgress last = RunInterruptibly(
      "indexing", [&](const ShowProgress& show) { return RebuildIndexes(options, show); });
  WriteReport(options.format, {{"files_indexed", last.files_done}, {"bytes_read", last.bytes_done}},
              fmt::format("indexed: {} of {} bytes\n", term::CountOf(last.files_done, "file"),
                          term::WithCommas(last.bytes_done)));
  const GuardedDb db = OpenReadOnly(options.target, *options.target.family);
  if (HasRowsOnlyInWal(db, *options.target.family)) {
    term::Fail("column family {} of database {} has no file to index: its rows are {}",
               *options.target.family, options.target.path, kOnlyInWal);
  }
  for (const Column& column : options.change.columns) {
    if (HasValues(db, db.FindHandle(*options.target.family), column)) continue;
    term::WriteToStandardError(fmt::format(
        "blocksieve index: warning: no row has a value for the index {}; fields are separated by "
        "TAB, or by the delimiter in parentheses, as in field(,):2\n",
        column.ToText()));
  }
}

void RunIndex(const IndexOptions& options) {
  const Target& target = options.target;
  if (!options.copy_from.empty()) {
    uint64_t num_copied = 0;
    const GuardedDb db = OpenReadOnly(target, *target.family, Access::kIndex);
    term::CheckOk(
        CopySkipIndexes(db.get(), db.FindHandle(*target.family), options.copy_from, &num_copied),
        "cannot copy indexes into database {}", target.path);
    return WriteReport(options.format, {{"num_copied", num_copied}},
                       "copied: " + term::CountOf(num_copied, "sidecar") + "\n");
  }
  Rebuild(options);
}

}  // namespace

void AddIndexCommand(CLI::App* app, Action* action) {
  const auto [command, options] =
      AddSubcommand(app, action, "index", "Build or restore skip indexes without rewriting SSTs",
                    kIndexFooter, RunIndex);
  AddTargetOptions(command, options, Subject::kFamily);
  AddOption(command, &options->indexes, "--index NAME=EXTRACTOR",
            "also index this part of the value under this name");
  AddRateOption(command, &options->bytes_per_second, "read");
  AddMaxIndexBytesOption(command, &options->change.max_index_bytes, "the current limit, or 8MiB");
  AddOption(command, &options->copy_from, "--copy-from DIR",
            "copy missing indexes from DIR, a database or a directory of copied *.bsx files");
  Exclude(command, "--copy-from", {"--index", "--bytes-per-second", "--max-index-bytes"});
}

}  // namespace blocksieve::cli
