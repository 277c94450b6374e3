#include "bench/support/median.h"

#include <algorithm>
#include <cstddef>

namespace blocksieve::bench {

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

}  // namespace blocksieve::bench
