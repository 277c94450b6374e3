// SPDX-License-Identifier: Apache-2.0
#include <rocksdb/cache.h>
#include <rocksdb/sst_file_reader.h>
#include <rocksdb/statistics.h>
#include <rocksdb/table.h>

#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "blocksieve/rocksdb/skip_index.h"
#include "integration/rocksdb/compat/column_families.h"
#include "integration/rocksdb/compat/option_type.h"
#include "integration/rocksdb/compat/table_properties.h"
#include "integration/rocksdb/compat/version_differences.h"
#include "integration/rocksdb/index/entry_indexer.h"
#include "integration/rocksdb/index/skip_index_catalog.h"
#include "integration/rocksdb/index/skip_index_collector.h"
#include "integration/rocksdb/index/skip_index_properties.h"
#include "integration/rocksdb/sidecar/file.h"
#include "lib/base/errors.h"

namespace blocksieve {
namespace {

using namespace rocksdb_plugin;  // NOLINT: the same component

/// A column family with the index of its options.
struct IndexedFamily {
  rocksdb::ColumnFamilyHandle* handle = nullptr;
  rocksdb::Options options = {};
  SkipIndexSettings settings = {};
};

/// A file that lacks the index of its column family.
struct UnindexedFile {
  const IndexedFamily* family = nullptr;
  std::string name;
  uint64_t bytes = 0;
  bool has_blob_references = false;
  SstPlace place;
  std::shared_ptr<const rocksdb::TableProperties> properties;
};

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
  return is_same && SstIndex(properties, sst).is_in_sidecar();
}

// Finds the files whose index is missing or damaged, in the order of levels. Leaves out those named
// in `*others`, to which it adds the files that have the index. Adds what is left to `*progress`.
rocksdb::Status FindUnindexed(rocksdb::DB* db, const IndexedFamily& family,
                              std::set<std::string>* others, std::vector<UnindexedFile>* files,
                              FileProgress* progress) {
  rocksdb::TablePropertiesCollection properties;
  BLOCKSIEVE_RETURN_IF_ERROR(ReadTableProperties(db, family.handle, &properties));
  const std::string identity = IdentityText(family.settings);
  rocksdb::ColumnFamilyMetaData metadata;
  db->GetColumnFamilyMetaData(family.handle, &metadata);
  for (const rocksdb::LevelMetaData& level : metadata.levels) {
    for (const rocksdb::SstFileMetaData& file : level.files) {
      // Skips files written since the properties were read, as they may have an index.
      const auto found = properties.find(file.db_path + file.name);
      if (found == properties.end() || others->contains(file.name)) continue;
      const auto file_system = db->GetEnv()->GetFileSystem();
      const SstPlace place{file_system, PathOfTable(found->first, file_system.get())};
      UnindexedFile unindexed{&family, file.name,    file.size, file.oldest_blob_file_number != 0,
                              place,   found->second};
      if (HasIndex(unindexed.place, unindexed.properties, identity)) {
        others->insert(file.name);
      } else {
        ++progress->files_left;
        progress->bytes_left += file.size;
        files->push_back(std::move(unindexed));
      }
    }
  }
  return rocksdb::Status::OK();
}

/// Limits the rate of reading, and says when to report progress.
class ReadPace {
 public:
  explicit ReadPace(uint64_t bytes_per_second) : rate_(static_cast<double>(bytes_per_second)) {}

  /// Waits until this many more bytes may be read. Returns whether to report progress.
  bool Read(size_t bytes) {
    constexpr uint64_t kReadsBetweenReports = 4096;
    constexpr double kSecondsBetweenWaits = 0.1;
    const bool is_report_due = ++num_reads_ % kReadsBetweenReports == 0;
    unpaid_ += static_cast<double>(bytes);
    if (rate_ == 0 || unpaid_ < rate_ * kSecondsBetweenWaits) return is_report_due;
    std::this_thread::sleep_for(std::chrono::duration<double>(std::exchange(unpaid_, 0) / rate_));
    return true;
  }

 private:
  const double rate_;  // 0: no limit
  double unpaid_ = 0;  // bytes
  uint64_t num_reads_ = 0;
};

/// Reads an SST from its first entry to its last, and calls add(key, value, type, sequence number,
/// number of the data block) for each.
template <class Add>
rocksdb::Status ReadSst(rocksdb::Options options, const std::string& path, const Add& add) {
  constexpr size_t kCacheBytes = 1 << 20;
  const auto statistics = options.statistics = rocksdb::CreateDBStatistics();
  options.listeners.clear();
  const auto* const table = options.table_factory->GetOptions<rocksdb::BlockBasedTableOptions>();
  if (table != nullptr) {
    rocksdb::BlockBasedTableOptions own = *table;
    // With a cache of its own, each data block is one miss.
    own.block_cache = rocksdb::NewLRUCache(kCacheBytes);
    own.no_block_cache = false;
    own.cache_index_and_filter_blocks = false;
    own.filter_policy = nullptr;
    options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(own));
  }
  rocksdb::SstFileReader reader(options);
  BLOCKSIEVE_RETURN_IF_ERROR(reader.Open(path));
  return ForEachEntry(&reader, options.comparator, [&](auto&&... entry) {
    return add(entry..., statistics->getTickerCount(rocksdb::BLOCK_CACHE_DATA_MISS));
  });
}

/// Builds the index of one SST. Calls should_continue() now and then.
rocksdb::Status MakeIndex(const rocksdb::Options& options, const SkipIndexSettings& settings,
                          const UnindexedFile& file, ReadPace* pace,
                          const std::function<bool()>& should_continue, std::string* bytes) {
  const rocksdb::TableProperties& facts = *file.properties;
  if (!kReadsAllVersions && facts.num_merge_operands != 0) {
    return rocksdb::Status::NotSupported(
        "this RocksDB, before 9.3, does not distinguish merge operands from values; "
        "a compaction does");
  }
  if (!kReadsAllVersions && facts.num_deletions != 0 &&
      std::ranges::any_of(settings.index.columns, &Column::is_of_key)) {
    return rocksdb::Status::NotSupported(
        "this RocksDB, before 9.3, does not show its deletes, whose keys count for columns of "
        "keys; "
        "a compaction does");
  }
  Result<EntryIndexer> indexer = EntryIndexer::Create(settings);
  if (!indexer.ok()) return ToRocksStatus(indexer.status());
  bool is_stopped = false;
  uint64_t num_rows = 0;
  // The file knows; the present options may differ from those that wrote it.
  const bool may_have_references = !kReadsAllVersions && file.has_blob_references;
  // RocksDB gives an ingested file other sequence numbers in each database, and keeps its sidecar.
  const bool is_external = facts.user_collected_properties.contains(kExternalFileProperty);
  rocksdb::Status status =
      ReadSst(options, file.place.path,
              [&](const rocksdb::Slice& key, const rocksdb::Slice& value, rocksdb::EntryType type,
                  rocksdb::SequenceNumber sequence, uint64_t block) {
                ++num_rows;
                // RocksDB before 9.3 shows a reference to a blob file as a value. Its first byte is
                // the type, 0 to 2.
                if (may_have_references && !value.empty() && static_cast<uint8_t>(value[0]) <= 2) {
                  type = rocksdb::kEntryBlobIndex;
                }
                indexer->Add({.key = key.ToStringView(),
                              .value = value.ToStringView(),
                              .type = ToEntryValue(type),
                              .sequence = is_external ? 0 : sequence,
                              .block = block});
                is_stopped = pace->Read(key.size() + value.size()) && !should_continue();
                return !is_stopped;
              });
  if (!status.ok()) return status;
  if (is_stopped) return rocksdb::Status::Incomplete("stopped by progress");
  if (!kReadsAllVersions && num_rows != facts.num_entries - facts.num_deletions) {
    return rocksdb::Status::NotSupported(
        "it has several versions of a row, of which this RocksDB, before 9.3, shows only the "
        "newest; a compaction sees all");
  }
  Result<FinishedSkipIndex> index = indexer->Finish();
  indexer->LogLeftOut(BaseName(file.place.path), index);
  if (index.ok()) *bytes = std::move(index->bytes);
  return ToRocksStatus(index.status());
}

rocksdb::Status RebuildOne(const UnindexedFile& file, ReadPace* pace,
                           const std::function<bool()>& should_continue) {
  const auto& [handle, options, settings] = *file.family;
  const std::optional<SidecarId> id = IdOfSst(*file.properties);
  if (!id)
    return rocksdb::Status::NotSupported(
        "its properties do not name the session that wrote it; a compaction does");
  std::string bytes;
  SidecarHeader header;
  BLOCKSIEVE_RETURN_IF_ERROR(MakeIndex(options, settings, file, pace, should_continue, &bytes));
  header.is_rebuilt = true;
  header.id = *id;
  header.value_suffix_bytes = settings.value_suffix_bytes;
  header.index_bytes = bytes.size();
  header.identity = IdentityText(settings);
  rocksdb::Status status = WriteSidecar(file.place, header, bytes);
  SkipIndexCatalog::Default().Forget(*file.properties);
  return status;
}

/// The paths of the sidecars in a directory, by the digits of their ids. Errors: those of RocksDB.
rocksdb::Status FindSidecars(rocksdb::FileSystem* file_system, const std::string& directory,
                             std::map<std::string, std::string>* sidecars) {
  std::vector<std::string> names;
  rocksdb::Status status =
      file_system->GetChildren(directory, rocksdb::IOOptions(), &names, nullptr);
  for (const std::string& name : names) {
    if (!name.ends_with(kSidecarSuffix)) continue;
    const std::string path = directory + "/" + name;
    const auto sidecar = SidecarFile::OpenAny(file_system, path);
    if (sidecar != nullptr) (*sidecars)[ToHex(sidecar->header().id)] = path;
  }
  return status;
}

}  // namespace

rocksdb::Status RebuildSkipIndexes(rocksdb::DB* db,
                                   const std::vector<rocksdb::ColumnFamilyHandle*>& column_families,
                                   const std::function<bool(const FileProgress&)>& progress,
                                   uint64_t bytes_per_second) {
  return PublicCall({{"db", db}}, [&]() -> rocksdb::Status {
    std::vector<rocksdb::ColumnFamilyHandle*> handles = column_families;
    BLOCKSIEVE_RETURN_IF_ERROR(ResolveFamilies(db, &handles));
    std::vector<IndexedFamily> families;
    for (rocksdb::ColumnFamilyHandle* const handle : handles) {
      const rocksdb::Options options = db->GetOptions(handle);
      if (options.table_factory->GetOptions<rocksdb::BlockBasedTableOptions>() == nullptr) {
        return rocksdb::Status::NotSupported("blocksieve: scans cannot use an index of this table",
                                             options.table_factory->Name());
      }
      if (options.comparator->timestamp_size() != 0) {
        return rocksdb::Status::NotSupported(
            "blocksieve: skip indexes do not support user-defined timestamps");
      }
      families.push_back({handle, options});
      BLOCKSIEVE_RETURN_IF_ERROR(FindIndexOptions(options, &families.back().settings));
    }

    ReadPace pace(bytes_per_second);
    FileProgress done;
    std::set<std::string> finished;  // files that are indexed, failed or gone
    rocksdb::Status first_problem;
    for (;;) {
      std::vector<UnindexedFile> files;
      done.files_left = done.bytes_left = 0;
      // Taken from the end: the first family's deepest files first, as they live longest.
      for (auto family = families.rbegin(); family != families.rend(); ++family) {
        BLOCKSIEVE_RETURN_IF_ERROR(FindUnindexed(db, *family, &finished, &files, &done));
      }
      if (files.empty()) break;
      for (; !files.empty(); files.pop_back()) {
        const UnindexedFile& file = files.back();
        bool is_stopped = false;
        const auto should_continue = [&] {
          is_stopped = progress && !progress(done);
          return !is_stopped;
        };
        rocksdb::Status status;
        if (should_continue()) status = RebuildOne(file, &pace, should_continue);
        if (is_stopped) return rocksdb::Status::Incomplete("blocksieve: stopped by progress");
        finished.insert(file.name);
        --done.files_left;
        done.bytes_left -= file.bytes;
        rocksdb::FileSystem* const file_system = file.place.file_system.get();
        if (!file_system->FileExists(file.place.path, rocksdb::IOOptions(), nullptr).ok()) {
          DeleteSidecar(file_system, file.place.path);  // the SST was compacted away meanwhile
        } else if (status.ok()) {
          ++done.files_done;
          done.bytes_done += file.bytes;
        } else if (first_problem.ok()) {
          first_problem =
              rocksdb::Status::Incomplete("blocksieve: no skip index for " + file.name.substr(1) +
                                              ", which scans read as a whole",
                                          status.ToString());
        }
      }
    }
    if (progress) progress(done);
    return first_problem;
  });
}

rocksdb::Status CopySkipIndexes(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* column_family,
                                const std::string& directory, uint64_t* num_copied) {
  return PublicCall({{"db", db}}, [&]() -> rocksdb::Status {
    if (num_copied != nullptr) *num_copied = 0;
    if (column_family == nullptr) column_family = db->DefaultColumnFamily();
    rocksdb::FileSystem* const file_system = db->GetEnv()->GetFileSystem().get();
    std::map<std::string, std::string> found;
    rocksdb::Status status = FindSidecars(file_system, directory, &found);
    if (!status.ok()) {
      return rocksdb::Status::IOError("blocksieve: cannot read directory " + directory,
                                      status.ToString());
    }
    rocksdb::TablePropertiesCollection files;
    status = ReadTableProperties(db, column_family, &files);
    SstPlace sst{db->GetEnv()->GetFileSystem(), ""};
    for (const auto& [path, properties] : files) {
      sst.path = path;
      if (SidecarFile::Open(sst, *properties) != nullptr) continue;
      const std::optional<SidecarId> rebuilt = IdOfSst(*properties);
      const std::string_view written =
          FindProperty(properties->user_collected_properties, kSidecarProperty);
      for (const std::string& id : {rebuilt ? ToHex(*rebuilt) : "", std::string(written)}) {
        const auto sidecar = found.find(id);
        if (sidecar == found.end()) continue;
        BLOCKSIEVE_RETURN_IF_ERROR(
            LinkOrCopySidecar(file_system, sidecar->second, SidecarPath(path)));
        SkipIndexCatalog::Default().Forget(*properties);
        if (num_copied != nullptr) ++*num_copied;
        break;
      }
    }
    return status;
  });
}

}  // namespace blocksieve
