#include "bench/support/rocksdb_tree.h"

#include <rocksdb/metadata.h>
#include <rocksdb/options.h>

#include <algorithm>
#include <string>
#include <vector>

namespace blocksieve::bench {

rocksdb::Status MoveLevel0To(rocksdb::DB& db, int level, uint64_t file_bytes) {
  rocksdb::ColumnFamilyMetaData meta;
  db.GetColumnFamilyMetaData(&meta);
  std::vector<std::string> files;
  for (const auto& file : meta.levels.front().files) files.push_back(file.name);
  rocksdb::CompactionOptions options;
  options.compression = rocksdb::kNoCompression;
  options.output_file_size_limit = file_bytes;
  return db.CompactFiles(options, files, level);
}

uint64_t TargetFileBytes(uint64_t num_bytes) {
  return std::clamp<uint64_t>(num_bytes / 8, 1 << 20, 64 << 20);
}

}  // namespace blocksieve::bench
