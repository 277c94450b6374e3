#include "integration/toylsm/merging_iterator.h"

namespace blocksieve::toylsm {

void MergingIterator::PickFirst() {
  is_forward_ = true;
  current_ = sources_.size();
  if (!status().ok()) return;
  for (size_t i = 0; i < sources_.size(); ++i) {
    if (!sources_[i]->Valid()) continue;
    if (!Valid() || sources_[i]->entry().position() < entry().position()) current_ = i;
  }
}

void MergingIterator::PickLast() {
  is_forward_ = false;
  current_ = sources_.size();
  if (!status().ok()) return;
  for (size_t i = 0; i < sources_.size(); ++i) {
    if (!sources_[i]->Valid()) continue;
    if (!Valid() || entry().position() < sources_[i]->entry().position()) current_ = i;
  }
}

void MergingIterator::SeekToFirst() {
  for (const auto& source : sources_) source->SeekToFirst();
  PickFirst();
}

void MergingIterator::SeekToLast() {
  for (const auto& source : sources_) source->SeekToLast();
  PickLast();
}

void MergingIterator::Seek(const Position& target) {
  for (const auto& source : sources_) source->Seek(target);
  PickFirst();
}

void MergingIterator::Next() {
  if (!is_forward_) {
    for (size_t i = 0; i < sources_.size(); ++i) {
      if (i != current_) sources_[i]->Seek(entry().position());
    }
  }
  sources_[current_]->Next();
  PickFirst();
}

void MergingIterator::Prev() {
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
  PickLast();
}

Status MergingIterator::status() const {
  for (const auto& source : sources_) {
    const Status status = source->status();
    if (!status.ok()) return status;
  }
  return Status::Ok();
}

}  // namespace blocksieve::toylsm
