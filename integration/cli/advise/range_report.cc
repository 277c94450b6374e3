#include "integration/cli/advise/advice.h"

#include <fmt/format.h>

#include <vector>

#include "blocksieve/filter.h"
#include "integration/cli/database/file_text.h"
#include "integration/cli/term/text.h"
#include "integration/cli/term/text_table.h"
#include "integration/rocksdb/ranges/range_extractor.h"

namespace blocksieve::cli {
namespace {

// A row for each level.
std::string LevelsText(const Advice& advice) {
  term::TextTable table({"level", "runs", "keys", "seeks", "current range FPR", "estimated",
                         "filter bytes", "bits/key"});
  const std::vector<double> shares = advice.list.tree.LookupShares();
  size_t i = 0;
  for (const auto& level : ByLevel(advice.list.runs)) {
    const auto num_runs = static_cast<double>(level.size());
    double share = 0;
    double current_fpr = 0;
    double estimated_fpr = 0;
    uint64_t num_keys = 0;
    uint64_t num_bytes = 0;
    for (const SortedRun& run : level) {
      share += shares[i] / num_runs;
      current_fpr += advice.ranges->runs[i].current_fpr / num_runs;
      estimated_fpr += advice.ranges->runs[i].estimated_fpr / num_runs;
      num_keys += run.num_keys;
      num_bytes += advice.ranges->runs[i++].num_bytes;
    }
    table.AddRow({std::to_string(level.front().level), term::WithCommas(level.size()),
                  term::WithCommas(num_keys), fmt::format("{:.1f} %", 100 * share),
                  RateText(current_fpr), RateText(estimated_fpr), term::WithCommas(num_bytes),
                  BitsText(num_bytes, num_keys)});
  }
  return table.ToString();
}

// The key filters get one rate, as range filters do: goals that spread memory over the levels cover
// key and range filters together.
std::vector<std::string> OptionsFor(const Advice& advice) {
  double target_fpr = FilterOptions().target_fpr;
  for (const Proposal& proposal : advice.proposals) {
    const FilterSetting& setting = proposal.plan.setting;
    if (setting.option == "target_fpr") target_fpr = setting.value;
  }
  return {fmt::format(
              "filter_policy={{id=blocksieve;target_fpr={};kind=auto;ranges=true;range_fpr={}}}",
              target_fpr, advice.ranges->range_fpr),
          std::string("prefix_extractor=") + rocksdb_plugin::RangeExtractor::kName};
}

using Json = nlohmann::ordered_json;

Json ToJson(const RunRanges& ranges, const SortedRun& run) {
  return {{"level", run.level},
          {"num_keys", run.num_keys},
          {"sampled_files", ranges.sampled_files},
          {"sampled_keys", ranges.sampled_keys},
          {"current_range_fpr", ranges.current_fpr},
          {"estimated_fpr", ranges.estimated_fpr},
          {"range_fpr", ranges.fpr},
          {"range_bytes", ranges.num_bytes}};
}

}  // namespace

std::string RangesText(const Advice& advice) {
  const RangeAdvice& ranges = *advice.ranges;
  std::string text = "Seeks with an upper bound:\n\n" + LevelsText(advice) + "\n";
  text +=
      fmt::format("Data blocks read by a seek that finds nothing: {:.3g} with the current filters",
                  ranges.current_blocks);
  if (ranges.num_bytes != 0) {
    text += fmt::format(
        ",\n{:.3g} with range filters of {} bytes.\n"
        "With {:g} keys per range on average, {:.3g} % of the seeks find nothing; only these "
        "gain.\n"
        "If a share of {:g} of the reads are seeks, a read wastes {:.3g} data blocks now, {:.3g} "
        "with range filters",
        ranges.blocks, term::WithCommas(ranges.num_bytes), ranges.seeks.range_width,
        100 * ranges.empty_share, ranges.seeks.fraction, ranges.current_wasted_reads,
        ranges.wasted_reads);
  }
  text += ".\n";
  if (!ranges.do_not_pay.empty()) {
    text += "\nNo range filter pays here: " + ranges.do_not_pay + ".\n";
  }
  if (ranges.num_bytes == 0) return text;
  text += "\nOptions for range filters:\n\n";
  for (const std::string& option : OptionsFor(advice)) text += "  " + option + "\n";
  return text;
}

Json RangesToJson(const Advice& advice) {
  const RangeAdvice& ranges = *advice.ranges;
  Json document = {{"seek_fraction", ranges.seeks.fraction},
                   {"range_width", ranges.seeks.range_width},
                   {"empty_seek_share", ranges.empty_share},
                   {"current_blocks_per_empty_seek", ranges.current_blocks},
                   {"blocks_per_empty_seek", ranges.blocks},
                   {"current_wasted_reads", ranges.current_wasted_reads},
                   {"wasted_reads", ranges.wasted_reads},
                   {"range_bytes", ranges.num_bytes}};
  Json& runs = document["runs"] = Json::array();
  for (size_t i = 0; i < ranges.runs.size(); ++i) {
    runs.push_back(ToJson(ranges.runs[i], advice.list.runs[i]));
  }
  document["options"] = ranges.num_bytes == 0 ? std::vector<std::string>() : OptionsFor(advice);
  document["do_not_pay"] = ranges.do_not_pay;
  return document;
}

}  // namespace blocksieve::cli
