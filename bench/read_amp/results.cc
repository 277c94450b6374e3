#include "bench/read_amp/results.h"

namespace blocksieve::bench::read_amp {

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

}  // namespace blocksieve::bench::read_amp
