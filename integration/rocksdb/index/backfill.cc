#include <algorithm>
#include <new>
#include <set>
#include <string>
#include <vector>

#include "blocksieve/rocksdb/skip_index.h"
#include "integration/rocksdb/index/skip_index_collector.h"
#include "integration/rocksdb/index/skip_index_properties.h"

namespace blocksieve {
namespace {

using namespace rocksdb_plugin;  // NOLINT: the same component

/// What files are to be written with.
rocksdb::Status FindIdentity(const rocksdb::ColumnFamilyOptions& options, std::string* identity) {
  int num_indexes = 0;
  for (const auto& factory : options.table_properties_collector_factories) {
    if (std::string_view(factory->Name()) != SkipIndexCollectorFactory::kName) continue;
    ++num_indexes;
    *identity = IdentityText(static_cast<const SkipIndexCollectorFactory&>(*factory).options());
  }
  if (num_indexes == 1) return rocksdb::Status::OK();
  return rocksdb::Status::InvalidArgument(
      "blocksieve: skip indexes in the column family's options",
      "there are " + std::to_string(num_indexes) + "; allowed is 1");
}

struct LackingFile {
  std::string name;
  int level = 0;
  uint64_t bytes = 0;
};

/// Files that were written with other index options than `identity`, or none.
rocksdb::Status FindLacking(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* column_family,
                            const std::string& identity, std::vector<LackingFile>* files,
                            int* deepest_level) {
  rocksdb::TablePropertiesCollection properties;
  rocksdb::Status status = db->GetPropertiesOfAllTables(column_family, &properties);
  if (!status.ok()) return status;
  // Files whose index was built as asked and came to nothing (over budget) would come to nothing
  // again, so what counts is what was asked.
  std::set<uint64_t> done;
  for (const auto& [path, file] : properties) {
    const auto& user = file->user_collected_properties;
    if (FindProperty(user, kIdentityProperty) == identity) done.insert(FileNumberOf(path));
  }
  rocksdb::ColumnFamilyMetaData metadata;
  db->GetColumnFamilyMetaData(column_family, &metadata);
  files->clear();
  *deepest_level = 0;
  for (const rocksdb::LevelMetaData& level : metadata.levels) {
    for (const rocksdb::SstFileMetaData& file : level.files) {
      *deepest_level = std::max(*deepest_level, level.level);
      if (done.count(FileNumberOf(file.name)) == 0) {
        files->push_back({file.name, level.level, file.size});
      }
    }
  }
  return status;
}

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
  std::string identity;
  if (rocksdb::Status status = FindIdentity(options, &identity); !status.ok()) return status;
  std::set<uint64_t> written;  // by compactions here
  BackfillProgress done;
  rocksdb::Status last_problem;
  for (int idle_rounds = 0; idle_rounds < kMaxRoundsWithoutProgress; ++idle_rounds) {
    for (;;) {
      std::vector<LackingFile> files;
      int deepest_level = 0;
      rocksdb::Status status = FindLacking(db, column_family, identity, &files, &deepest_level);
      if (!status.ok()) return status;
      done.files_left = files.size();
      done.bytes_left = 0;
      for (const LackingFile& file : files) {
        done.bytes_left += file.bytes;
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
