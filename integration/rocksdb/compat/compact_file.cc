#include "integration/rocksdb/compat/compact_file.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace blocksieve::rocksdb_plugin {
namespace {

// RocksDB may move a file to another level, or compact it away, at any time.
std::optional<rocksdb::LiveFileMetaData> Find(rocksdb::DB* db, const std::string& name) {
  std::vector<rocksdb::LiveFileMetaData> files;
  db->GetLiveFilesMetaData(&files);
  const auto found = std::ranges::find(files, name, &rocksdb::LiveFileMetaData::name);
  return found == files.end() ? std::nullopt : std::optional(*found);
}

// The path that the file already has; RocksDB chooses none if there are several.
int PathIdOf(const rocksdb::Options& options, const std::string& path) {
  const auto& paths = options.cf_paths.empty() ? options.db_paths : options.cf_paths;
  const auto found = std::find_if(paths.begin(), paths.end(),
                                  [&](const rocksdb::DbPath& one) { return one.path == path; });
  return found == paths.end() ? -1 : static_cast<int>(found - paths.begin());
}

}  // namespace

rocksdb::Status CompactFile(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* column_family,
                            const std::string& name, std::vector<std::string>* written) {
  const std::optional<rocksdb::LiveFileMetaData> file = Find(db, name);
  if (!file) return rocksdb::Status::NotFound("compacted away");
  rocksdb::CompactionOptions compaction;
  compaction.compression = rocksdb::kDisableCompressionOption;  // the column family's
  // One file becomes one file: its blocks may compress a little less.
  compaction.output_file_size_limit = std::max<uint64_t>(2 * file->size, 1 << 20);
  rocksdb::Status status =
      db->CompactFiles(compaction, column_family, {name}, file->level,
                       PathIdOf(db->GetOptions(column_family), file->db_path), written);
  const bool is_there = !status.IsAborted() && Find(db, name).has_value();
  if (status.IsInvalidArgument() && !is_there) return rocksdb::Status::NotFound("compacted away");
  if (!status.ok() || !is_there) return status;
  return rocksdb::Status::Incomplete("blocksieve: the compaction was canceled");
}

}  // namespace blocksieve::rocksdb_plugin
