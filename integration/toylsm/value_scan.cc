// SPDX-License-Identifier: Apache-2.0
#include "integration/toylsm/value_scan.h"

#include <utility>

#include "lib/base/errors.h"

namespace blocksieve::toylsm {

ValueScan::ValueScan(std::shared_ptr<const Version> version, const ReadContext& context,
                     const Predicate& predicate, bool use_index)
    : version_(std::move(version)),
      context_(context),
      predicate_(predicate),
      selected_(Prune(use_index)),
      entries_(EntrySources(*version_, context_, {}, &selected_)) {
  entries_.Seek({});
  FindRow();
}

SelectedBlocks ValueScan::Prune(bool use_index) {
  SelectedBlocks selected;
  for (const Run& run : version_->runs) {
    std::vector<GranuleSet>& of_run = selected.emplace_back();
    for (const std::shared_ptr<SstReader>& file : run.files) {
      const SkipIndex* const index = use_index ? file->skip_index() : nullptr;
      of_run.push_back(index != nullptr ? index->Candidates(predicate_)
                                        : GranuleSet::All(file->num_blocks()));
    }
  }
  return selected;
}

void ValueScan::FindRow() {
  for (; entries_.Valid(); entries_.Next()) {
    const Entry entry = entries_.entry();
    if (!entry.value || !predicate_.Matches(Row(entry.key, *entry.value))) continue;
    const Result<bool> is_stale = IsStale(entry.key, entries_.current_source());
    status_ = is_stale.status();
    if (!is_stale.ok() || !*is_stale) return;
  }
}

Result<bool> ValueScan::IsStale(std::string_view key, size_t source) {
  // Source 0 is the memtable, source i + 1 is run i.
  for (size_t i = 0; i + 1 < source; ++i) {
    const Run& run = version_->runs[i];
    const size_t file_number = run.FindFile(key);
    if (file_number == run.files.size()) continue;
    const SstReader& file = *run.files[file_number];
    if (selected_[i][file_number].Has(file.FindBlock(key))) continue;
    BLOCKSIEVE_ASSIGN_OR_RETURN(const Found found, file.Find(key, context_));
    if (found.has_key) return true;
  }
  return false;
}

}  // namespace blocksieve::toylsm
