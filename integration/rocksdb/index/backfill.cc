#include <algorithm>
#include <new>
#include <set>
#include <string>
#include <vector>

#include "blocksieve/rocksdb/skip_index.h"
#include "integration/rocksdb/index/lacking_files.h"
#include "integration/rocksdb/index/skip_index_properties.h"
#include "integration/rocksdb/sidecar/databases.h"

namespace blocksieve {
namespace {

using namespace rocksdb_plugin;  // NOLINT: the same component

/// `written` gets the files that it was compacted into.
rocksdb::Status CompactOne(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* column_family,
                           const rocksdb::Options& options, const LackingFile& file,
                           int deepest_level, std::vector<std::string>* written) {
  rocksdb::CompactionOptions compaction;
  compaction.compression = rocksdb::kDisableCompressionOption;  // as the column family has it
  compaction.output_file_size_limit = std::max<uint64_t>(options.target_file_size_base, 1 << 20);
  // Into its own level, where RocksDB needs no other files. A file of level 0 has to go deeper, and
  // older ones with it: into the shallowest level that does not make others go along needlessly.
  int output_level = file.level;
  if (file.level == 0 && options.num_levels > 1) {
    output_level = std::max(deepest_level, 1);
    if (options.compaction_style == rocksdb::kCompactionStyleLevel) {
      if (!options.level_compaction_dynamic_level_bytes) output_level = 1;
      if (options.level_compaction_dynamic_level_bytes && deepest_level == 0) {
        output_level = options.num_levels - 1;  // where such a tree begins
      }
    }
  }
  constexpr int kAnyPath = -1;
  return db->CompactFiles(compaction, column_family, {file.name}, output_level, kAnyPath, written);
}

}  // namespace

rocksdb::Status BackfillSkipIndexes(
    rocksdb::DB* db, rocksdb::ColumnFamilyHandle* column_family,
    const std::function<bool(const BackfillProgress&)>& progress) try {
  // Compactions that run meanwhile take files away: what was not compacted is looked for again.
  constexpr int kMaxRoundsWithoutProgress = 5;
  if (column_family == nullptr) column_family = db->DefaultColumnFamily();
  const rocksdb::Options options = db->GetOptions(column_family);
  if (options.compaction_style == rocksdb::kCompactionStyleFIFO) {
    return rocksdb::Status::NotSupported("blocksieve: FIFO compaction rewrites no files");
  }
  SkipIndexOptions index;
  if (rocksdb::Status status = FindIndexOptions(options, &index); !status.ok()) return status;
  // RocksDB does not tell listeners when CompactFiles begins.
  SidecarDatabases::Instance().Note(db);
  std::set<uint64_t> written;  // by compactions here
  BackfillProgress done;
  rocksdb::Status last_problem;
  for (int idle_rounds = 0; idle_rounds < kMaxRoundsWithoutProgress; ++idle_rounds) {
    for (;;) {
      std::vector<LackingFile> files;
      int deepest_level = 0;
      rocksdb::Status status = FindLacking(db, column_family, index, &files, &deepest_level);
      if (!status.ok()) return status;
      NoteLeft(files, &done);
      for (const LackingFile& file : files) {
        if (!written.contains(FileNumberOf(file.name))) continue;
        return rocksdb::Status::Incomplete("blocksieve: compaction wrote " + file.name +
                                           " without the skip index, too");
      }
      const bool goes_on = !progress || progress(done);
      if (files.empty()) return rocksdb::Status::OK();
      if (!goes_on) return rocksdb::Status::Incomplete("blocksieve: stopped");
      // The next one that is not in somebody's compaction; deep files first, as those above may be
      // rewritten by ordinary compactions soon.
      bool compacted = false;
      for (auto file = files.rbegin(); file != files.rend() && !compacted; ++file) {
        std::vector<std::string> outputs;
        last_problem = CompactOne(db, column_family, options, *file, deepest_level, &outputs);
        if (last_problem.ok()) {
          for (const std::string& output : outputs) written.insert(FileNumberOf(output));
          ++done.files_done;
          done.bytes_done += file->bytes;
          compacted = true;
        } else if (!last_problem.IsAborted() && !last_problem.IsInvalidArgument()) {
          return last_problem;
        }
      }
      if (!compacted) break;
      idle_rounds = 0;
    }
    db->GetEnv()->SleepForMicroseconds(100'000);
  }
  return rocksdb::Status::Incomplete("blocksieve: the files left could not be compacted now",
                                     last_problem.ToString());
} catch (const std::bad_alloc&) {
  return rocksdb::Status::MemoryLimit();
}

}  // namespace blocksieve
