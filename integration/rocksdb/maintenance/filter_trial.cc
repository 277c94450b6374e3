// SPDX-License-Identifier: Apache-2.0
#include <rocksdb/filter_policy.h>
#include <rocksdb/slice_transform.h>
#include <rocksdb/table.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "integration/rocksdb/compat/cache_charge.h"
#include "integration/rocksdb/compat/filter_bits_abi.h"
#include "integration/rocksdb/compat/log.h"
#include "integration/rocksdb/maintenance/rewrite_files.h"
#include "integration/rocksdb/policy/policy.h"

namespace blocksieve::rocksdb_plugin {
namespace {

// Whether RocksDB takes the level of the file for the last one in its range.
bool IsBottommost(const std::vector<FileReport>& files, const FileReport& file,
                  const rocksdb::Comparator& comparator) {
  const auto& keys = file.place.keys;
  return std::ranges::none_of(files, [&](const FileReport& other) {
    if (other.place.family != file.place.family) return false;
    // On level 0, older files follow.
    if (file.place.level == 0) return other.place.level > 0 || (&other > &file);
    return other.place.level > file.place.level && keys && other.place.keys &&
           comparator.Compare(other.place.keys->first, keys->second) <= 0 &&
           comparator.Compare(keys->first, other.place.keys->second) <= 0;
  });
}

}  // namespace

std::string WhyNoBetter(const std::vector<FileReport>& files, const FileReport& file,
                        const rocksdb::ColumnFamilyOptions& family, const FilterRates& rates,
                        const FilterChange& planned, const KeysOfFile& keys_of_file) {
  if (planned.fpr >= 1) return "";  // no filter is planned
  if (family.optimize_filters_for_hits && IsBottommost(files, file, *family.comparator)) {
    return "optimize_filters_for_hits leaves files of the last level without any";
  }
  const EnableOptions& options = FindPolicy(family)->options();
  const auto& table = *family.table_factory->GetOptions<rocksdb::BlockBasedTableOptions>();
  if (!table.whole_key_filtering && file.filter.origin == FilterOrigin::kNone) {
    const auto& extractor = family.prefix_extractor;
    bool has_entries = false;
    keys_of_file(file, [&](std::string_view key) {
      has_entries = has_entries || (extractor != nullptr && extractor->InDomain(key));
    });
    if (!has_entries) return "with whole_key_filtering=false, none of the keys has a prefix";
  }
  const bool is_stock = options.kind == FilterKind::kStock;
  const uint64_t num_filters = std::max<uint64_t>(file.filter.num_filters, 1);
  const uint64_t num_keys = FilterKeys(file) / num_filters;
  const bool is_limited = options.max_build_bytes != 0 || (is_stock && num_filters > 1) ||
                          ChargeOfFilterBuilding(table) != nullptr;
  if (!is_limited || num_keys == 0 || !LoadedAbiProblem().empty()) return "";
  FilterReport built;
  {
    const SilentLog silent;
    const rocksdb::FilterBuildingContext context(table);
    const std::optional<double> range_fpr =
        ToGoal(options).differs_by_run() ? std::optional(rates.range_fpr) : options.range_fpr;
    const auto policy = MakePolicy({.target_fpr = rates.target_fpr,
                                    .kind = options.kind,
                                    .ranges = options.ranges,
                                    .prefixes = options.prefixes,
                                    .range_fpr = options.ranges ? range_fpr : std::nullopt,
                                    .max_build_bytes = options.max_build_bytes});
    const std::unique_ptr<rocksdb::FilterBitsBuilder> builder(
        policy->GetBuilderWithContext(context));
    std::unique_ptr<const char[]> memory;
    uint64_t num_added = 0;
    const auto add = [&](std::string_view key) {
      if (builder == nullptr || num_added++ >= num_keys) return;
      builder->AddKey({key.data(), key.size()});
      if (AnswersRanges(options)) builder->AddKey("");
    };
    if (AnswersRanges(options)) {
      keys_of_file(file, add);
    } else {
      for (uint64_t key = 0; key < num_keys; ++key) {
        add({reinterpret_cast<const char*>(&key), sizeof(key)});
      }
    }
    if (builder != nullptr) {
      DescribeFilters({builder->Finish(&memory).ToString()}, num_keys, &built);
    }
  }
  constexpr double kSameRate = 1 + kMinGain;
  const auto num_bytes = static_cast<double>(num_filters * built.point_bytes());
  const auto is_within = [&](double share, double fpr, uint64_t bytes) {
    return built.predicted_fpr <= kSameRate * fpr &&
           num_bytes <= share * static_cast<double>(bytes);
  };
  // Partitions differ in size: RocksDB gives some a column more or less, which halves or doubles
  // the rate, and small ones Bloom filters instead of ribbons.
  const bool differs_by_partition = is_stock && num_filters > 1;
  const double least_rate = differs_by_partition ? 0.5 : 1 - kMinGain;
  const double least_bytes = differs_by_partition ? 0.7 : 1 - kMinGain;
  const bool is_better = built.predicted_fpr < least_rate * file.fpr() ||
                         is_within(least_bytes, file.fpr(), file.filter.point_bytes());
  const bool is_as_planned = is_within(kSameRate, planned.fpr, planned.filter_bytes);
  const FilterReport& old = file.filter;
  const bool has_new_parts =
      planned.changes_parts && built.predicted_fpr < 1 &&
      (!AnswersRanges(options) || FindBlockIndexOptions(family) ||
       (built.ranges.num_filters == 0) != (old.ranges.num_filters == 0) ||
       (built.prefixes.num_filters == 0) != (old.prefixes.num_filters == 0) ||
       (num_filters == 1 && built.prefix_rules != old.prefix_rules));
  if (is_better || has_new_parts || (is_as_planned && !is_stock)) return "";
  return options.max_build_bytes != 0
             ? "max_build_bytes=" + std::to_string(options.max_build_bytes) + " is too little"
         : is_stock && num_filters > 1 ? "small partitions get larger filters than planned"
                                       : "the block cache has no room for building them";
}

}  // namespace blocksieve::rocksdb_plugin
