#include "integration/toylsm/merging_iterator.h"

#include <cassert>

namespace blocksieve::toylsm {

void MergingIterator::Pick(bool forward) {
  is_forward_ = forward;
  current_ = sources_.size();
  if (!status().ok()) return;
  for (size_t i = 0; i < sources_.size(); ++i) {
    if (!sources_[i]->Valid()) continue;
    const Position here = sources_[i]->entry().position();
    if (!Valid() || (forward ? here < entry().position() : entry().position() < here)) current_ = i;
  }
}

void MergingIterator::SeekToFirst() {
  for (const auto& source : sources_) source->SeekToFirst();
  Pick(true);
}

void MergingIterator::SeekToLast() {
  for (const auto& source : sources_) source->SeekToLast();
  Pick(false);
}

void MergingIterator::Seek(const Position& target) {
  for (const auto& source : sources_) source->Seek(target);
  Pick(true);
}

void MergingIterator::Next() {
  assert(Valid());
  if (!is_forward_) {
    for (size_t i = 0; i < sources_.size(); ++i) {
      if (i != current_) sources_[i]->Seek(entry().position());
    }
  }
  sources_[current_]->Next();
  Pick(true);
}

void MergingIterator::Prev() {
  assert(Valid());
  if (is_forward_) {
    for (size_t i = 0; i < sources_.size(); ++i) {
      if (i == current_) continue;
      sources_[i]->Seek(entry().position());
      if (sources_[i]->Valid()) {
        sources_[i]->Prev();
      } else if (sources_[i]->status().ok()) {
        sources_[i]->SeekToLast();
      }
    }
  }
  sources_[current_]->Prev();
  Pick(false);
}

Status MergingIterator::status() const {
  for (const auto& source : sources_) {
    Status status = source->status();
    if (!status.ok()) return status;
  }
  return Status::Ok();
}

}  // namespace blocksieve::toylsm
