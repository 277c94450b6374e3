#include "integration/toylsm/scan.h"

#include <utility>

namespace blocksieve::toylsm {

Scan::Scan(View view, const ReadContext& context, const Predicate& predicate, bool use_index,
           bool reverse, const KeyRange& range)
    : view_(std::move(view)),
      context_(context),
      predicate_(predicate),
      is_reverse_(reverse),
      selected_(Select(use_index)),
      rows_(view_, context_, range, &selected_,
            [this](std::string_view key, std::string_view value, size_t source) {
              return IsRow(key, value, source);
            }) {
  is_reverse_ ? rows_.SeekToLast() : rows_.SeekToFirst();
}

SelectedBlocks Scan::Select(bool use_index) {
  SelectedBlocks selected;
  for (const Run& run : view_.version->runs) {
    std::vector<GranuleSet>& blocks_of_files = selected.emplace_back();
    for (const std::shared_ptr<SstReader>& file : run.files) {
      GranuleSet blocks = GranuleSet::All(file->num_blocks());
      const auto index = use_index ? file->skip_index(context_) : nullptr;
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

Result<bool> Scan::IsRow(std::string_view key, std::string_view value, size_t source) {
  ++stats_.rows_read;
  if (!predicate_.Matches(value)) return false;
  ++stats_.rows_matched;
  // Source 0 is the memtable, source i + 1 is run i.
  bool is_rechecked = false;
  for (size_t i = 0; i + 1 < source; ++i) {
    const Run& run = view_.version->runs[i];
    const size_t file_number = run.FindFile(key);
    if (file_number == run.files.size()) continue;
    const SstReader& file = *run.files[file_number];
    if (selected_[i][file_number].Has(file.FindBlock(key))) continue;
    if (!std::exchange(is_rechecked, true)) ++stats_.rows_rechecked;
    const auto found = file.Find(key, view_.sequence, context_);
    if (!found.ok()) return found.status();
    if (found->has_value()) {
      ++stats_.rows_stale;
      return false;
    }
  }
  return true;
}

}  // namespace blocksieve::toylsm
