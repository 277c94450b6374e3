#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace blocksieve::cli {

/// So many keys of a stream, each with the same chance (Vitter, "Random Sampling with a Reservoir",
/// 1985, algorithm R).
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

}  // namespace blocksieve::cli
