#include "integration/toylsm/iterator.h"

#include <algorithm>
#include <cassert>
#include <utility>

namespace blocksieve::toylsm {

std::vector<std::unique_ptr<EntryIterator>> EntrySources(const Version& version,
                                                         const ReadContext& context,
                                                         const KeyRange& range,
                                                         const SelectedBlocks* selected) {
  std::vector<std::unique_ptr<EntryIterator>> sources;
  sources.push_back(Memtable::NewIterator(version.memtable));
  for (size_t i = 0; i < version.runs.size(); ++i) {
    const auto* const blocks = selected == nullptr ? nullptr : &(*selected)[i];
    sources.push_back(NewRunIterator(&version.runs[i], context, {range, blocks}));
  }
  return sources;
}

Iterator::Iterator(View view, const ReadContext& context, KeyRange range,
                   const SelectedBlocks* selected, RowCheck check)
    : view_(std::move(view)),
      range_(std::move(range)),
      check_(std::move(check)),
      entries_(EntrySources(*view_.version, context, range_, selected)) {}

void Iterator::SeekToLast() {
  if (range_.end) entries_.Seek({*range_.end});
  if (range_.end && entries_.Valid()) {
    entries_.Prev();
  } else {
    entries_.SeekToLast();
  }
  FindBackward();
}

void Iterator::Seek(std::string_view key) {
  entries_.Seek({std::max<std::string_view>(key, range_.begin), view_.sequence});
  FindForward();
}

void Iterator::Next() {
  assert(Valid());
  if (is_forward_) {
    while (entries_.Valid() && entries_.entry().key == key_) entries_.Next();
  } else {
    entries_.Seek({key_, 0});  // behind all versions: no write has sequence 0
  }
  FindForward();
}

void Iterator::Prev() {
  assert(Valid());
  if (is_forward_) {
    entries_.Seek({key_, kMaxSequence});
    if (entries_.Valid()) entries_.Prev();
  }
  FindBackward();
}

void Iterator::FindForward() {
  is_forward_ = true;
  is_valid_ = false;
  status_ = Status::Ok();
  while (entries_.Valid() && !range_.EndsAt(entries_.entry().key)) {
    const Entry& entry = entries_.entry();
    if (entry.sequence > view_.sequence) {
      entries_.Next();
      continue;
    }
    // The newest version that is visible.
    key_ = entry.key;
    value_ = entry.value;
    if (IsRow(entry.type, entries_.current_source()) || !status_.ok()) return;
    while (entries_.Valid() && entries_.entry().key == key_) entries_.Next();
  }
}

void Iterator::FindBackward() {
  is_forward_ = false;
  is_valid_ = false;
  status_ = Status::Ok();
  while (entries_.Valid() && entries_.entry().key >= range_.begin) {
    // Versions come from the oldest to the newest: the last visible one counts.
    key_ = entries_.entry().key;
    EntryType type = EntryType::kDelete;
    size_t source = 0;
    for (; entries_.Valid() && entries_.entry().key == key_; entries_.Prev()) {
      const Entry& entry = entries_.entry();
      if (entry.sequence > view_.sequence) continue;
      type = entry.type;
      value_ = entry.value;
      source = entries_.current_source();
    }
    // An error in the midst of the versions would show an old one.
    if (!entries_.status().ok() || IsRow(type, source) || !status_.ok()) return;
  }
}

bool Iterator::IsRow(EntryType type, size_t source) {
  is_valid_ = type == EntryType::kPut;
  if (is_valid_ && check_ != nullptr) {
    const Result<bool> checked = check_(key_, value_, source);
    status_ = checked.status();
    is_valid_ = checked.ok() && *checked;
  }
  return is_valid_;
}

}  // namespace blocksieve::toylsm
