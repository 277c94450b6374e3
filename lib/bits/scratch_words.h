#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace blocksieve::internal {

/// Words for the time of a probe, on the stack if they are as few as most indexes need.
class ScratchWords {
 public:
  explicit ScratchWords(size_t size) : many_(size > few_.size() ? size : 0) {}
  uint64_t* data() noexcept { return many_.empty() ? few_.data() : many_.data(); }

 private:
  std::array<uint64_t, 512> few_;
  std::vector<uint64_t> many_;
};

}  // namespace blocksieve::internal
