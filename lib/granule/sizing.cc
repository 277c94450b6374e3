#include "lib/granule/sizing.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace blocksieve::internal {
namespace {

// Header bits of a class.
constexpr double kClassBits = 32;

// A class must save this share of all filter bits, because it costs k more rows per probe.
constexpr double kClassShare = 0.005;

// Counts within this ratio are merged, which limits the search to a few hundred choices of bounds.
constexpr double kChoiceRatio = 1.03;

/// Filters with nearly the same number of values.
struct Choice {
  uint64_t max_values = 0;
  uint64_t num_filters = 0;
};

std::vector<Choice> ChoicesOf(std::span<const uint64_t> counts) {
  std::vector<uint64_t> sorted(counts.size());
  std::ranges::copy(counts, sorted.begin());
  std::ranges::sort(sorted);
  std::vector<Choice> choices;
  uint64_t limit = 0;
  for (const uint64_t count : sorted) {
    if (choices.empty() || count > limit) {
      choices.push_back({});
      limit = static_cast<uint64_t>(static_cast<double>(count) * kChoiceRatio);
    }
    choices.back().max_values = count;
    ++choices.back().num_filters;
  }
  return choices;
}

/// Costs of classes in bits: [start * (n + 1) + end] is the cost of a class of choices start ..
/// end-1. Its map bits are its entropy, which the Huffman tree approximates.
std::vector<double> ClassCosts(const std::vector<Choice>& choices, const FilterSizer& sizer,
                               double charge) {
  const size_t n = choices.size();
  double all_filters = 0;
  for (const Choice& choice : choices) all_filters += static_cast<double>(choice.num_filters);
  std::vector<double> costs(n * (n + 1));
  for (size_t end = 1; end <= n; ++end) {
    const auto filter_bits = static_cast<double>(sizer.BitsFor(choices[end - 1].max_values));
    double filters = 0;
    for (size_t start = end; start-- > 0;) {
      filters += static_cast<double>(choices[start].num_filters);
      const double map_bits = std::log2(all_filters / filters);
      costs[start * (n + 1) + end] = filters * (filter_bits + map_bits) + charge;
    }
  }
  return costs;
}

/// The cheapest divisions into a given number of classes, by dynamic programming: cost[e] is the
/// cost of choices 0 .. e-1, whose last class begins with choice start[e].
struct Division {
  std::vector<double> cost;
  std::vector<size_t> start;
};

Division WithOneMoreClass(const Division& fewer, const std::vector<double>& class_costs) {
  const size_t n = fewer.cost.size() - 1;
  Division division{std::vector<double>(n + 1, std::numeric_limits<double>::infinity()),
                    std::vector<size_t>(n + 1, 0)};
  for (size_t start = 0; start < n; ++start) {
    const double* costs = class_costs.data() + start * (n + 1);
    for (size_t end = start + 1; end <= n; ++end) {
      const double cost = fewer.cost[start] + costs[end];
      if (cost < division.cost[end]) {
        division.cost[end] = cost;
        division.start[end] = start;
      }
    }
  }
  return division;
}

/// The classes of the last division.
std::vector<SizeClass> ClassesOf(const std::vector<Division>& divisions,
                                 const std::vector<Choice>& choices, const FilterSizer& sizer) {
  std::vector<SizeClass> classes(divisions.size() - 1);
  size_t end = choices.size();
  for (size_t i = classes.size(); i > 0; --i) {
    const size_t start = divisions[i].start[end];
    SizeClass& size_class = classes[i - 1];
    size_class.max_values = choices[end - 1].max_values;
    size_class.num_bits = sizer.BitsFor(size_class.max_values);
    for (size_t c = start; c < end; ++c) size_class.num_granules += choices[c].num_filters;
    end = start;
  }
  return classes;
}

}  // namespace

std::vector<SizeClass> ChooseSizeClasses(std::span<const uint64_t> counts,
                                         const FilterSizer& sizer) {
  const std::vector<Choice> choices = ChoicesOf(counts);
  if (choices.empty()) return {SizeClass{}};
  double min_bits = 0;
  for (const Choice& choice : choices) {
    min_bits += static_cast<double>(sizer.BitsFor(choice.max_values)) *
                static_cast<double>(choice.num_filters);
  }
  const std::vector<double> class_costs =
      ClassCosts(choices, sizer, kClassBits + kClassShare * min_bits);
  std::vector<Division> divisions{
      {std::vector<double>(choices.size() + 1, std::numeric_limits<double>::infinity()), {}}};
  divisions.front().cost[0] = 0;
  double best_cost = std::numeric_limits<double>::infinity();
  while (divisions.size() <= std::min(kMaxSizeClasses, choices.size())) {
    Division division = WithOneMoreClass(divisions.back(), class_costs);
    if (division.cost.back() >= best_cost) break;  // costs are nearly convex
    best_cost = division.cost.back();
    divisions.push_back(std::move(division));
  }
  return ClassesOf(divisions, choices, sizer);
}

}  // namespace blocksieve::internal
