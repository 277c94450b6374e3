#include "bench/sieve/workload.h"

#include <fmt/format.h>

namespace blocksieve::bench::sieve {

std::string Workload::Url(uint64_t number) {
  // Spread like hashes, as links of a page lead anywhere; the number itself keeps them apart.
  const uint64_t spread = (number + 1) * 0x9E3779B97F4A7C15;
  return fmt::format("https://www.site{}.example/{}/{:x}-{}.html", spread >> 48, spread >> 44 & 0xf,
                     static_cast<uint32_t>(spread), number);
}

}  // namespace blocksieve::bench::sieve
