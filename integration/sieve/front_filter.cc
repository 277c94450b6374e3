#include "integration/sieve/front_filter.h"

#include <algorithm>

namespace blocksieve::sieve {
namespace {

// At five URLs per counter, one in 4,000 counters has seen fifteen and sticks, and the estimate of
// n URLs has a standard error of 5.3 sqrt(n). With ten the estimate would be two times less
// accurate than the half percent that is asked of it.
constexpr uint64_t kUrlsPerCounter = 5;
constexpr uint64_t kLeastCounters = 1024;

// Shards are not equally full, and estimates err: before this share is exceeded, too, that the
// whole is over-full is not certain.
constexpr uint64_t kDesignPartsOfSlack = 16;

}  // namespace

BloomLayout FrontLayout(uint64_t design_urls) {
  return {.num_bits = std::max(design_urls / kUrlsPerCounter, kLeastCounters),
          .num_probes = 1,
          .hash_seed = kSieveSeed,
          .design_keys = design_urls + design_urls / kDesignPartsOfSlack};
}

}  // namespace blocksieve::sieve
