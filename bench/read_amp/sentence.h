#pragma once

#include <string>

#include "bench/read_amp/results.h"

namespace blocksieve::bench::read_amp {

/// One sentence of what blocksieve saved on the tree as filled, or that it saved nothing, from the
/// measurements alone. REQUIRES: a contestant of every role but kStockDefault.
std::string SavedSentence(const Results& results);

/// How `ours` compares with `theirs`: "3.2 % fewer than", "25.0 % more than" or "as many as".
/// Differences below a twentieth of a percent count as none. REQUIRES: theirs > 0.
std::string FewerOrMore(double ours, double theirs);

}  // namespace blocksieve::bench::read_amp
