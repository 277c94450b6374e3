#include "bench/support/rocksdb_tree.h"

#include <rocksdb/metadata.h>
#include <rocksdb/version.h>

#include <algorithm>
#include <fstream>
#include <vector>

#include "bench/support/terminal.h"

namespace blocksieve::bench {
namespace {

constexpr uint64_t kFlushBytes = 64 << 20;  // RocksDB's default write buffer

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

bool IsDebian() {
  std::ifstream file("/etc/os-release");
  for (std::string line; std::getline(file, line);) {
    if (line == "ID=debian") return true;
  }
  return false;
}

}  // namespace

uint64_t TargetFileBytes(uint64_t num_bytes) {
  return std::clamp<uint64_t>(num_bytes / 8, 1 << 20, 64 << 20);
}

rocksdb::Options HandShapedOptions(uint64_t num_bytes,
                                   const rocksdb::BlockBasedTableOptions& table) {
  rocksdb::Options options;
  options.create_if_missing = true;
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  options.compression = rocksdb::kNoCompression;  // times filters and block reads, not codecs
  options.level_compaction_dynamic_level_bytes = false;
  options.target_file_size_base = TargetFileBytes(num_bytes);
  options.disable_auto_compactions = true;
  options.write_buffer_size = 4 * kFlushBytes;
  options.stats_dump_period_sec = 0;
  options.stats_persist_period_sec = 0;
  return options;
}

rocksdb::Status PutAndFlush(rocksdb::DB& db, const Rows& rows, std::span<const uint32_t> order) {
  rocksdb::WriteOptions write_options;
  write_options.disableWAL = true;  // the log has nothing to do with filters and indexes
  for (size_t i = 0; i < order.size(); ++i) {
    if (i % 4'096 == 0) CheckInterrupt();
    const rocksdb::Status status = db.Put(write_options, rows.key(order[i]), rows.value(order[i]));
    if (!status.ok()) return status;
  }
  return db.Flush(rocksdb::FlushOptions());
}

rocksdb::Status FillLevel(rocksdb::DB& db, const Rows& rows, std::span<const uint32_t> order,
                          int level, uint64_t file_bytes) {
  const size_t rows_per_flush =
      std::max<size_t>(1, rows.size() * kFlushBytes / std::max(rows.num_bytes(), kFlushBytes));
  for (size_t next = 0; next < order.size(); next += rows_per_flush) {
    const size_t count = std::min(rows_per_flush, order.size() - next);
    const rocksdb::Status status = PutAndFlush(db, rows, order.subspan(next, count));
    if (!status.ok()) return status;
  }
  return MoveLevel0To(db, level, file_bytes);
}

std::string DescribeRocksDb() {
  std::string version = rocksdb::GetRocksVersionAsString();
  if (version == "7.8.3" && IsDebian()) {
    return version +
           ", as Debian builds it, without AVX2 and with assertions on: its built-in filters are "
           "slower here than in an optimised build, sizes and reads are the same";
  }
  return version;
}

}  // namespace blocksieve::bench
