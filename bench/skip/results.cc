#include "bench/skip/results.h"

#include "bench/support/median.h"

namespace blocksieve::bench::skip {

double WriteCostResult::times_seconds() const {
  return Median(seconds_with) / Median(seconds_without);
}

double WriteCostResult::times_cpu_seconds() const {
  return Median(cpu_seconds_with) / Median(cpu_seconds_without);
}

}  // namespace blocksieve::bench::skip
