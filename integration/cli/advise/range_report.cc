// SPDX-License-Identifier: Apache-2.0
#include "integration/cli/advise/advice.h"

#include "integration/cli/term/terminal.h"
#include "integration/rocksdb/block_index/factory.h"
#include "integration/rocksdb/compat/user_index.h"
#include "integration/rocksdb/ranges/range_extractor.h"

namespace blocksieve::cli {
namespace {

// Range filters or prefixes, in words.
struct PartNames {
  RunPart RunSeeks::*of_run;
  PartAdvice SeekAdvice::*sum;
  const char* one;     // in names of members: one_bytes
  const char* column;  // header of the estimate
  const char* part;    // "with PART of 1,234 bytes"
  const char* seek;    // "A seek SEEK reads"
};
const PartNames kRanges{&RunSeeks::ranges, &SeekAdvice::ranges, "range",
                        "estimated",       "range filters",     "that finds nothing"};
const PartNames kPrefixes{&RunSeeks::prefixes, &SeekAdvice::prefixes,   "prefix", "predicted",
                          "prefixes",          "below an absent prefix"};

// A row for each level.
std::string LevelsText(const Advice& advice, const PartNames& names) {
  const Json rows = DescribeLevels(advice.forest, [&](const ForestLevel& level, Json* row) {
    const auto num_runs = static_cast<double>(level.runs.size());
    double current_fpr = 0;
    double estimated_fpr = 0;
    uint64_t num_bytes = 0;
    for (size_t run = 0; run < level.runs.size(); ++run) {
      const RunPart& part = advice.seeks->runs[level.first_run + run].*names.of_run;
      current_fpr += part.current_fpr / num_runs;
      estimated_fpr += part.estimated_fpr / num_runs;
      num_bytes += part.num_bytes;
    }
    row->update({{"current_fpr", current_fpr},
                 {"estimated_fpr", estimated_fpr},
                 {"num_bytes", num_bytes},
                 {"bits_per_key", 8 * Ratio(num_bytes, level.num_keys)}});
  });
  std::vector<TableColumn> columns = LevelColumns("seeks");
  columns.push_back({fmt::format("current {} FPR", names.one), "/current_fpr", RateText});
  columns.push_back({names.column, "/estimated_fpr", RateText});
  columns.push_back({"filter bytes", "/num_bytes", CountText});
  columns.push_back({"bits/key", "/bits_per_key", BitsPerKeyText});
  return TableText(std::move(columns), rows, advice.forest.trees.size() > 1) + "\n";
}

std::vector<std::string> OptionsFor(const SeekAdvice& advice) {
  return {PolicyOption(advice.Policy()),
          std::string("prefix_extractor=") + rocksdb_plugin::RangeExtractor::kName};
}

std::string SavingsText(const SeekAdvice& advice, const PartNames& names) {
  const PartAdvice& part = advice.*names.sum;
  std::string text = fmt::format("Data blocks read by a seek {}: {} with the current filters",
                                 names.seek, ReadsText(part.current_blocks));
  if (part.num_bytes != 0) {
    text += fmt::format(
        ",\n{} with {} of {} bytes. If a share of {:g} of the reads are such seeks, a read\n"
        "wastes {} data blocks now, {} with {} and key filters of target_fpr={}",
        ReadsText(part.blocks), names.part, term::WithCommas(part.num_bytes), advice.seek_fraction,
        ReadsText(part.current_wasted_reads), ReadsText(part.wasted_reads), names.part,
        advice.target_fpr);
  }
  return text + ".\n";
}

Json ToJson(const RunSeeks& seeks, const std::string& family, const TreeRun& run,
            const PartNames& names) {
  const std::string one = names.one;
  const RunPart& part = seeks.*names.of_run;
  Json document = {{"family", family},
                   {"level", run.level},
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
  Json document = {{"seek_fraction", seeks.seek_fraction},
                   {"range_width", seeks.range_width},
                   {"empty_seek_share", seeks.empty_share},
                   {"current_blocks_per_empty_seek", part.current_blocks},
                   {"blocks_per_empty_seek", part.blocks},
                   {"current_wasted_reads", part.current_wasted_reads},
                   {"wasted_reads", part.wasted_reads},
                   {std::string(names.one) + "_bytes", part.num_bytes}};
  Json& runs = document["runs"] = Json::array();
  for (const Tree& tree : advice.forest.trees) {
    for (const TreeRun& run : tree.runs()) {
      runs.push_back(ToJson(seeks.runs[runs.size()], tree.name(), run, names));
    }
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
      "With {} key{} per range on average, {} % of the seeks find nothing; only these gain.\n",
      term::NumberText(seeks.range_width, 6), seeks.range_width == 1 ? "" : "s",
      ReadsText(100 * seeks.empty_share));
  if (!seeks.ranges.do_not_pay.empty()) {
    text += "\nNo range filter pays here: " + seeks.ranges.do_not_pay + ".\n";
  }
  if (!seeks.prefixes.do_not_pay.empty()) {
    text += "\nNo prefixes pay here: " + seeks.prefixes.do_not_pay + ".\n";
  }
  const std::string parts = PartsText(seeks.Policy());
  if (parts.empty()) return text;
  text += fmt::format("\nOptions for {}:\n\n", parts);
  for (const std::string& option : OptionsFor(seeks)) text += "  " + option + "\n";
  if (BLOCKSIEVE_HAS_USER_INDEX == 0) return text;
  return text +
         fmt::format(
             "\nOr a block index of the same, for reads that choose it (BLOCK_INDEX.md), with "
             "the\nfilter_policy and prefix_extractor that you have:\n\n"
             "  user_defined_index_factory={{id={}{}{}}}\n",
             rocksdb_plugin::kBlockIndexName, seeks.has_ranges() ? ";ranges=true" : "",
             seeks.has_prefixes() ? ";prefixes=" + seeks.rule : "");
}

void AddSeeksTo(const Advice& advice, Json* document) {
  const SeekAdvice& seeks = *advice.seeks;
  (*document)["ranges"] = ToJson(advice, kRanges, seeks.has_ranges());
  Json& prefixes = (*document)["prefixes"] = {{"rule", seeks.rule}};
  prefixes.update(ToJson(advice, kPrefixes, seeks.has_prefixes()));
}

}  // namespace blocksieve::cli
