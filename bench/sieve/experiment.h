#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "bench/support/terminal.h"
#include "integration/sieve/url_sieve.h"

namespace blocksieve::bench::sieve {

/// What a sieve did with a workload, with restarts in between.
struct Exactness {
  uint64_t pushed = 0;    ///< URLs, repeats included.
  uint64_t distinct = 0;  ///< Different ones among them.
  uint64_t restarts = 0;
  uint64_t let_through = 0;  ///< Repeats that were taken for new.
  uint64_t dropped = 0;      ///< New URLs that were taken for repeats.
  uint64_t out_of_order = 0;
  std::vector<double> push_seconds;      ///< Between restarts, in each of which as many are pushed.
  blocksieve::sieve::SieveStats loaded;  ///< After the last push.
  blocksieve::sieve::SieveStats compacted;  ///< After a compaction.
  uint64_t later_new = 0;                   ///< New URLs that were then pushed.
  uint64_t later_by_reading = 0;            ///< Of these, those for which a data block was read.
};

/// Pushes `num_urls`, reopening the sieve `restarts` times; compacts; pushes new URLs to see what
/// their lookups cost; and pops everything to compare it with what must come. Throws Failure.
Exactness MeasureExactness(const std::filesystem::path& dir, uint64_t num_urls, uint64_t restarts,
                           Progress* progress);

/// URLs per second that are pushed into a new sieve, which is closed at the end. Throws Failure.
double MeasurePushes(const std::filesystem::path& dir, blocksieve::sieve::FileFilters file_filters,
                     uint64_t num_urls, uint64_t seed);

}  // namespace blocksieve::bench::sieve
