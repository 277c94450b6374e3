#include "integration/cli/advise/advice.h"

#include <fmt/format.h>

#include <vector>

#include "blocksieve/filter.h"
#include "integration/cli/database/file_text.h"
#include "integration/cli/database/filter_options.h"
#include "integration/cli/term/text.h"
#include "integration/cli/term/text_table.h"
#include "integration/rocksdb/ranges/range_extractor.h"

namespace blocksieve::cli {
namespace {

// Range filters or prefixes, in words.
struct PartNames {
  const char* one;     // in names of members: one_bytes
  const char* column;  // header of the estimate
  const char* part;    // "with PART of 1,234 bytes"
  const char* seek;    // "A seek SEEK reads"
  RunPart RunSeeks::*of_run;
  PartAdvice SeekAdvice::*sum;
};
constexpr PartNames kRanges = {"range",           "estimated",
                               "range filters",   "that finds nothing",
                               &RunSeeks::ranges, &SeekAdvice::ranges};
constexpr PartNames kPrefixes = {"prefix",
                                 "predicted",
                                 "prefixes",
                                 "below an absent prefix",
                                 &RunSeeks::prefixes,
                                 &SeekAdvice::prefixes};

// A row for each level.
std::string LevelsText(const Advice& advice, const PartNames& names) {
  term::TextTable table({"level", "runs", "keys", "seeks", fmt::format("current {} FPR", names.one),
                         names.column, "filter bytes", "bits/key"});
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
      const RunPart& part = advice.seeks->runs[i].*names.of_run;
      share += shares[i++] / num_runs;
      current_fpr += part.current_fpr / num_runs;
      estimated_fpr += part.estimated_fpr / num_runs;
      num_keys += run.num_keys;
      num_bytes += part.num_bytes;
    }
    table.AddRow({std::to_string(level.front().level), term::WithCommas(level.size()),
                  term::WithCommas(num_keys), fmt::format("{:.1f} %", 100 * share),
                  RateText(current_fpr), RateText(estimated_fpr), term::WithCommas(num_bytes),
                  BitsText(num_bytes, num_keys)});
  }
  return table.ToString() + "\n";
}

std::vector<std::string> OptionsFor(const SeekAdvice& advice) {
  return {PolicyOption(advice.Setting()),
          std::string("prefix_extractor=") + rocksdb_plugin::RangeExtractor::kName};
}

std::string SavingsText(const SeekAdvice& advice, const PartNames& names) {
  const PartAdvice& part = advice.*names.sum;
  std::string text = fmt::format("Data blocks read by a seek {}: {:.3g} with the current filters",
                                 names.seek, part.current_blocks);
  if (part.num_bytes != 0) {
    text += fmt::format(
        ",\n{:.3g} with {} of {} bytes. If a share of {:g} of the reads are such seeks, a read\n"
        "wastes {:.3g} data blocks now, {:.3g} with {} and key filters of target_fpr={}",
        part.blocks, names.part, term::WithCommas(part.num_bytes), advice.seeks.fraction,
        part.current_wasted_reads, part.wasted_reads, names.part, advice.target_fpr);
  }
  return text + ".\n";
}

std::string OptionsText(const SeekAdvice& advice) {
  const std::string parts = advice.Setting().PartsText();
  if (parts.empty()) return "";
  std::string text = fmt::format("\nOptions for {}:\n\n", parts);
  for (const std::string& option : OptionsFor(advice)) text += "  " + option + "\n";
  return text;
}

using Json = nlohmann::ordered_json;

Json ToJson(const RunSeeks& seeks, const SortedRun& run, const PartNames& names) {
  const std::string one = names.one;
  const RunPart& part = seeks.*names.of_run;
  Json document = {{"level", run.level},
                   {"num_keys", run.num_keys},
                   {"sampled_files", seeks.sampled_files},
                   {"sampled_keys", seeks.sampled_keys},
                   {"current_" + one + "_fpr", part.current_fpr},
                   {"estimated_fpr", part.estimated_fpr},
                   {one + "_fpr", part.fpr},
                   {one + "_bytes", part.num_bytes}};
  if (one == kPrefixes.one) document["num_prefixes"] = seeks.num_prefixes;
  return document;
}

Json ToJson(const Advice& advice, const PartNames& names, bool is_proposed) {
  const SeekAdvice& seeks = *advice.seeks;
  const PartAdvice& part = seeks.*names.sum;
  Json document = {{"seek_fraction", seeks.seeks.fraction},
                   {"range_width", seeks.seeks.range_width},
                   {"empty_seek_share", seeks.empty_share},
                   {"current_blocks_per_empty_seek", part.current_blocks},
                   {"blocks_per_empty_seek", part.blocks},
                   {"current_wasted_reads", part.current_wasted_reads},
                   {"wasted_reads", part.wasted_reads},
                   {std::string(names.one) + "_bytes", part.num_bytes}};
  Json& runs = document["runs"] = Json::array();
  for (size_t i = 0; i < seeks.runs.size(); ++i) {
    runs.push_back(ToJson(seeks.runs[i], advice.list.runs[i], names));
  }
  document["options"] = is_proposed ? OptionsFor(seeks) : std::vector<std::string>();
  document["do_not_pay"] = part.do_not_pay;
  return document;
}

}  // namespace

std::string SeeksText(const Advice& advice) {
  const SeekAdvice& seeks = *advice.seeks;
  std::string text = "Seeks with an upper bound:\n\n" + LevelsText(advice, kRanges) +
                     SavingsText(seeks, kRanges) + "\n";
  if (!seeks.rule.empty()) {
    text += fmt::format("Prefixes, with boundaries {}:\n\n", seeks.rule) +
            LevelsText(advice, kPrefixes) + SavingsText(seeks, kPrefixes) + "\n";
  }
  text += fmt::format(
      "With {:g} keys per range on average, {:.3g} % of the seeks find nothing; only these gain.\n",
      seeks.seeks.range_width, 100 * seeks.empty_share);
  if (!seeks.ranges.do_not_pay.empty()) {
    text += "\nNo range filter pays here: " + seeks.ranges.do_not_pay + ".\n";
  }
  if (!seeks.prefixes.do_not_pay.empty()) {
    text += "\nNo prefixes pay here: " + seeks.prefixes.do_not_pay + ".\n";
  }
  return text + OptionsText(seeks);
}

void AddSeeksTo(const Advice& advice, Json* document) {
  const SeekAdvice& seeks = *advice.seeks;
  (*document)["ranges"] = ToJson(advice, kRanges, seeks.has_ranges());
  Json& prefixes = (*document)["prefixes"] = {{"rule", seeks.rule}};
  prefixes.update(ToJson(advice, kPrefixes, seeks.has_prefixes()));
}

}  // namespace blocksieve::cli
