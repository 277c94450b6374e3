// SPDX-License-Identifier: Apache-2.0
#include "integration/rocksdb/levels/level_rates.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "integration/rocksdb/compat/building_context.h"

namespace blocksieve::rocksdb_plugin {
namespace {

// Average number of files on level 0: half of the four that trigger a compaction by default.
constexpr double kModelLevel0Runs = 2;
constexpr double kModelKeys = 1e8;

// Maximum number of column families whose last level a policy remembers. RocksDB does not tell a
// policy when they are dropped, nor when their database is closed.
constexpr size_t kMaxColumnFamilies = 1000;

bool StaysOnLevel0(const rocksdb::FilterBuildingContext& context) {
  return context.compaction_style == rocksdb::kCompactionStyleFIFO;
}

}  // namespace

bool IsShortLived(const rocksdb::FilterBuildingContext& context) {
  return IsOfFlush(context) && !StaysOnLevel0(context);
}

ColumnFamilyKey ToKey(const rocksdb::FilterBuildingContext& context) {
  return {context.info_log, context.column_family_name, GetDbName(context)};
}

void LevelRates::Learn(const rocksdb::ColumnFamilyOptions& column_family) {
  if (column_family.compaction_style != rocksdb::kCompactionStyleLevel) return;
  size_ratio_ = std::max(1.0, column_family.max_bytes_for_level_multiplier);
  has_dynamic_levels_ = column_family.level_compaction_dynamic_level_bytes;
}

Result<FilterRates> LevelRates::ChooseRates(const RateGoal& goal,
                                            const rocksdb::FilterBuildingContext& context) {
  assert(goal.differs_by_run());
  // A worker's levels are not those of the database that it works for.
  auto known = IsRemote(context) ? std::nullopt : KnownLevels(ToKey(context));
  Levels levels = known && NumKeys(*known) > 0 ? *std::move(known) : ModelFor(context);
  const int level = context.level_at_creation;
  levels.resize(std::max(levels.size(), static_cast<size_t>(std::max(level + 1, 0))),
                {.num_runs = 0});
  // Level 0 is modelled with the kind that flushes build, whichever file this is.
  SetKinds(goal, /*level0_is_short_lived=*/!StaysOnLevel0(context), &levels);
  return AllocateForFile(std::move(levels), level, goal);
}

Levels LevelRates::ModelFor(const rocksdb::FilterBuildingContext& context) {
  const bool has_levels = context.compaction_style != rocksdb::kCompactionStyleFIFO &&
                          context.num_levels > 1 && context.level_at_creation >= 0;
  // All files are alike, and their number is unknown, so each is modelled as the only one.
  if (!has_levels) return {{.num_runs = 1, .keys_per_run = kModelKeys}};
  Levels model(static_cast<size_t>(LastLevel(context)) + 1);
  double keys = kModelKeys;
  for (size_t level = model.size() - 1; level >= 1; --level) {
    model[level].keys_per_run = keys;
    keys /= size_ratio_;
  }
  model[0].num_runs = kModelLevel0Runs;  // with the keys that AllocateByLevel assumes
  return model;
}

// With dynamic level sizes, the deepest level possible. With static ones, the deepest with evidence
// from files: one level too many would cost each file about log2(size ratio) bits per key.
int LevelRates::LastLevel(const rocksdb::FilterBuildingContext& context) {
  const int deepest = context.num_levels - 1;
  if (context.compaction_style == rocksdb::kCompactionStyleLevel && has_dynamic_levels_) {
    return deepest;
  }
  const std::lock_guard lock(mutex_);
  const auto known = last_levels_.find(ToKey(context));
  int last = known == last_levels_.end() ? 1 : known->second;
  const int level = context.level_at_creation;
  if (level > 0) {
    last = context.is_bottommost ? level : std::max(last, level + 1);
    if (known == last_levels_.end() && last_levels_.size() >= kMaxColumnFamilies) {
      last_levels_.clear();  // learned again
    }
    last_levels_[ToKey(context)] = last;
  }
  // Another column family of the name may have had more levels.
  return std::min(last, deepest);
}

}  // namespace blocksieve::rocksdb_plugin
