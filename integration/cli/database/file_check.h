#pragma once

#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "integration/cli/database/table/table_file.h"

namespace blocksieve::cli {

/// A confidence interval of a share.
struct RateInterval {
  double low = 0;
  double high = 1;
};

/// Wilson's score interval, with 95 % confidence, for `num_hits` of `num_trials` (Wilson, "Probable
/// inference, the law of succession, and statistical inference", 1927). Also valid for no hits.
/// REQUIRES: num_hits <= num_trials, num_trials > 0
RateInterval WilsonInterval(uint64_t num_hits, uint64_t num_trials);

/// A uniform sample of the keys of a stream (Vitter, "Random Sampling with a Reservoir", 1985,
/// algorithm R).
class KeySample {
 public:
  explicit KeySample(size_t capacity) : capacity_(capacity) {}

  void Add(std::string_view key, std::mt19937_64* random) {
    ++num_seen_;
    if (keys_.size() < capacity_) {
      keys_.emplace_back(key);
    } else if (const uint64_t place = (*random)() % num_seen_; place < capacity_) {
      keys_[static_cast<size_t>(place)] = key;
    }
  }

  const std::vector<std::string>& keys() const { return keys_; }
  uint64_t num_seen() const { return num_seen_; }

 private:
  const size_t capacity_;
  std::vector<std::string> keys_;
  uint64_t num_seen_ = 0;
};

/// Probes with absent keys or empty ranges, and the number of them that passed the filters.
struct Probes {
  uint64_t num_probed = 0;  ///< 0 if there is no filter.
  uint64_t num_passed = 0;

  /// 95 % confidence interval of the share that passes; nullopt without probes.
  std::optional<RateInterval> interval() const {
    if (num_probed == 0) return std::nullopt;
    return WilsonInterval(num_passed, num_probed);
  }
};

/// The result of checking a file and its filters.
struct FileCheck {
  FileReport file;
  uint64_t keys_checked = 0;
  uint64_t false_negatives = 0;
  std::string unchecked;  ///< Why some keys were not checked; empty if all were.

  Probes absent_keys;
  Probes empty_ranges;                 ///< Short ranges where keys are likely.
  uint64_t ranges_checked = 0;         ///< Ranges with keys of the file.
  uint64_t false_negative_ranges = 0;  ///< Those that the filters ruled out.

  std::vector<std::string> problems;
};

/// Reads the whole file. Damage becomes a problem, not an exception.
FileCheck CheckFile(TableFile* file, uint64_t num_probes);

}  // namespace blocksieve::cli
