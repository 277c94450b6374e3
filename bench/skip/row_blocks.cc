#include "bench/skip/row_blocks.h"

#include <rocksdb/metadata.h>
#include <rocksdb/perf_context.h>
#include <rocksdb/perf_level.h>
#include <rocksdb/sst_file_reader.h>
#include <rocksdb/table.h>

#include <algorithm>
#include <memory>
#include <set>

#include "bench/support/terminal.h"

namespace blocksieve::bench::skip {
namespace {

// Oldest first: later rows replace earlier ones.
std::vector<std::string> FilesByAge(rocksdb::DB& db) {
  rocksdb::ColumnFamilyMetaData meta;
  db.GetColumnFamilyMetaData(&meta);
  std::vector<std::string> paths;
  for (auto level = meta.levels.rbegin(); level != meta.levels.rend(); ++level) {
    std::vector<rocksdb::SstFileMetaData> files = level->files;
    std::sort(files.begin(), files.end(),
              [](const auto& a, const auto& b) { return a.largest_seqno < b.largest_seqno; });
    for (const auto& file : files) paths.push_back(file.db_path + file.name);
  }
  return paths;
}

// Without cache and readahead, so that every block is read, and counted, when it is needed.
rocksdb::Options CountingOptions() {
  rocksdb::BlockBasedTableOptions table;
  table.no_block_cache = true;
  table.max_auto_readahead_size = 0;
  rocksdb::Options options;
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  return options;
}

}  // namespace

RowBlocks::RowBlocks(rocksdb::DB& db, const Rows& rows) : block_of_row_(rows.size()) {
  for (const std::string& path : FilesByAge(db)) ReadFile(path, rows);
}

void RowBlocks::ReadFile(const std::string& path, const Rows& rows) {
  CheckInterrupt();
  rocksdb::SstFileReader reader(CountingOptions());
  if (const rocksdb::Status status = reader.Open(path); !status.ok()) {
    Fail("cannot open {}: {}", path, status.ToString());
  }
  rocksdb::SetPerfLevel(rocksdb::PerfLevel::kEnableCount);
  uint64_t& blocks_read = rocksdb::get_perf_context()->block_read_count;
  const std::unique_ptr<rocksdb::Iterator> iterator(reader.NewIterator(rocksdb::ReadOptions()));
  blocks_read = 0;
  size_t row = 0;
  for (iterator->SeekToFirst(); iterator->Valid(); iterator->Next(), ++row) {
    const std::string_view key = iterator->key().ToStringView();
    while (row < rows.size() && rows.key(row) < key) ++row;
    if (row == rows.size() || rows.key(row) != key) Fail("{} has a key that is no row's", path);
    block_of_row_[row] = num_blocks_ + blocks_read;
  }
  rocksdb::SetPerfLevel(rocksdb::PerfLevel::kDisable);
  const uint64_t written = reader.GetTableProperties()->num_data_blocks;
  if (!iterator->status().ok() || blocks_read != written) {
    Fail("{}: {}; {} data blocks read of {}", path, iterator->status().ToString(), blocks_read,
         written);
  }
  num_blocks_ += blocks_read;
}

size_t RowBlocks::Count(std::span<const uint32_t> rows) const {
  std::set<uint64_t> blocks;
  for (const uint32_t row : rows) blocks.insert(block_of_row_[row]);
  return blocks.size();
}

}  // namespace blocksieve::bench::skip
