#include <algorithm>

#include "integration/toylsm/version.h"

namespace blocksieve::toylsm {
namespace {

// Goes through a run block by block.
class RunIterator final : public EntryIterator {
 public:
  RunIterator(const Run* run, const ReadContext& context, const std::vector<GranuleSet>* admitted)
      : run_(run), context_(context), admitted_(admitted) {}

  bool Valid() const override { return block_ != nullptr; }
  void SeekToFirst() override { LoadForward(0, 0); }
  void SeekToLast() override;
  void Seek(const Position& target) override;
  void Next() override;
  void Prev() override;
  const Entry& entry() const override { return block_->entries[entry_number_]; }
  Status status() const override { return status_; }

 private:
  // To the first entry of the first admitted block from there on, or the last one of the last block
  // up to there.
  void LoadForward(size_t file, size_t block);
  void LoadBackward(size_t file, size_t block);
  void Load(size_t file, size_t block);
  void Unload();
  bool Admits(size_t file, size_t block) const {
    return admitted_ == nullptr || (*admitted_)[file].Has(block);
  }

  const Run* const run_;
  const ReadContext context_;
  const std::vector<GranuleSet>* const admitted_;
  size_t file_number_ = 0;  // in the run
  size_t block_number_ = 0;
  size_t entry_number_ = 0;
  std::shared_ptr<const Block> block_;  // null: not valid
  Status status_;
};

void RunIterator::Load(size_t file, size_t block) {
  file_number_ = file;
  block_number_ = block;
  Result<std::shared_ptr<const Block>> read = run_->files[file]->ReadBlock(block, context_);
  status_ = read.status();
  block_ = read.ok() ? *std::move(read) : nullptr;
}

void RunIterator::Unload() {
  block_ = nullptr;
  status_ = Status::Ok();  // an error is of the last move only: it may be tried again
}

void RunIterator::LoadForward(size_t file, size_t block) {
  Unload();
  for (; file < run_->files.size(); ++file, block = 0) {
    for (; block < run_->files[file]->num_blocks(); ++block) {
      if (!Admits(file, block)) continue;
      Load(file, block);
      entry_number_ = 0;
      return;
    }
  }
}

void RunIterator::LoadBackward(size_t file, size_t block) {
  Unload();
  for (;;) {
    if (Admits(file, block)) {
      Load(file, block);
      if (block_ != nullptr) entry_number_ = block_->entries.size() - 1;
      return;
    }
    if (block > 0) {
      --block;
    } else if (file > 0) {
      block = run_->files[--file]->num_blocks() - 1;
    } else {
      return;
    }
  }
}

void RunIterator::SeekToLast() {
  LoadBackward(run_->files.size() - 1, run_->files.back()->num_blocks() - 1);
}

void RunIterator::Seek(const Position& target) {
  const size_t file = run_->FindFileFrom(target.key);
  LoadForward(file, file == run_->files.size() ? 0 : run_->files[file]->FindBlock(target.key));
  while (Valid() && entry().position() < target) {
    const std::vector<Entry>& entries = block_->entries;
    const auto found = std::lower_bound(
        entries.begin(), entries.end(), target,
        [](const Entry& entry, const Position& p) { return entry.position() < p; });
    entry_number_ = static_cast<size_t>(found - entries.begin());
    if (entry_number_ < entries.size()) return;
    LoadForward(file_number_, block_number_ + 1);
  }
}

void RunIterator::Next() {
  if (++entry_number_ == block_->entries.size()) LoadForward(file_number_, block_number_ + 1);
}

void RunIterator::Prev() {
  if (entry_number_ > 0) {
    --entry_number_;
  } else if (block_number_ > 0) {
    LoadBackward(file_number_, block_number_ - 1);
  } else if (file_number_ > 0) {
    LoadBackward(file_number_ - 1, run_->files[file_number_ - 1]->num_blocks() - 1);
  } else {
    Unload();
  }
}

}  // namespace

std::unique_ptr<EntryIterator> NewRunIterator(const Run* run, const ReadContext& context,
                                              const std::vector<GranuleSet>* admitted) {
  return std::make_unique<RunIterator>(run, context, admitted);
}

}  // namespace blocksieve::toylsm
