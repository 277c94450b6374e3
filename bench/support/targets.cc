#include "bench/support/targets.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "bench/support/text_table.h"

namespace blocksieve::bench {

// Called by nlohmann-json, which finds it in the namespace of its argument only.
static void to_json(nlohmann::ordered_json& json, const Target& target) {
  json = {
      {"what", target.what},
      {"limit", target.limit},
      {"is_upper", target.is_upper},
      {"figure", target.figure},
      {"limit_text", target.limit_text},
      {"figure_text", target.figure_text},
      {"met", target.is_met()},
  };
}

void Targets::AtMost(std::string what, double figure, double limit, std::string_view unit) {
  targets_.push_back({std::move(what), limit, true, figure, fmt::format("<= {:g}{}", limit, unit),
                      fmt::format("{:.4g}{}", figure, unit)});
}

void Targets::AtLeast(std::string what, double figure, double limit, std::string_view unit) {
  targets_.push_back({std::move(what), limit, false, figure, fmt::format(">= {:g}{}", limit, unit),
                      fmt::format("{:.4g}{}", figure, unit)});
}

void Targets::AtMostOneIn(std::string what, double figure, double limit) {
  targets_.push_back({std::move(what), 1 / limit, true, figure, fmt::format("<= 1/{:g}", limit),
                      fmt::format("1/{:.0f}", 1 / figure)});
}

size_t Targets::num_met() const {
  return static_cast<size_t>(std::count_if(targets_.begin(), targets_.end(),
                                           [](const Target& target) { return target.is_met(); }));
}

std::string Targets::ToText() const {
  TextTable table({"to be reached", "", "measured", ""});
  for (const Target& target : targets_) {
    table.AddRow(
        {target.what, target.limit_text, target.figure_text, target.is_met() ? "met" : "MISSED"});
  }
  return table.ToString() + fmt::format("\n{} of {} are met.\n", num_met(), targets_.size());
}

nlohmann::ordered_json Targets::ToJson() const { return targets_; }

}  // namespace blocksieve::bench
