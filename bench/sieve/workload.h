#pragma once

#include <cstdint>
#include <random>
#include <string>

namespace blocksieve::bench::sieve {

/// A crawl's links: `count` URLs, of which a share are repeats of earlier ones, recent and old
/// alike. The n-th new URL is Url(n), so that what a sieve hands out can be checked without a list.
class Workload {
 public:
  static constexpr double kRepeats = 0.3;

  Workload(uint64_t first_url, uint64_t seed) : num_new_(first_url), random_(seed) {}

  std::string Next() {
    const bool repeats = num_new_ > 0 && static_cast<double>(random_()) < kRepeats * 0x1p64;
    return Url(repeats ? random_() % num_new_ : num_new_++);
  }

  /// Different URLs that there were, those before `first_url` included.
  uint64_t num_new() const { return num_new_; }

  static std::string Url(uint64_t number);

 private:
  uint64_t num_new_;
  std::mt19937_64 random_;
};

}  // namespace blocksieve::bench::sieve
