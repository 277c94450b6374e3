#include "integration/cli/advise/advice.h"

#include <fmt/format.h>

#include <string_view>

#include "integration/cli/term/text.h"

namespace blocksieve::cli {
namespace {

// Differences this small are reported as "the same".
constexpr double kSameShare = 0.005;

double SavedShare(double before, double after) { return before <= 0 ? 0 : 1 - after / before; }

// "14 times fewer wasted reads", "31 % less memory"; `word` is the comparative.
std::string Less(double before, double after, const char* word, const char* what) {
  constexpr double kManyTimes = 10;
  if (after <= 0) return fmt::format("no {}", what);
  if (SavedShare(before, after) < kSameShare) return fmt::format("the same {}", what);
  const double times = before / after;
  if (times >= kManyTimes) return fmt::format("{:.0f} times {} {}", times, word, what);
  if (times >= 2) return fmt::format("{:.1f} times {} {}", times, word, what);
  return fmt::format("{:.0f} % {} {}", 100 * SavedShare(before, after), word, what);
}

std::string Reads(const Prediction& before, const Prediction& after) {
  const char* const what = "wasted reads";
  if (after.wasted_reads <= before.wasted_reads) {
    return Less(before.wasted_reads, after.wasted_reads, "fewer", what);
  }
  return Less(after.wasted_reads, before.wasted_reads, "more", what);
}

std::string Memory(const Prediction& before, const Prediction& after) {
  const auto bytes = [](const Prediction& prediction) {
    return static_cast<double>(prediction.filter_bytes);
  };
  if (bytes(after) <= bytes(before)) return Less(bytes(before), bytes(after), "less", "memory");
  if (before.filter_bytes == 0) {
    return term::WithCommas(after.filter_bytes) + " bytes of filters";
  }
  return fmt::format("{:.3g} times the memory", bytes(after) / bytes(before));
}

std::optional<size_t> Find(const Advice& advice, std::string_view name) {
  for (size_t i = 0; i < advice.proposals.size(); ++i) {
    if (advice.proposals[i].name == name) return i;
  }
  return std::nullopt;
}

Verdict ChangeTo(const Advice& advice, size_t number, const std::string& gain) {
  const std::string setting = advice.proposals[number].plan.setting.ToText();
  return {fmt::format("Change to blocksieve's filters with {}: {}.", setting, gain), number};
}

std::optional<Verdict> Better(const Advice& advice) {
  const Prediction& current = advice.current;
  if (const auto same_memory = Find(advice, "same memory")) {
    const Prediction& projected = advice.proposals[*same_memory].prediction;
    if (SavedShare(current.wasted_reads, projected.wasted_reads) >= kMinGain) {
      return ChangeTo(advice, *same_memory, Reads(current, projected) + " for the same memory");
    }
  }
  if (const auto same_reads = Find(advice, "same reads")) {
    const Prediction& projected = advice.proposals[*same_reads].prediction;
    if (SavedShare(static_cast<double>(current.filter_bytes),
                   static_cast<double>(projected.filter_bytes)) >= kMinGain) {
      return ChangeTo(advice, *same_reads,
                      Memory(current, projected) + " for the same wasted reads");
    }
  }
  return std::nullopt;
}

}  // namespace

std::string DifferenceText(const Prediction& before, const Prediction& after) {
  return Reads(before, after) + " and " + Memory(before, after);
}

Verdict VerdictOf(const Advice& advice) {
  const auto requested = Find(advice, "requested");
  std::string gain;  // of the requested proposal
  if (requested) {
    const Prediction& projected = advice.proposals[*requested].prediction;
    gain = DifferenceText(advice.current, projected);
  }
  if (!advice.no_filter_pays.empty()) {
    Verdict verdict{"No change recommended. No filter pays here: " + advice.no_filter_pays + ".",
                    requested};
    if (requested) {
      verdict.text += fmt::format(" The requested {} gives {}.",
                                  advice.proposals[*requested].plan.setting.ToText(), gain);
    }
    return verdict;
  }
  if (requested) return ChangeTo(advice, *requested, gain + ", as requested");
  if (const auto usual = Find(advice, "usual")) {
    const Prediction& projected = advice.proposals[*usual].prediction;
    return ChangeTo(advice, *usual,
                    Reads(advice.current, projected) + " for " + Memory(advice.current, projected));
  }
  if (const auto better = Better(advice)) return *better;
  if (advice.current.filter_bytes == 0) {
    return {"No change recommended: no filters could be proposed.", std::nullopt};
  }
  return {fmt::format("No change recommended: the current filters are within {:.0f} % of the best.",
                      100 * kMinGain),
          std::nullopt};
}

}  // namespace blocksieve::cli
