#include "bench/skip/row_places.h"

#include <rocksdb/metadata.h>
#include <rocksdb/perf_context.h>
#include <rocksdb/perf_level.h>
#include <rocksdb/sst_file_reader.h>
#include <rocksdb/table.h>

#include <algorithm>
#include <memory>

#include "bench/support/terminal.h"
#include "blocksieve/granule_index.h"
#include "integration/rocksdb/index/file_index.h"

namespace blocksieve::bench::skip {
namespace {

// The oldest first: what comes later replaces it.
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

// Every block is read when it is first needed, and counted: neither cached nor read ahead.
rocksdb::Options CountingOptions() {
  rocksdb::BlockBasedTableOptions table;
  table.no_block_cache = true;
  table.max_auto_readahead_size = 0;
  rocksdb::Options options;
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  return options;
}

// Rows of each granule.
std::vector<uint64_t> GranuleRows(
    const std::string& path, const std::shared_ptr<const rocksdb::TableProperties>& properties) {
  const rocksdb_plugin::FileIndex file(properties, {rocksdb::FileSystem::Default(), path, nullptr},
                                       std::vector<Column>());
  if (file.index() == nullptr) Fail("{}: {}", path, file.problem());
  const GranuleIndex& index = file.index()->granules();
  std::vector<uint64_t> rows;
  for (size_t g = 0; g < index.num_granules(); ++g) rows.push_back(index.NumRows(g));
  return rows;
}

std::vector<uint32_t> DistinctPlaces(std::span<const uint32_t> rows,
                                     const std::vector<uint32_t>& place_of_row) {
  std::vector<uint32_t> places;
  for (const uint32_t row : rows) places.push_back(place_of_row[row]);
  std::sort(places.begin(), places.end());
  places.erase(std::unique(places.begin(), places.end()), places.end());
  return places;
}

}  // namespace

RowPlaces::RowPlaces(rocksdb::DB& db, const Rows& rows)
    : block_of_row_(rows.size()), granule_of_row_(rows.size()) {
  for (const std::string& path : FilesByAge(db)) ReadFile(path, rows);
}

void RowPlaces::ReadFile(const std::string& path, const Rows& rows) {
  CheckInterrupt();
  rocksdb::SstFileReader reader(CountingOptions());
  if (const rocksdb::Status status = reader.Open(path); !status.ok()) {
    Fail("cannot open {}: {}", path, status.ToString());
  }
  const std::vector<uint64_t> granule_rows = GranuleRows(path, reader.GetTableProperties());
  auto granule = granule_rows.begin();
  uint64_t rows_in_granule = 0;

  rocksdb::SetPerfLevel(rocksdb::PerfLevel::kEnableCount);
  uint64_t& blocks_read = rocksdb::get_perf_context()->block_read_count;
  const std::unique_ptr<rocksdb::Iterator> iterator(reader.NewIterator(rocksdb::ReadOptions()));
  blocks_read = 0;
  size_t row = 0;
  for (iterator->SeekToFirst(); iterator->Valid(); iterator->Next(), ++row) {
    const std::string_view key = iterator->key().ToStringView();
    while (row < rows.size() && rows.key(row) < key) ++row;
    if (row == rows.size() || rows.key(row) != key) Fail("{} has a key that is no row's", path);
    if (granule == granule_rows.end()) break;
    const uint64_t block = num_blocks_ + blocks_read - 1;
    if (rows_in_granule == 0) blocks_of_granule_.push_back({block, block});
    blocks_of_granule_.back().last = block;
    block_of_row_[row] = static_cast<uint32_t>(block);
    granule_of_row_[row] = static_cast<uint32_t>(blocks_of_granule_.size() - 1);
    if (++rows_in_granule == *granule) {
      ++granule;
      rows_in_granule = 0;
    }
  }
  rocksdb::SetPerfLevel(rocksdb::PerfLevel::kDisable);
  const uint64_t written = reader.GetTableProperties()->num_data_blocks;
  if (!iterator->status().ok() || blocks_read != written || iterator->Valid() ||
      granule != granule_rows.end()) {
    Fail("{}: {}; {} data blocks read of {}; its granules {} its rows", path,
         iterator->status().ToString(), blocks_read, written,
         granule == granule_rows.end() ? "end before" : "are more than");
  }
  num_blocks_ += blocks_read;
}

size_t RowPlaces::CountBlocks(std::span<const uint32_t> rows) const {
  return DistinctPlaces(rows, block_of_row_).size();
}

size_t RowPlaces::CountGranules(std::span<const uint32_t> rows) const {
  return DistinctPlaces(rows, granule_of_row_).size();
}

size_t RowPlaces::CountBlocksOfGranules(std::span<const uint32_t> rows) const {
  // Granules are numbered as their blocks are; two next to each other may share one.
  uint64_t count = 0;
  uint64_t next = 0;
  for (const uint32_t granule : DistinctPlaces(rows, granule_of_row_)) {
    const BlockRange& blocks = blocks_of_granule_[granule];
    count += blocks.last + 1 - std::max(blocks.first, next);
    next = blocks.last + 1;
  }
  return count;
}

}  // namespace blocksieve::bench::skip
