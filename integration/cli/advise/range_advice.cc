// SPDX-License-Identifier: Apache-2.0
#include "integration/cli/advise/advice.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <span>

#include "blocksieve/filter.h"
#include "integration/cli/database/json_table.h"
#include "integration/cli/database/table/table_file.h"
#include "integration/cli/term/terminal.h"
#include "lib/prefix/prefix_chooser.h"

namespace blocksieve::cli {
namespace {

// Prefixes that end at a delimiter are proposed for up to half as many of them as keys. They then
// take as much memory as half of the key filter, less than range filters.
constexpr double kMaxPrefixesPerKey = 0.5;

std::span<const TreeFile> SelectFiles(const Tree& tree, const TreeRun& run) {
  return std::span(tree.files()).subspan(run.first_file, run.num_files);
}

double CurrentFpr(const Forest& forest, std::span<const TreeFile> files,
                  PartReport FilterReport::*part) {
  double sum = 0;
  double keys = 0;
  for (const TreeFile& file : files) {
    const FileReport& report = forest.files[file.id];
    sum += static_cast<double>(report.num_entries) * (report.filter.*part).fpr;
    keys += static_cast<double>(report.num_entries);
  }
  return keys == 0 ? 1 : sum / keys;
}

// Reports spread evenly over the files of a run.
std::vector<const FileReport*> FilesToSample(const Forest& forest,
                                             std::span<const TreeFile> files) {
  constexpr size_t kMaxFiles = 3;
  const size_t number = std::min(files.size(), kMaxFiles);
  std::vector<const FileReport*> sampled;
  for (size_t i = 0; i < number; ++i) {
    sampled.push_back(&forest.files[files[(2 * i + 1) * files.size() / (2 * number)].id]);
  }
  return sampled;
}

// The requested boundaries, those of the largest run's files, or boundaries chosen from its keys.
std::string RuleFor(const Forest& forest, const Tree& tree, const std::string& requested,
                    const KeysOfFile& keys_of_file) {
  if (!requested.empty()) return requested;
  const TreeRun& largest = *std::ranges::max_element(tree.runs(), {}, &TreeRun::num_keys);
  const std::vector<const FileReport*> files = FilesToSample(forest, SelectFiles(tree, largest));
  const FileReport& file = *files[files.size() / 2];
  for (const std::string& present : file.filter.prefix_rules) {
    if (CanonicalPrefixRule(present).ok()) return present;
  }
  PrefixChooser chooser({}, kMaxPrefixesPerKey);
  VisitSampledKeys(file, keys_of_file, [&](std::string_view key) { chooser.AddKey(key); });
  const PrefixBuilder* const chosen = chooser.Choose();
  return chosen == nullptr ? "" : internal::PrefixRuleText(AsBytes(chosen->rule()));
}

// `current`, `planned`: wasted reads per lookup.
PartAdvice SumParts(const Forest& forest, const SeekAdvice& advice, RunPart RunSeeks::*part,
                    double current, double planned) {
  PartAdvice sum;
  std::vector<double> current_fprs;
  std::vector<double> fprs;
  for (const RunSeeks& run : advice.runs) {
    sum.num_bytes += (run.*part).num_bytes;
    current_fprs.push_back((run.*part).current_fpr);
    fprs.push_back((run.*part).fpr);
  }
  sum.current_blocks = WastedReads(forest.trees, current_fprs, 1);
  sum.blocks = WastedReads(forest.trees, fprs, 1);
  const double lookups = 1 - advice.seek_fraction;
  const double empty_seeks = advice.seek_fraction * advice.empty_share;
  sum.current_wasted_reads = lookups * current + empty_seeks * sum.current_blocks;
  sum.wasted_reads = lookups * planned + empty_seeks * sum.blocks;
  return sum;
}

// `none`: why no part could be built. `current`: the filters that may have the part.
void ExplainWhatDoesNotPay(const SeekAdvice& advice, RunPart RunSeeks::*of_run,
                           const std::string& none, const char* current,
                           const std::string& nothing_pays, PartAdvice* part) {
  const double saved =
      advice.seek_fraction * advice.empty_share * (part->current_blocks - part->blocks);
  if (part->num_bytes == 0) {
    part->do_not_pay = none;
  } else if (!nothing_pays.empty()) {
    part->do_not_pay = nothing_pays;
  } else if (saved < kMinSavedReads) {
    part->is_in_files =
        std::any_of(advice.runs.begin(), advice.runs.end(),
                    [&](const RunSeeks& run) { return (run.*of_run).current_fpr < 1; });
    part->do_not_pay = part->is_in_files
                           ? fmt::format("the current {} save as much", current)
                           : fmt::format("they would save {} data block reads per read",
                                         term::NumberText(std::max(saved, 0.0), 2));
  }
}

void ExplainWhatDoesNotPay(const std::string& problem, const std::string& nothing_pays,
                           SeekAdvice* advice) {
  const auto has_sample = [](const RunSeeks& run) { return run.sampled_keys != 0; };
  const bool has_keys = std::any_of(advice->runs.begin(), advice->runs.end(), has_sample);
  const std::string no_keys = problem.empty() ? "no keys could be read" : problem;
  ExplainWhatDoesNotPay(*advice, &RunSeeks::ranges,
                        has_keys ? "neighboring keys are too similar" : no_keys, "range filters",
                        nothing_pays, &advice->ranges);
  const std::string no_prefixes =
      advice->rule.empty()
          ? "no delimiter in nearly all keys ends few distinct prefixes; see --prefixes"
          : "no key has a boundary of " + advice->rule;
  ExplainWhatDoesNotPay(*advice, &RunSeeks::prefixes, has_keys ? no_prefixes : no_keys, "filters",
                        nothing_pays, &advice->prefixes);
}

}  // namespace

// The key filters get one rate, as range filters do: goals that spread memory over the levels cover
// key and range filters together.
FilterPolicyOptions SeekAdvice::Policy() const {
  FilterPolicyOptions policy{.target_fpr = target_fpr, .ranges = has_ranges()};
  if (has_ranges()) policy.range_fpr = FilterOptions().range_fpr;
  if (has_prefixes()) policy.prefixes = rule;
  return policy;
}

uint64_t SeekAdvice::FilterBytes() const {
  return key_filter_bytes + (has_ranges() ? ranges.num_bytes : 0) +
         (has_prefixes() ? prefixes.num_bytes : 0);
}

KeysOfFile KeysInFiles(const std::string& doing) {
  return [doing, progress = std::make_shared<term::Progress>()](
             const FileReport& report, const std::function<void(std::string_view)>& visit) {
    progress->Show(doing + ": " + FileNameText(report.place.path));
    try {
      const std::unique_ptr<TableFile> file = TableFile::Open(report.place);
      if (file == nullptr) return;  // removed by another process
      file->ForEachKey([&visit](std::string_view key, bool) { visit(key); });
    } catch (const term::Failure&) {  // the keys before an error are a sample, too
    }
  };
}

SeekAdvice AdviseSeeks(const Forest& forest, const AdviceRequest& request, const Plans& planned,
                       const KeysOfFile& keys_of_file) {
  const Prediction filters = Predict(forest.trees, planned, request.absent_fraction);
  SeekAdvice advice;
  advice.seek_fraction = request.seek_fraction.value();
  advice.range_width = request.range_width;
  advice.target_fpr = planned.front().goal.target_fpr.value();
  advice.key_filter_bytes = filters.filter_bytes;
  advice.empty_share = std::exp(-request.range_width);
  std::string problem;
  for (const Tree& tree : forest.trees) {
    const std::string rule = RuleFor(forest, tree, request.prefixes, keys_of_file);
    // One option for all column families: where their boundaries differ, the policy chooses them.
    const bool is_same = advice.rule.empty() || rule.empty() || advice.rule == rule;
    advice.rule = is_same ? (rule.empty() ? advice.rule : rule) : "auto";
    for (const TreeRun& run : tree.runs()) {
      const std::span<const TreeFile> files = SelectFiles(tree, run);
      SeekSample sample(rule, advice.target_fpr);
      for (const FileReport* const file : FilesToSample(forest, files)) {
        sample.AddFile(*file, keys_of_file);
      }
      if (!sample.problem().empty()) problem = sample.problem();
      RunSeeks& seeks = advice.runs.emplace_back(sample.ScaleTo(run.num_keys));
      seeks.ranges.current_fpr = CurrentFpr(forest, files, &FilterReport::ranges);
      // Range filters answer for ranges below a prefix as for any other.
      seeks.prefixes.current_fpr =
          std::min(CurrentFpr(forest, files, &FilterReport::prefixes), seeks.ranges.current_fpr);
    }
  }
  const double current = Predict(forest.trees, request.absent_fraction).wasted_reads;
  advice.ranges = SumParts(forest, advice, &RunSeeks::ranges, current, filters.wasted_reads);
  advice.prefixes = SumParts(forest, advice, &RunSeeks::prefixes, current, filters.wasted_reads);
  ExplainWhatDoesNotPay(problem, request.cache_is_enough, &advice);
  return advice;
}

}  // namespace blocksieve::cli
