// SPDX-License-Identifier: Apache-2.0
#include "integration/cli/advise/advice.h"

#include <algorithm>
#include <cmath>
#include <string_view>

namespace blocksieve::cli {
namespace {

// Differences this small are reported as "the same".
constexpr double kSameShare = 0.005;

bool Saves(double before, double after) { return before > 0 && 1 - after / before >= kMinGain; }

bool SavesReads(const Prediction& before, const Prediction& after) {
  return Saves(before.wasted_reads, after.wasted_reads);
}

bool SavesMemory(const Prediction& before, const Prediction& after) {
  return Saves(static_cast<double>(before.filter_bytes), static_cast<double>(after.filter_bytes));
}

// "14 times fewer wasted reads", "28 % more memory"; a share is relative to `before`.
std::string Change(double before, double after, const char* less, const char* what) {
  if (after <= 0) return fmt::format("no {}", what);
  if (before <= 0) return fmt::format("{} {}", term::NumberText(after), what);
  const double change = after / before - 1;
  if (std::abs(change) < kSameShare) return fmt::format("the same {}", what);
  const char* const word = change < 0 ? less : "more";
  const double times = std::max(before / after, after / before);
  if (times < 2) return fmt::format("{:.0f} % {} {}", 100 * std::abs(change), word, what);
  const std::string number =
      times < 10 ? fmt::format("{:.1f}", times)
                 : term::WithCommas(static_cast<uint64_t>(std::round(std::min(times, 1e15))));
  return fmt::format("{} times {} {}", number, word, what);
}

std::string Reads(const Prediction& before, const Prediction& after) {
  return Change(before.wasted_reads, after.wasted_reads, "fewer", "wasted reads");
}

std::string Memory(const Prediction& before, const Prediction& after) {
  if (before.filter_bytes == 0) return term::WithCommas(after.filter_bytes) + " bytes of filters";
  return Change(static_cast<double>(before.filter_bytes), static_cast<double>(after.filter_bytes),
                "less", "memory");
}

const Proposal* Find(const Advice& advice, std::string_view name) {
  for (const Proposal& proposal : advice.proposals) {
    if (proposal.name == name) return &proposal;
  }
  return nullptr;
}

Verdict ChangeTo(const Proposal& proposal, const std::string& gain) {
  const EnableOptions policy = proposal.policy();
  return {fmt::format("Change to blocksieve's filters with {}: {}.", GoalText(policy), gain),
          proposal.name, policy};
}

Verdict NoChange(const Advice& advice) {
  if (advice.current.filter_bytes == 0) {
    return {"No change recommended: no filters could be proposed."};
  }
  return {fmt::format("No change recommended: the current filters are within {:.0f} % of the best.",
                      100 * kMinGain)};
}

std::optional<Verdict> JudgeSavings(const Advice& advice) {
  const Prediction& current = advice.current;
  const Proposal* const same_memory = Find(advice, "same memory");
  if (same_memory != nullptr && SavesReads(current, same_memory->prediction)) {
    return ChangeTo(*same_memory, Reads(current, same_memory->prediction) + " for the same memory");
  }
  const Proposal* const same_reads = Find(advice, "same reads");
  if (same_reads == nullptr || !SavesMemory(current, same_reads->prediction)) return std::nullopt;
  return ChangeTo(*same_reads,
                  Memory(current, same_reads->prediction) + " for the same wasted reads");
}

// The verdict on key filters with range filters or prefixes, if these are worth it.
std::optional<Verdict> WithParts(const Advice& advice) {
  if (!advice.seeks) return std::nullopt;
  const SeekAdvice& seeks = *advice.seeks;
  const PartAdvice& part = seeks.ranges.is_worth() ? seeks.ranges : seeks.prefixes;
  if (!part.is_worth()) return std::nullopt;
  Prediction current{.wasted_reads = part.current_wasted_reads};
  for (const FileReport& file : advice.forest.files) current.filter_bytes += file.filter.num_bytes;
  const Prediction projected{.wasted_reads = part.wasted_reads,
                             .filter_bytes = seeks.FilterBytes()};
  if (Find(advice, "requested") == nullptr && !SavesReads(current, projected) &&
      !SavesMemory(current, projected)) {
    return NoChange(advice);
  }
  const EnableOptions policy = seeks.Policy();
  return Verdict{
      fmt::format("Change to blocksieve's filters with {} and {}: {}, if {:g} % of the "
                  "reads are seeks.",
                  GoalText(policy), DescribeParts(policy), DifferenceText(current, projected),
                  100 * *advice.request.seek_fraction),
      DescribeParts(policy), policy};
}

}  // namespace

std::string DifferenceText(const Prediction& before, const Prediction& after) {
  return Reads(before, after) + " and " + Memory(before, after);
}

Verdict JudgeAdvice(const Advice& advice) {
  if (advice.forest.trees.empty()) return {"No verdict: no keys could be counted."};
  if (const auto verdict = WithParts(advice); verdict && advice.why_refused.empty())
    return *verdict;
  const Proposal* const requested = Find(advice, "requested");
  const std::string gain =
      requested == nullptr ? "" : DifferenceText(advice.current, requested->prediction);
  if (!advice.no_filter_pays.empty()) {
    Verdict verdict{"No change recommended. No filter pays here: " + advice.no_filter_pays + "."};
    if (requested != nullptr) {
      verdict.proposal = requested->name;
      verdict.policy = requested->policy();
      verdict.text += fmt::format(" The requested {} gives {}.", GoalText(*verdict.policy), gain);
    } else if (!advice.why_refused.empty()) {
      verdict.text += " The request cannot be met: " + advice.why_refused + ".";
    }
    return verdict;
  }
  if (!advice.why_refused.empty()) {
    return {"No change recommended: " + advice.why_refused + "."};
  }
  if (requested != nullptr) return ChangeTo(*requested, gain + ", as requested");
  if (const Proposal* const usual = Find(advice, "usual")) {
    const Prediction& projected = usual->prediction;
    return ChangeTo(*usual,
                    Reads(advice.current, projected) + " for " + Memory(advice.current, projected));
  }
  return JudgeSavings(advice).value_or(NoChange(advice));
}

}  // namespace blocksieve::cli
