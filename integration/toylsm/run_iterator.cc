#include "integration/toylsm/run_iterator.h"

#include <algorithm>

namespace blocksieve::toylsm {

void RunIterator::Load(size_t file, size_t block) {
  file_number_ = file;
  block_number_ = block;
  Result<std::shared_ptr<const Block>> read = run_->files[file]->ReadBlock(block, context_);
  status_ = read.status();
  block_ = read.ok() ? *std::move(read) : nullptr;
}

void RunIterator::LoadForward(size_t file, size_t block) {
  block_ = nullptr;
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
  block_ = nullptr;
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
  const auto file =
      std::lower_bound(run_->files.begin(), run_->files.end(), target.key,
                       [](const auto& f, std::string_view key) { return f->last_key() < key; });
  const auto file_number = static_cast<size_t>(file - run_->files.begin());
  LoadForward(file_number, file == run_->files.end() ? 0 : (*file)->FindBlock(target.key));
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
    block_ = nullptr;
  }
}

}  // namespace blocksieve::toylsm
