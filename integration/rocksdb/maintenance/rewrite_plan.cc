#include "integration/rocksdb/maintenance/rewrite_plan.h"

#include "integration/rocksdb/policy/policy.h"

namespace blocksieve::rocksdb_plugin {
namespace {

// Whether the file has other range filters or prefixes than it would get now. A file may lack a
// part because its keys give none: it must not qualify again, so its keys decide.
bool ChangesParts(const FileReport& file, const FilterPolicyOptions& requested,
                  const KeysOfFile& keys_of_file) {
  const FilterReport& filter = file.filter;
  if (filter.origin != FilterOrigin::kBlocksieve) return false;
  // Blocksieve's filters may be better, but do not work in RocksDB alone.
  if (requested.kind == PolicyKind::kStock) return true;
  const bool has_ranges = filter.ranges.num_filters != 0;
  const bool has_prefixes = filter.prefixes.num_filters != 0;
  if ((has_ranges && !requested.ranges) || (has_prefixes && requested.prefixes.empty()))
    return true;
  if (has_prefixes && requested.prefixes != "auto" &&
      filter.prefix_rules != std::vector{requested.prefixes}) {
    return true;
  }
  const bool lacks_ranges = requested.ranges && !has_ranges;
  const bool lacks_prefixes = !requested.prefixes.empty() && !has_prefixes;
  if (!filter.has_range_extractor) return lacks_ranges || lacks_prefixes;
  if (!lacks_ranges && !lacks_prefixes) return false;
  SeekSample sample(requested.prefixes, FilterOptions().target_fpr);
  sample.AddFile(file, keys_of_file, /*max_keys=*/UINT64_MAX);
  const RunSeeks built = sample.ScaleTo(file.num_entries);
  // `auto` chooses for each partition, and partitions may end elsewhere: most keys decide.
  return (lacks_ranges && built.ranges.num_bytes != 0) ||
         (lacks_prefixes && built.prefixes.fpr < 0.5);
}

}  // namespace

Result<FilterPlan> PlanRewrites(const std::vector<FileReport>& files, const Tree& tree,
                                const FilterPolicyOptions& policy,
                                const RewriteFiltersOptions& options,
                                const KeysOfFile& keys_of_file) {
  const auto report = [&](size_t file) -> const FileReport& {
    return files[tree.files()[file].id];
  };
  return blocksieve::PlanRewrites(
      tree, GoalOf(policy), [&](size_t file) { return IsChosen(options, report(file)); },
      [&](size_t file) { return ChangesParts(report(file), policy, keys_of_file); });
}

bool IsChosen(const RewriteFiltersOptions& options, const FileReport& file) {
  return (!options.level || file.place.level == static_cast<int>(*options.level)) &&
         (!options.only_unfiltered || file.filter.predicted_fpr >= 1);
}

std::string PartsText(const FilterPolicyOptions& requested) {
  if (requested.kind == PolicyKind::kStock) return "";
  std::string text = requested.prefixes.empty() ? "" : "prefixes=" + requested.prefixes;
  if (requested.ranges) text += text.empty() ? "ranges=true" : ";ranges=true";
  return text.empty() ? "none" : text;
}

}  // namespace blocksieve::rocksdb_plugin
