#include "integration/cli/advise/advice_json.h"

namespace blocksieve::cli {
namespace {

using Json = nlohmann::ordered_json;

Json ToJson(const Outlook& outlook) {
  return {{"wasted_reads_absent", outlook.wasted_reads_absent},
          {"wasted_reads", outlook.wasted_reads},
          {"filter_bytes", outlook.filter_bytes}};
}

Json ToJson(const SortedRun& run, double share) {
  return {{"level", run.level},
          {"num_files", run.files.size()},
          {"num_keys", run.num_keys},
          {"share_of_lookups", share},
          {"predicted_fpr", run.fpr}};
}

Json ToJson(const Proposal& proposal, const Engine& engine) {
  const FilterPlan& plan = proposal.plan;
  Json document = {{"name", proposal.name}, {"option", engine.OptionFor(plan)}};
  document[plan.option] = plan.value;
  document.update(ToJson(proposal.outlook));
  Json& levels = document["levels"] = Json::array();
  for (const LevelFilters& level : plan.levels) {
    levels.push_back({{"level", level.level},
                      {"kind", FilterKindName(level.kind)},
                      {"target_fpr", level.target_fpr}});
  }
  document["rewritten_files"] = plan.rewritten_files;
  document["rewritten_bytes"] = plan.rewritten_bytes;
  document["rewritten_keys"] = plan.rewritten_keys;
  return document;
}

}  // namespace

Json ToJson(const Advice& advice, const Engine& engine) {
  Json document = {{"family", advice.list.family}, {"num_keys", advice.list.num_keys()}};
  Json& runs = document["runs"] = Json::array();
  const std::vector<double> shares = SharesOf(advice.coverage, advice.list.runs.size());
  for (size_t i = 0; i < shares.size(); ++i) {
    runs.push_back(ToJson(advice.list.runs[i], shares[i]));
  }
  document["without"] = ToJson(advice.without);
  document["today"] = ToJson(advice.today);
  Json& proposals = document["proposals"] = Json::array();
  for (const Proposal& proposal : advice.proposals) proposals.push_back(ToJson(proposal, engine));
  document["impossible"] = advice.impossible;
  document["no_filter_pays"] = advice.no_filter_pays;
  return document;
}

}  // namespace blocksieve::cli
