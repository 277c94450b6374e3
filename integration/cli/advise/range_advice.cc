#include "integration/cli/advise/range_advice.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "blocksieve/filter.h"
#include "integration/cli/advise/advice.h"
#include "integration/cli/term/failure.h"
#include "lib/range/range_filter.h"

namespace blocksieve::cli {
namespace {

/// Range filters built from some files of a run.
class Sample {
 public:
  void AddFile(const FileReport& file, const KeysOfFile& keys_of_file) {
    // As many filters as the file has: one per partition or granule, if it has several.
    const uint64_t num_filters = std::max<uint64_t>(file.filter.num_filters, 1);
    const uint64_t keys_each = FilterKeys(file) / num_filters + 1;
    Result<RangeFilterBuilder> builder =
        RangeFilterBuilder::Create({.is_whole_file = num_filters == 1, .max_estimated_fpr = 1});
    if (!builder.ok()) return;
    uint64_t num_keys = 0;
    try {
      keys_of_file(file, [&](std::string_view key) {
        if (num_keys == kSampledKeys) return;
        builder->AddKey(key);
        if (++num_keys % keys_each == 0) AddFilter(&*builder);
      });
    } catch (const term::Failure&) {  // the keys read so far are a sample, too
    }
    if (num_keys % keys_each != 0) AddFilter(&*builder);
    ++num_files_;
  }

  /// Extrapolates to the filters of all keys of the run.
  RunRanges ScaleTo(uint64_t keys_of_run) const {
    RunRanges run;
    if (num_keys_ == 0) return run;
    run.estimated_fpr = estimated_fpr_ / num_keys_;
    run.fpr = fpr_ / num_keys_;
    run.num_bytes =
        static_cast<uint64_t>(num_bytes_ / num_keys_ * static_cast<double>(keys_of_run));
    run.sampled_files = num_files_;
    run.sampled_keys = static_cast<uint64_t>(num_keys_);
    return run;
  }

  /// Why some filters could not be built; empty if all were.
  const std::string& problem() const { return problem_; }

 private:
  void AddFilter(RangeFilterBuilder* builder) {
    Result<FilterBuilder> points = FilterBuilder::Create({});
    if (!points.ok()) return;
    Result<OwnedBytes> block = points->Finish();
    if (!block.ok() || !builder->Finish(&*block).ok()) return;
    if (!builder->absent_reason().empty()) problem_ = builder->absent_reason();
    const Result<RangeFilterInfo> info = DescribeRangeFilter(block->view());
    if (!info.ok()) return;
    const bool is_written = info->estimated_fpr <= RangePartOptions().max_estimated_fpr;
    const auto keys = static_cast<double>(info->num_keys);
    num_keys_ += keys;
    estimated_fpr_ += keys * info->estimated_fpr;
    fpr_ += keys * (is_written ? info->estimated_fpr : 1);
    if (is_written) num_bytes_ += static_cast<double>(info->bytes);
  }

  size_t num_files_ = 0;
  double num_keys_ = 0;
  double estimated_fpr_ = 0;  // times keys
  double fpr_ = 0;            // times keys
  double num_bytes_ = 0;
  std::string problem_;
};

double CurrentFpr(const SortedRun& run) {
  double sum = 0;
  double keys = 0;
  for (const FileReport* const file : run.files) {
    sum += static_cast<double>(file->num_entries) * file->filter.range_fpr;
    keys += static_cast<double>(file->num_entries);
  }
  return keys == 0 ? 1 : sum / keys;
}

// Files spread evenly over the run.
std::vector<const FileReport*> FilesToSample(const SortedRun& run) {
  const size_t number = std::min(run.files.size(), kSampledFiles);
  std::vector<const FileReport*> files;
  for (size_t i = 0; i < number; ++i) {
    files.push_back(run.files[(2 * i + 1) * run.files.size() / (2 * number)]);
  }
  return files;
}

std::string WhyNot(const RangeAdvice& advice, const std::string& problem,
                   const std::string& nothing_pays) {
  const auto has_sample = [](const RunRanges& run) { return run.sampled_keys != 0; };
  if (std::none_of(advice.runs.begin(), advice.runs.end(), has_sample)) {
    return problem.empty() ? "no keys could be read" : problem;
  }
  if (advice.num_bytes == 0) return "neighboring keys are too similar";
  if (!nothing_pays.empty()) return nothing_pays;
  const double saved = advice.current_wasted_reads - advice.wasted_reads;
  if (saved >= kMinSavedReads) return "";
  const auto has_ranges = [](const RunRanges& run) { return run.current_fpr < 1; };
  if (std::any_of(advice.runs.begin(), advice.runs.end(), has_ranges)) {
    return "the current range filters save as much";
  }
  return fmt::format("they would save {:.2g} data block reads per read", std::max(saved, 0.0));
}

}  // namespace

RangeAdvice AdviseRanges(const RunList& list, const SeekWorkload& seeks, double wasted_per_lookup,
                         const std::string& nothing_pays, const KeysOfFile& keys_of_file) {
  RangeAdvice advice;
  advice.seeks = seeks;
  advice.range_fpr = RangePartOptions().range_fpr;
  advice.empty_share = std::exp(-seeks.range_width);
  std::string problem;
  std::vector<double> current_fprs;
  std::vector<double> fprs;
  for (const SortedRun& run : list.runs) {
    Sample sample;
    for (const FileReport* const file : FilesToSample(run)) sample.AddFile(*file, keys_of_file);
    if (!sample.problem().empty()) problem = sample.problem();
    RunRanges& ranges = advice.runs.emplace_back(sample.ScaleTo(run.num_keys));
    ranges.current_fpr = CurrentFpr(run);
    advice.num_bytes += ranges.num_bytes;
    current_fprs.push_back(ranges.current_fpr);
    fprs.push_back(ranges.fpr);
  }
  advice.current_blocks = list.tree.WastedReads(current_fprs, 1);
  advice.blocks = list.tree.WastedReads(fprs, 1);
  const double lookups = (1 - seeks.fraction) * wasted_per_lookup;
  const double empty_seeks = seeks.fraction * advice.empty_share;
  advice.current_wasted_reads = lookups + empty_seeks * advice.current_blocks;
  advice.wasted_reads = lookups + empty_seeks * advice.blocks;
  advice.do_not_pay = WhyNot(advice, problem, nothing_pays);
  return advice;
}

}  // namespace blocksieve::cli
