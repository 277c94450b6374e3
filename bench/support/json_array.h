#pragma once

#include <nlohmann/json.hpp>

namespace blocksieve::bench {

/// The results of one kind, each as `to_json` gives it.
template <class Range, class ToJson>
nlohmann::ordered_json JsonArray(const Range& all, ToJson to_json) {
  nlohmann::ordered_json array = nlohmann::ordered_json::array();
  for (const auto& each : all) array.push_back(to_json(each));
  return array;
}

}  // namespace blocksieve::bench
