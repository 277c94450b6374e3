#include "integration/toylsm/iterator.h"

#include <utility>
#include <vector>

#include "integration/toylsm/run_iterator.h"

namespace blocksieve::toylsm {

std::vector<std::unique_ptr<EntryIterator>> EntrySources(const Version& version,
                                                         const ReadContext& context) {
  std::vector<std::unique_ptr<EntryIterator>> sources;
  sources.push_back(Memtable::NewIterator(version.memtable));
  for (const Run& run : version.runs) {
    sources.push_back(std::make_unique<RunIterator>(&run, context));
  }
  return sources;
}

Iterator::Iterator(View view, const ReadContext& context)
    : view_(std::move(view)), entries_(EntrySources(*view_.version, context)) {}

void Iterator::SeekToFirst() {
  entries_.SeekToFirst();
  FindForward();
}

void Iterator::SeekToLast() {
  entries_.SeekToLast();
  FindBackward();
}

void Iterator::Seek(std::string_view key) {
  entries_.Seek({key, view_.sequence});
  FindForward();
}

void Iterator::Next() {
  if (is_forward_) {
    while (entries_.Valid() && entries_.entry().key == key_) entries_.Next();
  } else {
    entries_.Seek({key_, 0});  // behind all versions: no write has sequence 0
  }
  FindForward();
}

void Iterator::Prev() {
  if (is_forward_) {
    entries_.Seek({key_, kMaxSequence});
    if (entries_.Valid()) entries_.Prev();
  }
  FindBackward();
}

void Iterator::FindForward() {
  is_forward_ = true;
  is_valid_ = false;
  while (entries_.Valid()) {
    const Entry& entry = entries_.entry();
    if (entry.sequence > view_.sequence) {
      entries_.Next();
      continue;
    }
    // The newest version that is visible.
    key_ = entry.key;
    if (entry.type == EntryType::kPut) {
      value_ = entry.value;
      is_valid_ = true;
      return;
    }
    while (entries_.Valid() && entries_.entry().key == key_) entries_.Next();
  }
}

void Iterator::FindBackward() {
  is_forward_ = false;
  is_valid_ = false;
  while (entries_.Valid() && !is_valid_) {
    // Versions come from the oldest to the newest: the last visible one counts.
    key_ = entries_.entry().key;
    for (; entries_.Valid() && entries_.entry().key == key_; entries_.Prev()) {
      const Entry& entry = entries_.entry();
      if (entry.sequence > view_.sequence) continue;
      is_valid_ = entry.type == EntryType::kPut;
      value_ = entry.value;
    }
    // An error in the midst of the versions would show an old one.
    if (!entries_.status().ok()) is_valid_ = false;
  }
}

}  // namespace blocksieve::toylsm
