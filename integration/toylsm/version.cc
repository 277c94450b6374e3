#include "integration/toylsm/version.h"

#include <algorithm>
#include <cassert>
#include <optional>
#include <string>
#include <utility>

namespace blocksieve::toylsm {

size_t Run::FindFileFrom(std::string_view key) const {
  const auto found =
      std::lower_bound(files.begin(), files.end(), key,
                       [](const auto& file, std::string_view k) { return file->last_key() < k; });
  return static_cast<size_t>(found - files.begin());
}

size_t Run::FindFile(std::string_view key) const {
  const size_t file = FindFileFrom(key);
  return file < files.size() && key < files[file]->first_key() ? files.size() : file;
}

bool Run::MayHaveKeyIn(const KeyRange& range, const ReadContext& context) const {
  const size_t file = FindFileFrom(range.begin);
  return file < files.size() && files[file]->MayHaveKeyIn(range, context);
}

uint64_t Run::num_bytes() const {
  uint64_t sum = 0;
  for (const auto& file : files) sum += file->info().num_bytes;
  return sum;
}

Result<std::vector<Run>> Version::MakeRuns(SstFiles files) {
  std::sort(files.begin(), files.end(), [](const auto& a, const auto& b) {
    if (a->info().level != b->info().level) return a->info().level < b->info().level;
    if (a->info().level == 0) return a->info().number > b->info().number;  // the newest first
    return a->first_key() < b->first_key();
  });
  std::vector<Run> runs;
  for (std::shared_ptr<SstReader>& file : files) {
    const int level = file->info().level;
    if (level == 0 || runs.empty() || runs.back().level != level) {
      runs.push_back({level, {}});
    } else if (file->first_key() <= runs.back().files.back()->last_key()) {
      return Status::Corruption("files of level " + std::to_string(level) + " overlap");
    }
    runs.back().files.push_back(std::move(file));
  }
  return runs;
}

SstFiles Version::AllFiles() const {
  SstFiles all;
  for (const Run& run : runs) all.insert(all.end(), run.files.begin(), run.files.end());
  return all;
}

const Run* Version::FindLevel(int level) const {
  assert(level >= 1);
  for (const Run& run : runs) {
    if (run.level == level) return &run;
  }
  return nullptr;
}

namespace {

// Goes through a run block by block.
class RunIterator final : public EntryIterator {
 public:
  RunIterator(const Run* run, const ReadContext& context, Wanted wanted)
      : run_(run),
        context_(context),
        wanted_(std::move(wanted)),
        may_have_keys_(run->MayHaveKeyIn(wanted_.range, context)) {}

  bool Valid() const override { return block_ != nullptr; }
  void SeekToFirst() override { Seek({wanted_.range.begin}); }
  void SeekToLast() override;
  void Seek(const Position& target) override;
  void Next() override;
  void Prev() override;
  const Entry& entry() const override { return block_->entries[entry_number_]; }
  Status status() const override { return status_; }

 private:
  // To the first entry of the first wanted block from there on, or the last one of the last block
  // up to there.
  void LoadForward(size_t file, size_t block);
  void LoadBackward(size_t file, size_t block);
  void Load(size_t file, size_t block);
  void Unload();
  // Less than all keys of the block, or the first one.
  const std::string& LowBound(size_t file, size_t block) const {
    const SstReader& reader = *run_->files[file];
    return block == 0 ? reader.first_key() : reader.index().blocks[block - 1].last_key;
  }
  bool IsBehindRange(size_t file, size_t block) const {
    return wanted_.range.EndsAt(LowBound(file, block));
  }
  bool IsSelected(size_t file, size_t block) const {
    return wanted_.blocks == nullptr || (*wanted_.blocks)[file].Has(block);
  }

  const Run* const run_;
  const ReadContext context_;
  const Wanted wanted_;
  const bool may_have_keys_;  // in the range
  size_t file_number_ = 0;    // in the run
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
  if (!may_have_keys_) return;
  for (; file < run_->files.size(); ++file, block = 0) {
    for (; block < run_->files[file]->num_blocks(); ++block) {
      if (IsBehindRange(file, block)) return;
      if (!IsSelected(file, block)) continue;
      Load(file, block);
      entry_number_ = 0;
      return;
    }
  }
}

void RunIterator::LoadBackward(size_t file, size_t block) {
  Unload();
  if (!may_have_keys_) return;
  for (;;) {
    if (run_->files[file]->index().blocks[block].last_key < wanted_.range.begin) return;
    if (!IsBehindRange(file, block) && IsSelected(file, block)) {
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
  const std::optional<std::string>& end = wanted_.range.end;
  const size_t file = end ? run_->FindFileFrom(*end) : run_->files.size();
  if (file == run_->files.size()) {
    LoadBackward(file - 1, run_->files.back()->num_blocks() - 1);
  } else {
    LoadBackward(file, run_->files[file]->FindBlock(*end));
  }
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
  assert(Valid());
  if (++entry_number_ == block_->entries.size()) LoadForward(file_number_, block_number_ + 1);
}

void RunIterator::Prev() {
  assert(Valid());
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
                                              Wanted wanted) {
  return std::make_unique<RunIterator>(run, context, std::move(wanted));
}

}  // namespace blocksieve::toylsm
