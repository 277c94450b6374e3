#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "lib/lsm/coverage.h"

namespace blocksieve::lsm {

/// Estimates ShareBefore for keys in byte order by linear interpolation, with keys as numbers. The
/// digits are the bytes between the smallest and the largest that occur after the prefix of all
/// keys: in decimal keys there is no gap between "19" and "20".
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
