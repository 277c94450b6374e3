#include "integration/rocksdb/levels/level_rates.h"

#include <algorithm>
#include <cassert>
#include <new>
#include <vector>

#include "blocksieve/range_filter.h"
#include "blocksieve/rate_allocation.h"
#include "blocksieve/sizing.h"

namespace blocksieve::rocksdb_plugin {
namespace {

// Some files always move to deeper levels without being rewritten, and all of them do if keys
// ascend. Two limits keep the memory for such files small: no file is more precise than this share
// of the whole tree's wasted reads, since its own are then lost among those of the last level, and
// none gets more bits per key.
constexpr double kLeastShareOfWastedReads = 1.0 / 512;
constexpr double kMostBitsPerKey = 30;

// Without a share of seeks they count as much as lookups.
constexpr double kDefaultSeekFraction = 0.5;

// The average number of files on level 0, half of the four that start a compaction by default, and
// the number of them that make up level 1.
constexpr double kModelLevel0Runs = 2;
constexpr double kModelLevel0RunsPerLevel1 = 4;
constexpr double kModelKeys = 1e8;

// The column families whose last level a policy remembers. None of them says when it is gone.
constexpr size_t kMostColumnFamilies = 10'000;

// The index of a level's group in GroupsOf.
size_t GroupOf(int level) { return static_cast<size_t>(level); }

// If level 0 was empty whenever its size was read, its files are taken to be as in the model.
double KeysPerLevel0Run(const ColumnFamilyShape& shape) {
  if (shape.keys_per_level0_run > 0) return shape.keys_per_level0_run;
  double smallest = 0;
  for (const double keys : shape.level_keys) {
    if (keys > 0 && (smallest == 0 || keys < smallest)) smallest = keys;
  }
  return smallest / kModelLevel0RunsPerLevel1;
}

std::vector<RunGroup> GroupsOf(const ColumnFamilyShape& shape, PolicyKind kind,
                               bool is_level0_short_lived) {
  std::vector<RunGroup> groups;
  groups.push_back({.num_runs = std::max(shape.level0_runs, 1.0),
                    .keys_per_run = KeysPerLevel0Run(shape),
                    .kind = KindOfFile(kind, is_level0_short_lived),
                    .share_of_lookups = shape.ShareOf(0)});
  for (size_t level = 1; level < shape.level_keys.size(); ++level) {
    const double keys = shape.level_keys[level];
    groups.push_back({.num_runs = keys > 0 ? 1.0 : 0.0,
                      .keys_per_run = keys,
                      .kind = KindOfFile(kind, /*is_short_lived=*/false),
                      .share_of_lookups = shape.ShareOf(level)});
  }
  return groups;
}

// Under FIFO nothing is ever compacted.
bool StaysOnLevel0(const rocksdb::FilterBuildingContext& context) {
  return context.compaction_style == rocksdb::kCompactionStyleFIFO;
}

}  // namespace

// A flushed file gets the fastest kind: it lives until the next compaction, and every lookup asks
// its filter. What compactions and bulk loads write stays, and gets the smallest kind. Measured
// with a million keys (bench/run filters), ribbon takes a third less space, but 2.6 times as long
// to build and 1.8 times as long to probe.
FilterKind KindOfFile(PolicyKind kind, bool is_short_lived) {
  switch (kind) {
    case PolicyKind::kBloom:
      return FilterKind::kBlockedBloom;
    case PolicyKind::kRibbon:
      return FilterKind::kRibbon;
    case PolicyKind::kAuto:
      break;
  }
  return is_short_lived ? FilterKind::kBlockedBloom : FilterKind::kRibbon;
}

double LeastRate(FilterKind kind, double wasted_reads) {
  const Result<Layout> largest = LayoutForBitsPerKey(kind, kMostBitsPerKey);
  return std::max({wasted_reads * kLeastShareOfWastedReads, largest->predicted_fpr, kMinTargetFpr});
}

bool IsShortLived(const rocksdb::FilterBuildingContext& context) {
  const bool is_flush = context.reason == rocksdb::TableFileCreationReason::kFlush ||
                        context.reason == rocksdb::TableFileCreationReason::kRecovery;
  return is_flush && !StaysOnLevel0(context);
}

void LevelRates::Learn(const rocksdb::ColumnFamilyOptions& column_family) {
  if (column_family.compaction_style != rocksdb::kCompactionStyleLevel) return;
  size_ratio_ = std::max(1.0, column_family.max_bytes_for_level_multiplier);
  has_dynamic_levels_ = column_family.level_compaction_dynamic_level_bytes;
}

LevelRates::Rates LevelRates::RatesOf(const FilterPolicyOptions& options,
                                      const rocksdb::FilterBuildingContext& context) {
  assert(options.wasted_reads.has_value() != options.bits_per_key.has_value());
  const ColumnFamilyShape shape = ShapeFor(context);
  // Whichever file this is of, those of level 0 are what flushes make of them.
  std::vector<RunGroup> groups = GroupsOf(shape, options.kind, !StaysOnLevel0(context));
  size_t group = 0;
  if (context.level_at_creation >= 0) {
    group = GroupOf(context.level_at_creation);
    const RunGroup empty{.num_runs = 0, .kind = KindOfFile(options.kind, /*is_short_lived=*/false)};
    if (group >= groups.size()) groups.resize(group + 1, empty);
  } else {
    // The level is not known: take the largest.
    for (size_t i = 1; i < groups.size(); ++i) {
      if (groups[i].keys_per_run > groups[group].keys_per_run) group = i;
    }
  }
  // A level that did not exist when the sizes were read begins as a run like those of level 0.
  if (groups[group].num_runs == 0) {
    groups[group].num_runs = 1;
    groups[group].keys_per_run = std::max(1.0, KeysPerLevel0Run(shape));
  }
  const RateGoal goal{.wasted_reads = options.wasted_reads, .bits_per_key = options.bits_per_key};
  const FilterKind kind = groups[group].kind;
  const auto fail = [&](const Status& status) -> Rates {
    if (status.code() == StatusCode::kResourceExhausted) throw std::bad_alloc();
    return {LeastRate(kind, options.wasted_reads.value_or(0)), kMaxRangeFpr};  // no keys
  };
  if (options.ranges) {
    const Result<RangeRateAllocation> rates =
        AllocateRatesWithRanges(groups, goal, options.seek_fraction.value_or(kDefaultSeekFraction));
    if (!rates.ok()) return fail(rates.status());
    return {std::max(rates->points.target_fprs[group], LeastRate(kind, rates->points.wasted_reads)),
            std::max(rates->range_fprs[group],
                     std::max(kMinRangeFpr, rates->wasted_seek_reads * kLeastShareOfWastedReads))};
  }
  const Result<RateAllocation> rates = AllocateRates(groups, goal);
  if (!rates.ok()) return fail(rates.status());
  return {std::max(rates->target_fprs[group], LeastRate(kind, rates->wasted_reads)), 1};
}

ColumnFamilyShape LevelRates::ShapeFor(const rocksdb::FilterBuildingContext& context) {
  const auto known = KnownShapes::Instance().Get({context.info_log, context.column_family_name});
  // The model also learns while it is not needed.
  ColumnFamilyShape model = ModelFor(context);
  return known && !known->IsEmpty() ? *known : model;
}

ColumnFamilyShape LevelRates::ModelFor(const rocksdb::FilterBuildingContext& context) {
  ColumnFamilyShape model{
      .level0_runs = kModelLevel0Runs, .keys_per_level0_run = kModelKeys, .level_keys = {}};
  const bool has_levels = context.compaction_style != rocksdb::kCompactionStyleFIFO &&
                          context.num_levels > 1 && context.level_at_creation >= 0;
  if (!has_levels) {
    // All files are alike. Their number is not known, so each is taken for the only one.
    model.level0_runs = 1;
    return model;
  }
  const int last_level = LastLevel(context);
  model.level_keys.resize(static_cast<size_t>(last_level) + 1);
  double keys = kModelKeys;
  for (int level = last_level; level >= 1; --level) {
    model.level_keys[GroupOf(level)] = keys;
    model.keys_per_level0_run = keys / kModelLevel0RunsPerLevel1;
    keys /= size_ratio_;
  }
  return model;
}

// With dynamic level sizes, the last level that there can be. With static ones, the deepest level
// that files give reason to believe in: one level too many would cost each file about log2(size
// ratio) bits per key.
int LevelRates::LastLevel(const rocksdb::FilterBuildingContext& context) {
  const int deepest = context.num_levels - 1;
  if (context.compaction_style == rocksdb::kCompactionStyleLevel && has_dynamic_levels_) {
    return deepest;
  }
  const std::lock_guard lock(mutex_);
  if (last_levels_.size() > kMostColumnFamilies) last_levels_.clear();  // to be learned again
  int& last =
      last_levels_.try_emplace({context.info_log, context.column_family_name}, 1).first->second;
  const int level = context.level_at_creation;
  if (level > 0) last = context.is_bottommost ? level : std::max(last, level + 1);
  last = std::min(last, deepest);
  return last;
}

}  // namespace blocksieve::rocksdb_plugin
