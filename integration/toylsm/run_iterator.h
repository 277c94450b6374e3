#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "blocksieve/granule_set.h"
#include "integration/toylsm/entry_iterator.h"
#include "integration/toylsm/version.h"

namespace blocksieve::toylsm {

/// The entries of a run, block by block.
class RunIterator final : public EntryIterator {
 public:
  /// `run` must outlive this. With `admitted`, of each file a set of blocks, all other blocks are
  /// passed over unread: then only a scan that knows what it misses may use it.
  RunIterator(const Run* run, const ReadContext& context,
              const std::vector<GranuleSet>* admitted = nullptr)
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

}  // namespace blocksieve::toylsm
