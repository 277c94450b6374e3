// SPDX-License-Identifier: Apache-2.0
#include "integration/rocksdb/index/backfill.h"

#include <optional>

#include "integration/rocksdb/compat/compact_file.h"
#include "integration/rocksdb/compat/option_type.h"
#include "integration/rocksdb/compat/table_properties.h"
#include "integration/rocksdb/compat/version_differences.h"
#include "integration/rocksdb/index/skip_index_catalog.h"
#include "integration/rocksdb/index/skip_index_collector.h"
#include "integration/rocksdb/sidecar/databases.h"
#include "lib/base/errors.h"

namespace blocksieve::rocksdb_plugin {
namespace {

// Reads the whole index: a damaged one is as good as none.
bool HasIndex(const SstPlace& sst,
              const std::shared_ptr<const rocksdb::TableProperties>& properties,
              const std::string& identity) {
  const auto& user = properties->user_collected_properties;
  const bool was_built = FindProperty(user, kIdentityProperty) == identity;
  if (was_built && !user.contains(kSidecarProperty)) return true;
  const auto sidecar = SidecarFile::Open(sst, *properties);
  if (sidecar == nullptr) return false;
  const bool is_same =
      sidecar->header().is_rebuilt ? sidecar->header().identity == identity : was_built;
  return is_same && SstIndex(properties, sst, std::nullopt).is_in_sidecar();
}

}  // namespace

rocksdb::Status FindIndexOptions(const rocksdb::ColumnFamilyOptions& options,
                                 SkipIndexSettings* settings) {
  int num_indexes = 0;
  for (const auto& factory : options.table_properties_collector_factories) {
    const auto* const ours = As<SkipIndexCollectorFactory>(factory.get());
    if (ours == nullptr) continue;
    ++num_indexes;
    *settings = ours->settings();
  }
  if (num_indexes == 1) return rocksdb::Status::OK();
  return rocksdb::Status::InvalidArgument(
      "blocksieve: number of skip indexes in the column family's options is " +
      std::to_string(num_indexes) +
      "; allowed: 1, set by the same version of blocksieve (EnableSkipIndex)");
}

rocksdb::Status FindUnindexed(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* column_family,
                              const SkipIndexSettings& settings, std::set<std::string>* others,
                              std::vector<UnindexedFile>* files) {
  rocksdb::TablePropertiesCollection properties;
  BLOCKSIEVE_RETURN_IF_ERROR(ReadTableProperties(db, column_family, &properties));
  const std::string identity = IdentityText(settings);
  rocksdb::ColumnFamilyMetaData metadata;
  db->GetColumnFamilyMetaData(column_family, &metadata);
  files->clear();
  for (const rocksdb::LevelMetaData& level : metadata.levels) {
    for (const rocksdb::SstFileMetaData& file : level.files) {
      // Skips files written since the properties were read, as they may have an index.
      const auto found = properties.find(file.db_path + file.name);
      if (found == properties.end() || others->contains(file.name)) continue;
      const auto file_system = db->GetEnv()->GetFileSystem();
      const SstPlace place{file_system, PathOfTable(found->first, file_system.get()), nullptr};
      UnindexedFile unindexed{file.name, file.size, file.oldest_blob_file_number != 0, place,
                              found->second};
      if (HasIndex(unindexed.place, unindexed.properties, identity)) {
        others->insert(file.name);
      } else {
        files->push_back(std::move(unindexed));
      }
    }
  }
  return rocksdb::Status::OK();
}

void SetRemaining(const std::vector<UnindexedFile>& files, BackfillProgress* progress) {
  progress->files_left = files.size();
  progress->bytes_left = 0;
  for (const UnindexedFile& file : files) progress->bytes_left += file.bytes;
}

}  // namespace blocksieve::rocksdb_plugin

namespace blocksieve {

using namespace rocksdb_plugin;  // NOLINT: the same component

rocksdb::Status BackfillSkipIndexes(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* column_family,
                                    const std::function<bool(const BackfillProgress&)>& progress) {
  return PublicCall({{"db", db}}, [&]() -> rocksdb::Status {
    // Concurrent compactions hold or replace files, so the remaining files are listed again.
    constexpr int kMaxRoundsWithoutProgress = 5;
    if (column_family == nullptr) column_family = db->DefaultColumnFamily();
    const rocksdb::Options options = db->GetOptions(column_family);
    if (options.compaction_style == rocksdb::kCompactionStyleFIFO) {
      return rocksdb::Status::NotSupported(
          "blocksieve: FIFO compaction rewrites no files; RebuildSkipIndexes needs no compaction");
    }
    SkipIndexSettings settings;
    BLOCKSIEVE_RETURN_IF_ERROR(FindIndexOptions(options, &settings));
    // RocksDB does not tell listeners when CompactFiles begins.
    RegisterForSidecars(db);
    std::set<uint64_t> written;     // output files of this call
    std::set<std::string> indexed;  // files that need nothing
    BackfillProgress done;
    rocksdb::Status last_problem;
    for (int idle_rounds = 0; idle_rounds < kMaxRoundsWithoutProgress; ++idle_rounds) {
      for (;;) {
        std::vector<UnindexedFile> files;
        BLOCKSIEVE_RETURN_IF_ERROR(FindUnindexed(db, column_family, settings, &indexed, &files));
        SetRemaining(files, &done);
        for (const UnindexedFile& file : files) {
          if (!written.contains(FileNumberOf(file.name))) continue;
          return rocksdb::Status::Incomplete("blocksieve: compaction wrote " + file.name +
                                             " without the skip index: its table is not "
                                             "block-based, or a process without the index "
                                             "in its options wrote it");
        }
        const bool should_continue = !progress || progress(done);
        if (files.empty()) return rocksdb::Status::OK();
        if (!should_continue) return rocksdb::Status::Incomplete("blocksieve: stopped by progress");
        // The next file that no other compaction holds. Deep files first, as ordinary compactions
        // may soon rewrite the upper ones.
        bool compacted = false;
        for (auto file = files.rbegin(); file != files.rend() && !compacted; ++file) {
          std::vector<std::string> outputs;
          last_problem = CompactFile(db, column_family, file->name, &outputs);
          if (last_problem.ok()) {
            for (const std::string& output : outputs) written.insert(FileNumberOf(output));
            ++done.files_done;
            done.bytes_done += file->bytes;
            compacted = true;
          } else if (!last_problem.IsAborted() && !last_problem.IsNotFound()) {
            return last_problem;
          }
        }
        if (!compacted) break;
        idle_rounds = 0;
      }
      db->GetEnv()->SleepForMicroseconds(100'000);
    }
    return rocksdb::Status::Incomplete("blocksieve: other compactions hold the " +
                                           std::to_string(done.files_left) +
                                           " remaining files; try again later",
                                       last_problem.ToString());
  });
}

}  // namespace blocksieve
