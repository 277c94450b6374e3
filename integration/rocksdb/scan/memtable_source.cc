#include "integration/rocksdb/scan/memtable_source.h"

#include <cassert>

namespace blocksieve::rocksdb_plugin {

MemtableSource::MemtableSource(ScanContext* context, MergedRanges* ranges)
    : context_(context), ranges_(ranges) {
  rocksdb::ReadOptions options = context->read_options;
  options.read_tier = rocksdb::kMemtableTier;
  iterator_.reset(context->db->NewIterator(options, context->column_family));
}

std::optional<rocksdb::Slice> MemtableSource::Bound() const {
  assert(!Done());
  if (!positioned_) return std::nullopt;
  return iterator_->key();
}

void MemtableSource::Position() {
  assert(!Done() && !IsPositioned());
  context_->reverse ? iterator_->SeekToLast() : iterator_->SeekToFirst();
  FindCandidate();
}

void MemtableSource::Next() {
  assert(IsPositioned());
  if (context_->has_merges) last_key_ = iterator_->key().ToString();
  context_->reverse ? iterator_->Prev() : iterator_->Next();
  FindCandidate();
}

void MemtableSource::FindCandidate() {
  for (; iterator_->Valid(); context_->reverse ? iterator_->Prev() : iterator_->Next()) {
    ++context_->counts.rows_read;
    if (context_->has_merges || context_->Matches(iterator_->value())) {
      positioned_ = true;
      return;
    }
  }
  positioned_ = false;
  done_ = true;
  if (!iterator_->status().ok()) {
    // An operand whose operator insists on a value below it. What comes behind is not to be had:
    // the rest is read on the merged view.
    ScanRange rest;
    rest.start(context_->reverse) = last_key_;
    ranges_->Add(std::move(rest));
  }
}

}  // namespace blocksieve::rocksdb_plugin
