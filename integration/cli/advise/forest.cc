#include "integration/cli/advise/forest.h"

#include "integration/cli/term/text.h"

namespace blocksieve::cli {

uint64_t Forest::num_keys() const {
  uint64_t sum = 0;
  for (const RunList& list : lists) sum += list.num_keys();
  return sum;
}

size_t Forest::num_runs() const {
  size_t sum = 0;
  for (const RunList& list : lists) sum += list.runs.size();
  return sum;
}

uint64_t Forest::filter_bytes() const {
  uint64_t sum = 0;
  for (const RunList& list : lists) sum += list.filter_bytes();
  return sum;
}

double Forest::WastedReads(std::span<const double> fprs, double absent_fraction) const {
  if (lists.size() == 1) {
    return lists.front().tree.WastedReads({fprs.begin(), fprs.end()}, absent_fraction);
  }
  double reads = 0;
  const uint64_t all_keys = num_keys();
  for (const RunList& list : lists) {
    const auto of_list = fprs.first(list.runs.size());
    fprs = fprs.subspan(list.runs.size());
    reads += term::Ratio(list.num_keys(), all_keys) *
             list.tree.WastedReads({of_list.begin(), of_list.end()}, absent_fraction);
  }
  return reads;
}

std::vector<ForestLevel> LevelsOf(const Forest& forest) {
  std::vector<ForestLevel> levels;
  size_t first_of_list = 0;
  for (const RunList& list : forest.lists) {
    const std::vector<double> shares = list.tree.LookupShares();
    size_t run = 0;
    for (const auto& runs : ByLevel(list.runs)) {
      ForestLevel& level = levels.emplace_back();
      level.list = &list;
      level.runs = runs;
      level.first_run = first_of_list + run;
      for (const SortedRun& one : runs) {
        level.num_keys += one.num_keys;
        level.lookup_share += shares[run++] / static_cast<double>(runs.size());
      }
    }
    first_of_list += list.runs.size();
  }
  return levels;
}

}  // namespace blocksieve::cli
