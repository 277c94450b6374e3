// SPDX-License-Identifier: Apache-2.0
#include <cassert>

#include "integration/toylsm/version.h"

namespace blocksieve::toylsm {
namespace {

// Iterates over a run block by block.
class RunIterator final : public EntryIterator {
 public:
  RunIterator(const Run* run, const ReadContext& context, const KeyRange& range,
              const std::vector<GranuleSet>* blocks)
      : run_(run),
        context_(context),
        range_(range),
        blocks_(blocks),
        may_have_keys_(run->MayHaveKeyIn(range, context)) {}

  bool Valid() const override { return block_ != nullptr; }
  void Seek(std::string_view key) override {
    const size_t file = run_->FindFileFrom(key);
    LoadFrom(file, file < run_->files.size() ? run_->files[file]->FindBlock(key) : 0);
    if (!Valid() || entry().key >= key) return;
    entry_ = block_->FindEntry(key);
    if (entry_ == block_->entries.size()) LoadFrom(file_, block_number_ + 1);
  }
  void Next() override {
    assert(Valid());
    if (++entry_ == block_->entries.size()) LoadFrom(file_, block_number_ + 1);
  }
  Entry entry() const override { return block_->entries[entry_]; }
  Status status() const override { return status_; }

 private:
  // Moves to the first entry of the next selected block, starting at this one.
  void LoadFrom(size_t file, size_t block) {
    block_ = nullptr;
    status_ = Status::Ok();
    entry_ = 0;
    if (!may_have_keys_) return;
    for (; file < run_->files.size(); ++file, block = 0) {
      for (; block < run_->files[file]->num_blocks(); ++block) {
        if (IsBeyondRange(file, block)) return;
        if (!IsSelected(file, block)) continue;
        auto read = run_->files[file]->ReadBlock(block, context_);
        status_ = read.status();
        if (read.ok()) block_ = *std::move(read);
        file_ = file;
        block_number_ = block;
        return;
      }
    }
  }

  // Whether the block and all following ones are beyond the range.
  bool IsBeyondRange(size_t file, size_t block) const {
    const SstReader& reader = *run_->files[file];
    if (block == 0) return range_.EndsAt(reader.first_key());
    return range_.EndsAt(reader.index().blocks[block - 1].last_key);
  }
  bool IsSelected(size_t file, size_t block) const {
    return blocks_ == nullptr || (*blocks_)[file].Has(block);
  }

  const Run* const run_;
  const ReadContext context_;
  const KeyRange range_;
  const std::vector<GranuleSet>* const blocks_;
  const bool may_have_keys_;
  size_t file_ = 0;
  size_t block_number_ = 0;
  size_t entry_ = 0;
  std::shared_ptr<const Block> block_;  // null: not valid
  Status status_;
};

}  // namespace

std::unique_ptr<EntryIterator> NewRunIterator(const Run* run, const ReadContext& context,
                                              const KeyRange& range,
                                              const std::vector<GranuleSet>* blocks) {
  return std::make_unique<RunIterator>(run, context, range, blocks);
}

}  // namespace blocksieve::toylsm
