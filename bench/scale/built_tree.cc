#include <vector>

#include "bench/filter_bench/keys.h"
#include "bench/scale/filters.h"
#include "bench/support/measure.h"
#include "bench/support/terminal.h"
#include "blocksieve/hash.h"

namespace blocksieve::bench::scale {
namespace {

// Of the most precise plan here (0.0015 wasted reads) 15,000 of them: within 2 %, two standard
// deviations.
constexpr uint64_t kLookups = 10'000'000;

/// What goes through the pipe: a TreeResult but for its text.
struct Measured {
  uint64_t files = 0;
  uint64_t bytes = 0;
  uint64_t wasted = 0;
  uint64_t false_negatives = 0;
};

using Level = std::vector<BuiltFilter>;

Level BuildLevel(KeyRange keys, double target_fpr, Measured* measured) {
  Level level;
  const uint64_t num_files = NumFiles(keys.count);
  for (uint64_t i = 0; i < num_files; ++i) {
    CheckInterrupt();
    const uint64_t begin = keys.count * i / num_files;
    const uint64_t end = keys.count * (i + 1) / num_files;
    const KeyRange range{.first = keys.first + begin, .count = end - begin};
    level.push_back(BuildFilter(FilterKind::kRibbon, target_fpr, range));
    measured->false_negatives += CountFalseNegatives(level.back().reader, range);
    measured->bytes += level.back().block.size;
  }
  measured->files += num_files;
  return level;
}

// The ranges of a level's files are equally likely to be the one that a key is in.
const FilterReader& FileOf(const Level& level, uint64_t absent_key) {
  const auto place = static_cast<unsigned __int128>(Mix(absent_key)) * level.size();
  return level[static_cast<size_t>(place >> 64)].reader;
}

Measured Measure(uint64_t num_keys, const Asking& asking) {
  const TreePlan plan = PlanTree(num_keys, asking);
  Measured measured;
  std::vector<Level> levels;
  uint64_t first = 0;
  for (size_t i = 0; i < plan.level_keys.size(); ++i) {
    const KeyRange keys{.first = first, .count = plan.level_keys[i]};
    first += keys.count;
    if (plan.target_fprs[i] < 1) {
      levels.push_back(BuildLevel(keys, plan.target_fprs[i], &measured));
    } else {
      measured.files += NumFiles(keys.count);
      measured.wasted += kLookups;  // every lookup reads a block there
    }
  }
  for (uint64_t i = 0; i < kLookups; ++i) {
    const uint64_t number = kFirstAbsent + i;
    const uint64_t hash = HashKey(Key16(number).view());
    for (const Level& level : levels) measured.wasted += FileOf(level, number).MayMatchHash(hash);
  }
  return measured;
}

}  // namespace

TreeResult MeasureTree(uint64_t num_keys, const Asking& asking) {
  const Measured measured =
      InOwnProcess("a tree of filters", [&] { return Measure(num_keys, asking); });
  return {.asked = asking.name,
          .keys = num_keys,
          .files = measured.files,
          .memory_bytes = measured.bytes,
          .lookups = kLookups,
          .wasted_reads = static_cast<double>(measured.wasted) / static_cast<double>(kLookups),
          .false_negatives = measured.false_negatives};
}

}  // namespace blocksieve::bench::scale
