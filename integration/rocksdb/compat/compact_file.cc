// SPDX-License-Identifier: Apache-2.0
#include "integration/rocksdb/compat/compact_file.h"

#include <rocksdb/convenience.h>
#include <rocksdb/sst_file_reader.h>
#include <rocksdb/version.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "lib/base/errors.h"

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
int FindPathId(const rocksdb::Options& options, const std::string& path) {
  const auto& paths = options.cf_paths.empty() ? options.db_paths : options.cf_paths;
  const auto found = std::ranges::find(paths, path, &rocksdb::DbPath::path);
  return found == paths.end() ? -1 : static_cast<int>(found - paths.begin());
}

// Compactions of RocksDB 9.10 end the process at a table without properties, such as LevelDB's.
// RocksDB 7.8 compacts them, 11 does not open them.
rocksdb::Status CheckHasProperties(const rocksdb::Options& options,
                                   const rocksdb::LiveFileMetaData& file) {
  if (ROCKSDB_MAJOR < 8 || ROCKSDB_MAJOR > 10) return rocksdb::Status::OK();
  rocksdb::SstFileReader reader(options);
  rocksdb::Status status = reader.Open(file.db_path + file.name);
  if (!status.ok() || reader.GetTableProperties() != nullptr) return status;
  return rocksdb::Status::NotSupported(
      "blocksieve: " + file.name + " was written without properties, and compactions of RocksDB " +
      rocksdb::GetRocksVersionAsString() + " crash at such files; RocksDB 7 compacts them");
}

}  // namespace

rocksdb::Status CompactFile(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* column_family,
                            const std::string& name, std::set<std::string>* written) {
  const std::optional<rocksdb::LiveFileMetaData> file = Find(db, name);
  if (!file) return rocksdb::Status::NotFound("compacted away");
  rocksdb::CompactionOptions compaction;
  compaction.compression = rocksdb::kDisableCompressionOption;  // the column family's
  // One file becomes one file: its blocks may compress a little less.
  compaction.output_file_size_limit = std::max<uint64_t>(2 * file->size, 1 << 20);
  const rocksdb::Options options = db->GetOptions(column_family);
  BLOCKSIEVE_RETURN_IF_ERROR(CheckHasProperties(options, *file));
  std::vector<std::string> outputs;
  rocksdb::Status status = db->CompactFiles(compaction, column_family, {name}, file->level,
                                            FindPathId(options, file->db_path), &outputs);
  written->insert(outputs.begin(), outputs.end());
  const bool is_there = !status.IsAborted() && Find(db, name).has_value();
  if (status.IsInvalidArgument() && !is_there) return rocksdb::Status::NotFound("compacted away");
  if (!status.ok() || !is_there) return status;
  return rocksdb::Status::Incomplete("blocksieve: the compaction was canceled");
}

}  // namespace blocksieve::rocksdb_plugin
