#include "integration/cli/advise/advice.h"

#include <fmt/format.h>

#include "blocksieve/sizing.h"
#include "integration/cli/database/file_text.h"
#include "integration/cli/database/filter_options.h"
#include "integration/cli/term/text.h"
#include "integration/cli/term/text_table.h"

namespace blocksieve::cli {
namespace {

std::string ReadsText(double reads) { return fmt::format("{:.3g}", reads); }

// Reads and memory, a row for each proposal. The column "per lookup" is left out if all keys are
// absent: it would repeat "wasted reads".
std::string SavingsText(const Advice& advice, bool with_present_keys) {
  const auto cells = [&](std::vector<std::string> all) {
    if (!with_present_keys) all.erase(all.begin() + 2);
    return all;
  };
  term::TextTable table(
      cells({"", "wasted reads", "per lookup", "filter bytes", "bits/key", "option"}));
  const auto add = [&](const std::string& name, const Prediction& prediction,
                       const std::string& option) {
    table.AddRow(
        cells({name, ReadsText(prediction.wasted_reads_absent), ReadsText(prediction.wasted_reads),
               term::WithCommas(prediction.filter_bytes),
               BitsText(prediction.filter_bytes, advice.list.num_keys()), option}));
  };
  add("no filters", advice.without, "");
  add("current", advice.current, "");
  for (const Proposal& proposal : advice.proposals) {
    add(proposal.name, proposal.prediction, proposal.plan.setting.ToText());
  }
  return table.ToString();
}

// CPU time, memory and rewriting, a row for each proposal.
std::string CostsText(const Advice& advice) {
  term::TextTable table({"cost", "CPU s per\nmillion keys", "ns per\nprobe", "bytes\nresident",
                         "files to\nrewrite", "bytes to\nrewrite", "keys to\nhash"});
  for (const Proposal& proposal : advice.proposals) {
    const FilterPlan& plan = proposal.plan;
    table.AddRow({proposal.name, fmt::format("{:.3f}", proposal.cost.build_ns_per_key / 1e3),
                  fmt::format("{:.1f}", proposal.cost.probe_ns),
                  term::WithCommas(plan.filter_bytes), term::WithCommas(plan.changes.size()),
                  term::WithCommas(plan.rewritten_bytes), term::WithCommas(plan.rewritten_keys)});
  }
  return table.ToString();
}

std::string GainStepsText(const GainSteps& gain_steps) {
  return fmt::format(
      "Wasted reads per lookup in the current memory: {:.3g} now, {:.3g} with blocksieve's filters "
      "at one\nrate, {:.3g} with rates by level.\n",
      gain_steps.current, gain_steps.one_rate, gain_steps.by_level);
}

std::string TargetText(double target_fpr) {
  return target_fpr > kMaxTargetFpr ? "none" : fmt::format("{:.3g}", target_fpr);
}

// A row for each level: its current rate, and its rate in each proposal.
std::string LevelsText(const Advice& advice) {
  std::vector<std::string> headers = {"level", "runs", "keys", "lookups", "current"};
  for (const Proposal& proposal : advice.proposals) headers.push_back(proposal.name);
  term::TextTable table(headers);
  const std::vector<double> shares = advice.list.tree.LookupShares();
  size_t first_run = 0;
  size_t i = 0;
  for (const auto& level : ByLevel(advice.list.runs)) {
    uint64_t num_keys = 0;
    double fpr = 0;
    double share = 0;
    for (const SortedRun& run : level) {
      num_keys += run.num_keys;
      fpr += run.fpr / static_cast<double>(level.size());
      share += shares[first_run++] / static_cast<double>(level.size());
    }
    std::vector<std::string> cells = {std::to_string(level.front().level),
                                      term::WithCommas(level.size()), term::WithCommas(num_keys),
                                      fmt::format("{:.1f} %", 100 * share), TargetText(fpr)};
    for (const Proposal& proposal : advice.proposals) {
      cells.push_back(TargetText(proposal.plan.levels[i].target_fpr));
    }
    table.AddRow(std::move(cells));
    ++i;
  }
  return table.ToString();
}

std::string OptionsText(const Advice& advice) {
  std::string text;
  for (const Proposal& proposal : advice.proposals) {
    text += fmt::format("  {:<12}  {}\n", proposal.name, PolicyOption(proposal.plan.setting));
  }
  return text;
}

using Json = nlohmann::ordered_json;

Json ToJson(const Prediction& prediction) {
  return {{"wasted_reads_absent", prediction.wasted_reads_absent},
          {"wasted_reads", prediction.wasted_reads},
          {"filter_bytes", prediction.filter_bytes}};
}

Json ToJson(const SortedRun& run, double share) {
  return {{"level", run.level},
          {"num_files", run.files.size()},
          {"num_keys", run.num_keys},
          {"lookup_share", share},
          {"predicted_fpr", run.fpr}};
}

Json ToJson(const Proposal& proposal) {
  const FilterPlan& plan = proposal.plan;
  Json document = {{"name", proposal.name}, {"option", PolicyOption(plan.setting)}};
  document[plan.setting.option] = plan.setting.value;
  document.update(ToJson(proposal.prediction));
  Json& levels = document["levels"] = Json::array();
  for (const LevelFilters& level : plan.levels) {
    levels.push_back({{"level", level.level},
                      {"kind", FilterKindName(level.kind)},
                      {"target_fpr", level.target_fpr}});
  }
  document["build_cpu_seconds_per_million_keys"] = proposal.cost.build_ns_per_key / 1e3;
  document["probe_ns"] = proposal.cost.probe_ns;
  document["rewritten_files"] = plan.changes.size();
  document["rewritten_bytes"] = plan.rewritten_bytes;
  document["rewritten_keys"] = plan.rewritten_keys;
  return document;
}

Json ToJson(const Verdict& verdict) {
  const bool is_change = verdict.setting.has_value();
  return {{"text", verdict.text},
          {"proposal", is_change ? Json(verdict.proposal) : Json(nullptr)},
          {"option", is_change ? Json(PolicyOption(*verdict.setting)) : Json(nullptr)}};
}

}  // namespace

std::string ToText(const Advice& advice, double absent_fraction) {
  std::string text;
  if (advice.list.num_keys() == 0) return text;
  text += SavingsText(advice, absent_fraction < 1) + "\n";
  if (advice.gain_steps) text += GainStepsText(*advice.gain_steps) + "\n";
  if (!advice.proposals.empty()) text += CostsText(advice) + "\n";
  text += "False-positive rates:\n\n" + LevelsText(advice);
  if (!advice.proposals.empty()) text += "\nOptions:\n\n" + OptionsText(advice);
  for (const std::string& problem : advice.not_proposed)
    text += "\nNot proposed: " + problem + "\n";
  if (advice.seeks) {
    text += "\n" + SeeksText(advice);
  } else if (advice.list.answers_ranges()) {
    text +=
        "\nThese options drop the range filters and prefixes of the files; to keep some: "
        "--seek-fraction.\n";
  }
  return text;
}

Json ToJson(const Advice& advice) {
  Json document = {{"family", advice.list.family}, {"num_keys", advice.list.num_keys()}};
  Json& runs = document["runs"] = Json::array();
  const std::vector<double> shares = advice.list.tree.LookupShares();
  for (size_t i = 0; i < shares.size(); ++i) {
    runs.push_back(ToJson(advice.list.runs[i], shares[i]));
  }
  document["no_filters"] = ToJson(advice.without);
  document["current"] = ToJson(advice.current);
  Json& proposals = document["proposals"] = Json::array();
  for (const Proposal& proposal : advice.proposals) proposals.push_back(ToJson(proposal));
  document["gain_steps"] = nullptr;
  if (const auto& gain_steps = advice.gain_steps) {
    document["gain_steps"] = {{"current", gain_steps->current},
                              {"one_rate", gain_steps->one_rate},
                              {"rates_by_level", gain_steps->by_level}};
  }
  document["not_proposed"] = advice.not_proposed;
  document["no_filter_pays"] = advice.no_filter_pays;
  document["verdict"] = ToJson(VerdictOf(advice));
  if (advice.seeks) AddSeeksTo(advice, &document);
  return document;
}

}  // namespace blocksieve::cli
