// SPDX-License-Identifier: Apache-2.0
#include "integration/cli/advise/advice.h"

#include <fmt/ranges.h>

#include <utility>

#include "blocksieve/sizing.h"

namespace blocksieve {

BLOCKSIEVE_TO_JSON(Prediction, wasted_reads_absent, wasted_reads, filter_bytes)

namespace cli {
namespace {

Json ToJson(const Proposal& proposal, const Forest& forest) {
  const Plans& plans = proposal.plans;
  const auto [option, value] = GoalOption(proposal.policy());
  Json document = {
      {"name", proposal.name}, {"option", PolicyOption(proposal.policy())}, {option, value}};
  document.update(Json(proposal.prediction));
  document["levels"] = ToArray(ListLevels(forest), [&](const ForestLevel& level) -> Json {
    return {{"family", forest.trees[level.tree].name()},
            {"level", level.number},
            {"kind", FilterKindName(level.In(plans).kind)},
            {"target_fpr", level.RatesIn(plans).target_fpr}};
  });
  size_t num_changes = 0;
  for (const FilterPlan& plan : plans) num_changes += plan.changes.size();
  document.update({{"rewritten_files", num_changes},
                   {"rewritten_bytes", AddUp(plans, &FilterPlan::rewritten_bytes)},
                   {"rewritten_keys", AddUp(plans, &FilterPlan::rewritten_keys)}});
  return document;
}

Json ProposalsJson(const Advice& advice) {
  return ToArray(advice.proposals,
                 [&](const Proposal& each) { return ToJson(each, advice.forest); });
}

Json ToJson(const Verdict& verdict) {
  const bool is_change = verdict.policy.has_value();
  return {{"text", verdict.text},
          {"proposal", is_change ? Json(verdict.proposal) : Json(nullptr)},
          {"option", is_change ? Json(PolicyOption(*verdict.policy)) : Json(nullptr)}};
}

Json FamilyJson(const Tree& tree) {
  const Json runs = ToArray(tree.runs(), [](const TreeRun& run) -> Json {
    return {{"level", run.level},
            {"num_files", run.num_files},
            {"num_keys", run.num_keys},
            {"lookup_share", run.lookup_share},
            {"predicted_fpr", run.fpr}};
  });
  return {{"family", tree.name()}, {"num_keys", tree.num_keys()}, {"runs", runs}};
}

// Reads and memory, a row for each proposal. The column "per lookup" is left out if all keys are
// absent: it would repeat "wasted reads".
std::string SavingsText(const Advice& advice) {
  Json rows = Json::array();
  const auto add = [&](const std::string& name, const Prediction& prediction,
                       const std::string& option) {
    rows.push_back(prediction);
    rows.back().update({{"name", name}, {"option", option}});
  };
  add("no filters", advice.without, "");
  add("current", advice.current, "");
  for (const Proposal& proposal : advice.proposals) {
    add(proposal.name, proposal.prediction, GoalText(proposal.policy()));
  }
  const uint64_t num_keys = advice.forest.num_keys();
  std::vector<TableColumn> columns = {
      {"", "/name", PlainText},
      {"wasted reads", "/wasted_reads_absent", ReadsText},
      {"per lookup", "/wasted_reads", ReadsText},
      {"filter bytes", "/filter_bytes", CountText},
      {"bits/key", "/filter_bytes",
       [num_keys](const Json& bytes) { return BitsPerKeyText(8 * Ratio(bytes, num_keys)); }},
      {"option", "/option", PlainText}};
  if (advice.request.absent_fraction >= 1) columns.erase(columns.begin() + 2);
  return TableText(columns, rows);
}

std::string RewritingText(const Json& proposals) {
  return TableText({{"to rewrite", "/name", PlainText},
                    {"files", "/rewritten_files", CountText},
                    {"bytes", "/rewritten_bytes", CountText},
                    {"keys", "/rewritten_keys", CountText}},
                   proposals);
}

std::string TargetText(const Json& target_fpr) {
  return target_fpr >= 1 ? "none" : ReadsText(target_fpr);
}

// A row for each level: its current rate, and its rate in each proposal.
std::string RatesText(const Advice& advice) {
  std::vector<TableColumn> columns = {{"current", "/current", TargetText}};
  for (const Proposal& proposal : advice.proposals) {
    columns.push_back({proposal.name, "/" + proposal.name, TargetText});
  }
  return LevelTable(advice.forest, "lookups", columns, [&](const ForestLevel& level, Json* row) {
    double fpr = 0;
    for (const TreeRun& run : level.runs) fpr += run.fpr / static_cast<double>(level.runs.size());
    (*row)["current"] = fpr;
    for (const Proposal& proposal : advice.proposals) {
      (*row)[proposal.name] = level.RatesIn(proposal.plans).target_fpr;
    }
  });
}

// Share of all reads; 0 without any.
std::optional<double> SeekFraction(const ObservedReads& reads) {
  if (!reads.lookups || !reads.seeks) return std::nullopt;
  return Ratio(*reads.seeks, *reads.lookups + *reads.seeks);
}

// Per lookup, also of keys that were found.
std::optional<double> CountWastedReads(const ObservedReads& reads) {
  if (!ProbesPerLookup(reads)) return std::nullopt;
  return Ratio(*reads.false_positives, *reads.lookups);
}

}  // namespace

std::string LevelTable(const Forest& forest, const char* lookups,
                       const std::vector<TableColumn>& columns,
                       const std::function<void(const ForestLevel&, Json*)>& add) {
  std::vector<TableColumn> all = {{"level", "/level", PlainText},
                                  {"runs", "/num_runs", CountText},
                                  {"keys", "/num_keys", CountText},
                                  {lookups, "/lookup_share", ShareText}};
  all.insert(all.end(), columns.begin(), columns.end());
  const Json rows = ToArray(ListLevels(forest), [&](const ForestLevel& level) {
    Json row = {{"family", forest.trees[level.tree].name()},
                {"level", level.number},
                {"num_runs", level.runs.size()},
                {"num_keys", level.num_keys},
                {"lookup_share", level.lookup_share}};
    add(level, &row);
    return row;
  });
  return TableText(std::move(all), rows, forest.trees.size() > 1);
}

std::string ToText(const Advice& advice, const std::string& to_set_stock) {
  if (advice.forest.trees.empty()) return "";
  std::string text = SavingsText(advice) + "\n";
  std::string options;
  for (const Proposal& proposal : advice.proposals) {
    options += fmt::format("  {:<12}  {}\n", proposal.name, PolicyOption(proposal.policy()));
  }
  if (!options.empty()) {
    text += RewritingText(ProposalsJson(advice)) + "\n";
    options = "\nOptions:\n\n" + options;
  }
  text += "False-positive rates:\n\n" + RatesText(advice) + options;
  if (const auto& stock = advice.stock) {
    text += fmt::format(
        "\nRocksDB's own filters by level, for programs that cannot all load the plug-in: {} "
        "wasted reads,\n{} bytes of filters.\nTo set them: {}\n",
        ReadsText(stock->prediction.wasted_reads_absent), CountText(stock->prediction.filter_bytes),
        to_set_stock);
  }
  if (advice.seeks) return text + "\n" + SeeksText(advice);
  const auto drops_parts = [](const FileReport& file) { return file.filter.answers_ranges(); };
  return text + (std::ranges::none_of(advice.forest.files, drops_parts)
                     ? ""
                     : "\nThese options drop the range filters and prefixes of the files; to keep "
                       "some: --seek-fraction.\n");
}

Json ToJson(const Advice& advice) {
  Json document = {{"num_keys", advice.forest.num_keys()},
                   {"families", ToArray(advice.forest.trees, FamilyJson)},
                   {"no_filters", advice.without},
                   {"current", advice.current}};
  document["proposals"] = ProposalsJson(advice);
  document["stock"] = nullptr;
  if (const auto& stock = advice.stock) {
    document["stock"] = {{"option", PolicyOption(stock->policy())}};
    document["stock"].update(Json(stock->prediction));
  }
  document["no_filter_pays"] = advice.no_filter_pays;
  document["verdict"] = ToJson(JudgeAdvice(advice));
  if (advice.seeks) AddSeeksTo(advice, &document);
  if (advice.windows) document["windows"] = ToJson(*advice.windows);
  return document;
}

std::optional<double> AbsentFraction(const ObservedReads& reads) {
  if (!reads.lookups || !reads.found) return std::nullopt;
  return Ratio(*reads.lookups - std::min(*reads.lookups, *reads.found), *reads.lookups);
}

std::optional<double> ProbesPerLookup(const ObservedReads& reads) {
  const uint64_t lookups = reads.lookups.value_or(0);
  if (lookups == 0 || !reads.ruled_out || !reads.false_positives) return std::nullopt;
  const uint64_t probes =
      *reads.ruled_out + *reads.false_positives + reads.true_positives.value_or(0);
  return probes == 0 ? std::nullopt : std::optional(Ratio(probes, lookups));
}

std::string ToText(const ObservedReads& reads, std::optional<double> predicted) {
  std::string known;
  if (reads.lookups) known += term::CountOf(*reads.lookups, "lookup") + " of files";
  if (const auto absent = AbsentFraction(reads)) {
    known += fmt::format(", {:.1f} % of absent keys", 100 * *absent);
  }
  if (reads.seeks) known += (known.empty() ? "" : "; ") + term::CountOf(*reads.seeks, "seek");
  if (const auto seeks = SeekFraction(reads)) {
    known += fmt::format(", {:.1f} % of these reads", 100 * *seeks);
  }
  std::string text = known.empty() ? "" : "Observed: " + known + ".\n";
  if (!reads.missing.empty()) {
    text += fmt::format("Missing counters, without which some figures are unknown: {}.\n",
                        fmt::join(reads.missing, ", "));
  }
  if (const auto wasted = CountWastedReads(reads)) {
    text +=
        fmt::format("Wasted reads per lookup: {:.3g} by RocksDB's counters of filters", *wasted);
    if (predicted) text += fmt::format(", {:.3g} by the model of the tree", *predicted);
    text += ".\n";
  }
  if (reads.seeks.value_or(0) == 0) return text;
  if (!reads.seek_blocks) {
    return text + "RocksDB before 8.3 does not count the data blocks that seeks read.\n";
  }
  const rocksdb_plugin::ObservedSeeks& seeks = *reads.seek_blocks;
  return text +
         fmt::format(
             "Data blocks per seek: {:.3g} read, {:.3g} of them without a row for the seek, and "
             "{:.3g} ruled\nout by filters. Range filters and prefixes can rule out those without "
             "a row if seeks have\nupper bounds; advise --db DIR --seek-fraction {:.2g} prices "
             "them.\n",
             Ratio(seeks.useful + seeks.useless, *reads.seeks), Ratio(seeks.useless, *reads.seeks),
             Ratio(seeks.ruled_out, *reads.seeks), SeekFraction(reads).value_or(1));
}

Json ToJson(const ObservedReads& reads) {
  Json document = {{"lookups", OrNull(reads.lookups)},
                   {"absent_fraction", OrNull(AbsentFraction(reads))},
                   {"wasted_reads", OrNull(CountWastedReads(reads))},
                   {"seeks", OrNull(reads.seeks)},
                   {"seek_fraction", OrNull(SeekFraction(reads))},
                   {"missing_counters", reads.missing},
                   {"seek_blocks", nullptr}};
  if (const auto& seeks = reads.seek_blocks) {
    document["seek_blocks"] = {
        {"useful", seeks->useful}, {"useless", seeks->useless}, {"ruled_out", seeks->ruled_out}};
  }
  return document;
}

}  // namespace cli
}  // namespace blocksieve
