#include "bench/toylsm/row_blocks.h"

#include <algorithm>
#include <map>

#include "bench/support/failure.h"
#include "bench/toylsm/tree.h"

namespace blocksieve::bench::toy {

RowBlocks::RowBlocks(toylsm::Db& db, const Rows& rows) : block_of_row_(rows.size()) {
  const auto version = db.version();
  std::map<uint64_t, uint64_t> first_block;  // of the file of this number
  for (const auto& file : version->AllFiles()) {
    first_block[file->info().number] = num_blocks_;
    num_blocks_ += file->num_blocks();
  }
  toylsm::Counters counters;
  toylsm::MergingIterator entries(toylsm::EntrySources(*version, {&counters, nullptr}));
  entries.SeekToFirst();
  for (size_t row = 0; row < rows.size(); ++row) {
    if (!entries.Valid() || entries.entry().key != rows.key(row)) {
      Check(entries.status(), "read");
      Fail("the toy LSM lacks a row, or has one too many, at row {}", row);
    }
    // Source 0 is the memtable.
    const toylsm::Run& run = version->runs[entries.current_source() - 1];
    const toylsm::SstReader& file = *run.files[run.FindFile(rows.key(row))];
    block_of_row_[row] = first_block[file.info().number] + file.FindBlock(rows.key(row));
    while (entries.Valid() && entries.entry().key == rows.key(row)) entries.Next();
  }
}

size_t RowBlocks::Count(std::span<const uint32_t> rows) const {
  std::vector<uint64_t> blocks;
  for (const uint32_t row : rows) blocks.push_back(block_of_row_[row]);
  std::sort(blocks.begin(), blocks.end());
  return static_cast<size_t>(std::unique(blocks.begin(), blocks.end()) - blocks.begin());
}

}  // namespace blocksieve::bench::toy
