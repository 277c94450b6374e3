#pragma once

#include <vector>

namespace blocksieve::bench {

/// REQUIRES: not empty.
double Median(std::vector<double> values);

}  // namespace blocksieve::bench
