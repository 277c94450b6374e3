#include "integration/rocksdb/maintenance/seek_sample.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "integration/rocksdb/maintenance/trees.h"
#include "integration/rocksdb/policy/policy.h"

namespace blocksieve::rocksdb_plugin {

void VisitSampledKeys(const FileReport& file, const KeysOfFile& keys_of_file,
                      const std::function<void(std::string_view)>& visit, uint64_t max_keys) {
  uint64_t num_keys = 0;
  keys_of_file(file, [&](std::string_view key) {
    if (num_keys++ < max_keys) visit(key);
  });
}

SeekSample::SeekSample(std::string prefixes, double target_fpr)
    : target_fpr_(target_fpr), policy_{.prefixes = std::move(prefixes)} {}

void SeekSample::AddFile(const FileReport& file, const KeysOfFile& keys_of_file,
                         uint64_t max_keys) {
  // As many filters as the file has: one per partition or granule, if it has several.
  const uint64_t num_filters = std::max<uint64_t>(file.filter.num_filters, 1);
  const uint64_t keys_each = FilterKeys(file) / num_filters + 1;
  Result<RangeFilterBuilder> ranges =
      RangeFilterBuilder::Create({.is_whole_file = num_filters == 1, .max_estimated_fpr = 1});
  const Result<Layout> points = ChooseLayout(AutoKind(file.place.is_short_lived), target_fpr_);
  if (!ranges.ok() || !points.ok()) return;
  std::optional<PrefixBuilder> prefixes;
  if (!policy_.prefixes.empty()) {
    prefixes.emplace(PrefixOptionsOf(policy_, target_fpr_, file.place.is_short_lived));
  }
  uint64_t num_keys = 0;
  const auto end_filter = [&] {
    AddRanges(&*ranges);
    if (prefixes) AddPrefixes(*points, num_keys, &*prefixes);
    num_keys = 0;
  };
  const auto add_key = [&](std::string_view key) {
    ranges->AddKey(key);
    if (prefixes) prefixes->AddKey(key);
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
  run.ranges.estimated_fpr = estimated_fpr_ / num_keys_;
  run.ranges.fpr = fpr_ / num_keys_;
  run.ranges.num_bytes = scaled(num_bytes_);
  run.prefixes.estimated_fpr = run.prefixes.fpr = 1 - ruled_out_ / num_keys_;
  run.prefixes.num_bytes = scaled(prefix_bytes_);
  run.num_prefixes = scaled(num_prefixes_);
  run.sampled_files = num_files_;
  run.sampled_keys = static_cast<uint64_t>(num_keys_);
  return run;
}

void SeekSample::AddRanges(RangeFilterBuilder* ranges) {
  const std::string section = ranges->Finish();
  if (!ranges->absent_reason().empty()) problem_ = ranges->absent_reason();
  const Result<RangeFilterInfo> info = DescribeRanges(AsBytes(section));
  if (!info.ok()) return;
  const bool is_written = info->estimated_fpr <= RangePartOptions().max_estimated_fpr;
  const auto keys = static_cast<double>(info->num_keys);
  num_keys_ += keys;
  estimated_fpr_ += keys * info->estimated_fpr;
  fpr_ += keys * (is_written ? info->estimated_fpr : 1);
  if (is_written) num_bytes_ += static_cast<double>(info->bytes);
}

void SeekSample::AddPrefixes(const Layout& points, uint64_t num_keys, PrefixBuilder* prefixes) {
  prefixes->FinishHashes(num_keys);
  num_prefixes_ += static_cast<double>(prefixes->num_prefixes());
  const double fpr = std::pow(points.predicted_fpr, prefixes->num_lookups());
  const uint64_t num_hashes = prefixes->num_hashes();
  const std::string part = prefixes->Finish();
  if (part.empty()) return;
  ruled_out_ += static_cast<double>(num_keys) * (1 - fpr);
  prefix_bytes_ += static_cast<double>(part.size() + BlockBytes(points, num_keys + num_hashes) -
                                       BlockBytes(points, num_keys));
}

}  // namespace blocksieve::rocksdb_plugin
