#include "integration/toylsm/scan.h"

#include <utility>

#include "integration/toylsm/run_iterator.h"

namespace blocksieve::toylsm {

Scan::Scan(View view, const ReadContext& context, const Predicate& predicate, bool use_index)
    : view_(std::move(view)),
      context_(context),
      predicate_(predicate),
      selected_(Select(use_index)),
      entries_(Sources()) {
  entries_.SeekToFirst();
  FindForward();
}

std::vector<Scan::BlocksOfFiles> Scan::Select(bool use_index) {
  std::vector<BlocksOfFiles> selected;
  for (const Run& run : view_.version->runs) {
    BlocksOfFiles& blocks_of_files = selected.emplace_back();
    for (const std::shared_ptr<SstReader>& file : run.files) {
      GranuleSet blocks = GranuleSet::All(file->num_blocks());
      const auto index = use_index ? file->value_index(context_) : nullptr;
      if (index != nullptr) {
        blocks = index->CandidateBlocks(predicate_, view_.sequence);
      } else {
        ++stats_.files_without_index;
      }
      stats_.num_blocks += file->num_blocks();
      stats_.blocks_selected += blocks.Count();
      blocks_of_files.push_back(std::move(blocks));
    }
  }
  return selected;
}

std::vector<std::unique_ptr<EntryIterator>> Scan::Sources() const {
  std::vector<std::unique_ptr<EntryIterator>> sources;
  sources.push_back(Memtable::NewIterator(view_.version->memtable));
  for (size_t i = 0; i < selected_.size(); ++i) {
    sources.push_back(
        std::make_unique<RunIterator>(&view_.version->runs[i], context_, &selected_[i]));
  }
  return sources;
}

void Scan::Next() {
  while (entries_.Valid() && entries_.entry().key == key_) entries_.Next();
  FindForward();
}

void Scan::FindForward() {
  is_valid_ = false;
  while (entries_.Valid() && status_.ok()) {
    const Entry& entry = entries_.entry();
    if (entry.sequence > view_.sequence) {
      entries_.Next();
      continue;
    }
    key_ = entry.key;
    if (entry.type == EntryType::kPut && predicate_.Matches(entry.value)) {
      ++stats_.rows_matched;
      value_ = entry.value;
      is_valid_ = !IsStale(entries_.current_source()) && status_.ok();
      if (is_valid_) return;
    }
    while (entries_.Valid() && entries_.entry().key == key_) entries_.Next();
  }
}

bool Scan::IsStale(size_t source) {
  // Source 0 is the memtable, source i + 1 is run i.
  bool is_rechecked = false;
  for (size_t i = 0; i + 1 < source; ++i) {
    const Run& run = view_.version->runs[i];
    const size_t file_number = run.FindFile(key_);
    if (file_number == run.files.size()) continue;
    const SstReader& file = *run.files[file_number];
    if (selected_[i][file_number].Has(file.FindBlock(key_))) continue;
    if (!std::exchange(is_rechecked, true)) ++stats_.rows_rechecked;
    const auto found = file.Find(key_, view_.sequence, context_);
    if (!found.ok()) {
      status_ = found.status();
      return false;
    }
    if (found->has_value()) {
      ++stats_.rows_stale;
      return true;
    }
  }
  return false;
}

}  // namespace blocksieve::toylsm
