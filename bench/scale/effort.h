#pragma once

#include <cstdint>
#include <vector>

namespace blocksieve::bench::scale {

/// How much is measured. As it stands, in some minutes and with 6 GB of memory.
struct Effort {
  std::vector<uint64_t> filter_keys = {1'000'000, 10'000'000, 100'000'000, 300'000'000};
  std::vector<uint64_t> tree_keys = {1'000'000, 10'000'000, 100'000'000, 1'000'000'000};
  std::vector<uint64_t> index_files = {1, 10, 100, 1'000};

  /// Within a minute.
  static Effort Quick() { return {{1'000'000, 10'000'000}, {1'000'000, 10'000'000}, {1, 10, 100}}; }
};

}  // namespace blocksieve::bench::scale
