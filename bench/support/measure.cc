// SPDX-License-Identifier: Apache-2.0
#include "bench/support/measure.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "bench/support/terminal.h"

namespace blocksieve::bench {

Spread SpreadOf(std::vector<double> turns) {
  constexpr size_t kTooFewForQuartiles = 3;
  assert(!turns.empty());
  std::sort(turns.begin(), turns.end());
  // Interpolates between the two nearest turns.
  const auto at = [&](double part) {
    const double place = part * static_cast<double>(turns.size() - 1);
    const auto i = static_cast<size_t>(place);
    const double above = turns[std::min(i + 1, turns.size() - 1)];
    return turns[i] + (above - turns[i]) * (place - static_cast<double>(i));
  };
  const bool are_few = turns.size() <= kTooFewForQuartiles;
  return {at(0.5), are_few ? turns.front() : at(0.25), are_few ? turns.back() : at(0.75),
          turns.size()};
}

Spread PairedRatio(const std::vector<double>& mine, const std::vector<double>& theirs) {
  assert(mine.size() == theirs.size());
  std::vector<double> ratios;
  for (size_t i = 0; i < mine.size(); ++i) ratios.push_back(mine[i] / theirs[i]);
  return SpreadOf(std::move(ratios));
}

Spread Quotient(const Spread& mine, const Spread& theirs) {
  return {mine.median / theirs.median, mine.low / theirs.high, mine.high / theirs.low,
          std::min(mine.turns, theirs.turns)};
}

}  // namespace blocksieve::bench
