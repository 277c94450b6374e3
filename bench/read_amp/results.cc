#include "bench/read_amp/results.h"

#include <algorithm>

namespace blocksieve::read_amp {

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

const ContestantResult* FindRole(const Results& results, Role role) {
  const ContestantResult* found = nullptr;
  for (const ContestantResult& each : results.contestants) {
    if (each.contestant.role == role &&
        (found == nullptr || each.leveled.shape.filter_bytes < found->leveled.shape.filter_bytes)) {
      found = &each;
    }
  }
  return found;
}

}  // namespace blocksieve::read_amp
