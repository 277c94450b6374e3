#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "lib/lsm/coverage.h"

namespace blocksieve::lsm {

/// An estimate of ShareBefore for keys in the order of their bytes: the keys of a file are taken to
/// be spread evenly over the numbers that their bytes make. Bytes count as digits from the lowest
/// to the highest one that any key has after what all keys begin with: in numbers of them there is
/// no gap between "19" and "20".
class KeyInterpolation {
 public:
  /// The files must outlive it.
  explicit KeyInterpolation(std::span<const RunFile> files);

  double ShareBefore(size_t file, std::string_view key) const;

 private:
  void AddDigits(std::string_view bytes);
  double NumberAt(std::string_view key, size_t place) const;

  std::span<const RunFile> files_;
  int lowest_ = 255;
  int highest_ = 0;
};

}  // namespace blocksieve::lsm
