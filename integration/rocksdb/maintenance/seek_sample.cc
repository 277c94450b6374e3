// SPDX-License-Identifier: Apache-2.0
#include "integration/rocksdb/maintenance/seek_sample.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "integration/rocksdb/policy/policy.h"

namespace blocksieve::rocksdb_plugin {

void VisitSampledKeys(const FileReport& file, const KeysOfFile& keys_of_file,
                      const std::function<void(std::string_view)>& visit, uint64_t max_keys) {
  uint64_t num_keys = 0;
  keys_of_file(file, [&](std::string_view key) {
    if (num_keys++ < max_keys) visit(key);
  });
}

SeekSample::SeekSample(std::string prefixes, double target_fpr, uint64_t max_build_bytes)
    : target_fpr_(target_fpr),
      policy_{.prefixes = std::move(prefixes), .max_build_bytes = max_build_bytes} {}

void SeekSample::AddFile(const FileReport& file, const KeysOfFile& keys_of_file,
                         uint64_t max_keys) {
  // As many filters as the file has: one per partition or granule, if it has several.
  const uint64_t num_filters = std::max<uint64_t>(file.filter.num_filters, 1);
  const uint64_t keys_each = FilterKeys(file) / num_filters + 1;
  const FilterRates rates{target_fpr_, FilterOptions().range_fpr};
  FilterOptions options = FilterOptionsFor(policy_, rates, file.place.is_short_lived);
  const Result<Layout> points = ChooseLayout(options.kind, target_fpr_);
  if (!points.ok()) return;
  // Sections alone, of which the range filter may be useless. A limit counts all parts.
  if (options.max_build_bytes == 0) options.kind = FilterKind::kNone;
  options.is_partition = num_filters > 1;
  options.ranges = true;
  options.max_estimated_range_fpr = 1;
  Result<FilterBuilder> builder = FilterBuilder::Create(options);
  if (!builder.ok()) return;
  uint64_t num_keys = 0;
  const auto end_filter = [&] {
    AddFilter(*points, &*builder);
    num_keys = 0;
  };
  const auto add_key = [&](std::string_view key) {
    builder->AddKey(key);
    if (++num_keys == keys_each) end_filter();
  };
  VisitSampledKeys(file, keys_of_file, add_key, max_keys);
  if (num_keys != 0) end_filter();
  ++num_files_;
}

RunSeeks SeekSample::ScaleTo(uint64_t keys_of_run) const {
  RunSeeks run;
  if (num_keys_ == 0) return run;
  const auto scaled = [&](double sum) {
    return static_cast<uint64_t>(sum / num_keys_ * static_cast<double>(keys_of_run));
  };
  run.ranges.sampled_files = num_files_;
  run.ranges.sampled_keys = static_cast<uint64_t>(num_keys_);
  run.prefixes = run.ranges;
  run.ranges.estimated_fpr = estimated_fpr_ / num_keys_;
  run.ranges.fpr = fpr_ / num_keys_;
  run.ranges.num_bytes = scaled(num_bytes_);
  run.prefixes.estimated_fpr = run.prefixes.fpr = 1 - ruled_out_ / num_keys_;
  run.prefixes.num_bytes = scaled(prefix_bytes_);
  run.prefixes.num_prefixes = scaled(num_prefixes_);
  return run;
}

void SeekSample::AddFilter(const Layout& points, FilterBuilder* builder) {
  const Result<FinishedFilter> built = builder->Finish();
  if (!built.ok()) return;
  if (!built->no_ranges_reason.empty()) problem_ = built->no_ranges_reason;
  const Result<FilterDescription> filter = DescribeFilter(built->block.view());
  if (!filter.ok() || filter->range_bytes == 0) return;
  const auto keys = static_cast<double>(filter->num_range_keys);
  const bool is_written = filter->estimated_range_fpr <= FilterOptions().max_estimated_range_fpr;
  num_keys_ += keys;
  estimated_fpr_ += keys * filter->estimated_range_fpr;
  fpr_ += keys * (is_written ? filter->estimated_range_fpr : 1);
  if (is_written) num_bytes_ += static_cast<double>(filter->range_bytes);
  if (filter->num_prefixes == 0) return;
  num_prefixes_ += static_cast<double>(filter->num_prefixes);
  ruled_out_ += static_cast<double>(filter->num_keys) *
                (1 - std::pow(points.predicted_fpr, filter->prefix_lookups));
  prefix_bytes_ += static_cast<double>(
      filter->prefix_bytes + BlockBytes(points, filter->num_keys + filter->num_prefix_hashes) -
      BlockBytes(points, filter->num_keys));
}

}  // namespace blocksieve::rocksdb_plugin
