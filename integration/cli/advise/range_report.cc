// SPDX-License-Identifier: Apache-2.0
#include "integration/cli/advise/advice.h"

#include <span>

#include "integration/rocksdb/block_index/factory.h"
#include "integration/rocksdb/compat/user_index.h"
#include "integration/rocksdb/ranges/range_extractor.h"

namespace blocksieve::cli {
namespace {

// Range filters or prefixes, in words.
struct PartNames {
  const char* one;     // in names of members: one_bytes
  const char* column;  // header of the estimate
  const char* part;    // "with PART of 1,234 bytes"
  const char* seek;    // "A seek SEEK reads"
};
const PartNames kRanges{"range", "estimated", "range filters", "that finds nothing"};
const PartNames kPrefixes{"prefix", "predicted", "prefixes", "below an absent prefix"};

// A row for each level, and what the part saves.
std::string ToText(const Advice& advice, const PartAdvice& part, const PartNames& names) {
  std::string text =
      LevelTable(advice.forest, "seeks",
                 {{fmt::format("current {} FPR", names.one), "/current_fpr", RateText},
                  {names.column, "/estimated_fpr", RateText},
                  {"filter bytes", "/num_bytes", CountText},
                  {"bits/key", "/bits_per_key", BitsPerKeyText}},
                 [&](const ForestLevel& level, Json* row) {
                   const auto num_runs = static_cast<double>(level.runs.size());
                   double current_fpr = 0;
                   double estimated_fpr = 0;
                   uint64_t num_bytes = 0;
                   for (const RunPart& run :
                        std::span(part.runs).subspan(level.first_run, level.runs.size())) {
                     current_fpr += run.current_fpr / num_runs;
                     estimated_fpr += run.estimated_fpr / num_runs;
                     num_bytes += run.num_bytes;
                   }
                   row->update({{"current_fpr", current_fpr},
                                {"estimated_fpr", estimated_fpr},
                                {"num_bytes", num_bytes},
                                {"bits_per_key", 8 * Ratio(num_bytes, level.num_keys)}});
                 });
  text += fmt::format("\nData blocks read by a seek {}: {} with the current filters", names.seek,
                      ReadsText(part.current_blocks));
  if (part.num_bytes != 0) {
    text += fmt::format(
        ",\n{} with {} of {} bytes. If a share of {:g} of the reads are such seeks, a read\n"
        "wastes {} data blocks now, {} with {} and key filters of target_fpr={}",
        ReadsText(part.blocks), names.part, term::WithCommas(part.num_bytes),
        *advice.request.seek_fraction, ReadsText(part.current_wasted_reads),
        ReadsText(part.wasted_reads), names.part, advice.seeks->target_fpr);
  }
  return text + ".\n\n";
}

std::vector<std::string> OptionsFor(const SeekAdvice& advice) {
  return {PolicyOption(advice.Policy()),
          std::string("prefix_extractor=") + rocksdb_plugin::RangeExtractor::kName};
}

Json ToJson(const Advice& advice, const PartAdvice& part, const std::string& one,
            bool is_proposed) {
  const AdviceRequest& request = advice.request;
  Json runs = Json::array();
  for (const Tree& tree : advice.forest.trees) {
    for (const TreeRun& run : tree.runs()) {
      const RunPart& sample = part.runs[runs.size()];
      runs.push_back({{"family", tree.name()},
                      {"level", run.level},
                      {"num_keys", run.num_keys},
                      {"sampled_files", sample.sampled_files},
                      {"sampled_keys", sample.sampled_keys},
                      {"current_" + one + "_fpr", sample.current_fpr},
                      {"estimated_fpr", sample.estimated_fpr},
                      {one + "_fpr", sample.fpr},
                      {one + "_bytes", sample.num_bytes}});
      if (one == kPrefixes.one) runs.back()["num_prefixes"] = sample.num_prefixes;
    }
  }
  return {{"seek_fraction", *request.seek_fraction},
          {"range_width", request.range_width},
          {"empty_seek_share", request.empty_share()},
          {"current_blocks_per_empty_seek", part.current_blocks},
          {"blocks_per_empty_seek", part.blocks},
          {"current_wasted_reads", part.current_wasted_reads},
          {"wasted_reads", part.wasted_reads},
          {one + "_bytes", part.num_bytes},
          {"runs", runs},
          {"options", is_proposed ? OptionsFor(*advice.seeks) : std::vector<std::string>()},
          {"do_not_pay", part.do_not_pay}};
}

}  // namespace

std::string SeeksText(const Advice& advice) {
  const SeekAdvice& seeks = *advice.seeks;
  std::string text = "Seeks with an upper bound:\n\n" + ToText(advice, seeks.ranges, kRanges);
  if (!seeks.rule.empty()) {
    text += fmt::format("Prefixes, with boundaries {}:\n\n", seeks.rule) +
            ToText(advice, seeks.prefixes, kPrefixes);
  }
  text += fmt::format(
      "With {} key{} per range on average, {} % of the seeks find nothing; only these gain.\n",
      term::NumberText(advice.request.range_width, 6), advice.request.range_width == 1 ? "" : "s",
      ReadsText(100 * advice.request.empty_share()));
  if (!seeks.ranges.do_not_pay.empty()) {
    text += "\nNo range filter pays here: " + seeks.ranges.do_not_pay + ".\n";
  }
  if (!seeks.prefixes.do_not_pay.empty()) {
    text += "\nNo prefixes pay here: " + seeks.prefixes.do_not_pay + ".\n";
  }
  const std::string parts = DescribeParts(seeks.Policy());
  if (parts.empty()) return text;
  text += fmt::format("\nOptions for {}:\n\n", parts);
  for (const std::string& option : OptionsFor(seeks)) text += "  " + option + "\n";
  if (BLOCKSIEVE_HAS_USER_INDEX == 0) return text;
  return text + fmt::format(
                    "\nOr a block index of the same, for reads that choose it (RANGES.md), with "
                    "the\nfilter_policy and prefix_extractor that you have:\n\n"
                    "  user_defined_index_factory={{id={}{}{}}}\n",
                    rocksdb_plugin::kBlockIndexName, seeks.has_ranges() ? ";ranges=true" : "",
                    seeks.has_prefixes() ? ";prefixes=" + seeks.rule : "");
}

void AddSeeksTo(const Advice& advice, Json* document) {
  const SeekAdvice& seeks = *advice.seeks;
  (*document)["ranges"] = ToJson(advice, seeks.ranges, kRanges.one, seeks.has_ranges());
  Json& prefixes = (*document)["prefixes"] = {{"rule", seeks.rule}};
  prefixes.update(ToJson(advice, seeks.prefixes, kPrefixes.one, seeks.has_prefixes()));
}

}  // namespace blocksieve::cli
