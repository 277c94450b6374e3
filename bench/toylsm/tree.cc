#include "bench/toylsm/tree.h"

#include <algorithm>
#include <map>

#include "bench/support/terminal.h"

namespace blocksieve::bench::toy {

toylsm::Options TreeOptions(const Rows& rows) {
  toylsm::Options options;
  options.memtable_bytes = std::clamp<uint64_t>(rows.num_bytes() / 40, 64 << 10, 4 << 20);
  options.level1_bytes = options.memtable_bytes;
  options.size_ratio = 4;
  options.file_bytes = std::clamp<uint64_t>(rows.num_bytes() / 40, 64 << 10, 4 << 20);
  options.key_filters = {};
  return options;
}

std::unique_ptr<toylsm::Db> OpenDb(const toylsm::Options& options,
                                   const std::filesystem::path& path) {
  return Must(toylsm::Db::Open(options, path.string()), "open");
}

void WriteRows(toylsm::Db& db, const Rows& rows, uint64_t seed) {
  const std::vector<uint32_t> order = RandomOrder(rows.size(), seed);
  for (size_t i = 0; i < order.size(); ++i) {
    if (i % 1'024 == 0) CheckInterrupt();
    Check(db.Put(rows.key(order[i]), rows.value(order[i])), "write to");
  }
  Check(db.Flush(), "flush");
}

void ForgetReads(toylsm::Db& db) {
  db.cache().Clear();
  db.counters() = {};
}

void Check(const Status& status, const char* what) {
  if (!status.ok()) Fail("the toy LSM failed to {} the database: {}", what, status.message());
}

RowBlocks::RowBlocks(toylsm::Db& db, const Rows& rows) : block_of_row_(rows.size()) {
  const auto version = db.version();
  std::map<uint64_t, uint64_t> first_block;  // of the file of this number
  for (const auto& file : version->AllFiles()) {
    first_block[file->info().number] = num_blocks_;
    num_blocks_ += file->num_blocks();
  }
  toylsm::Counters counters;
  toylsm::MergingIterator entries(toylsm::EntrySources(*version, {&counters, nullptr}));
  entries.Seek({});
  for (size_t row = 0; row < rows.size(); ++row) {
    if (!entries.Valid() || entries.entry().key != rows.key(row)) {
      Check(entries.status(), "read");
      Fail("the toy LSM lacks a row, or has one too many, at row {}", row);
    }
    // Source 0 is the memtable.
    const toylsm::Run& run = version->runs[entries.current_source() - 1];
    const toylsm::SstReader& file = *run.files[run.FindFile(rows.key(row))];
    block_of_row_[row] = first_block[file.info().number] + file.FindBlock(rows.key(row));
    entries.Next();
  }
}

size_t RowBlocks::Count(std::span<const uint32_t> rows) const {
  std::vector<uint64_t> blocks;
  for (const uint32_t row : rows) blocks.push_back(block_of_row_[row]);
  std::sort(blocks.begin(), blocks.end());
  return static_cast<size_t>(std::unique(blocks.begin(), blocks.end()) - blocks.begin());
}

}  // namespace blocksieve::bench::toy
