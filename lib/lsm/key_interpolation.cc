#include "lib/lsm/key_interpolation.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "lib/base/coding.h"

namespace blocksieve::lsm {

KeyInterpolation::KeyInterpolation(std::span<const RunFile> files) : files_(files) {
  for (const RunFile& file : files) {
    const std::string_view first = files.front().smallest;
    for (const std::string_view key : {file.smallest, file.largest}) {
      const size_t prefix = SharedBytes(key, first);
      AddDigits(key.substr(prefix));
      AddDigits(first.substr(prefix));
    }
  }
}

double KeyInterpolation::ShareBefore(size_t file, std::string_view key) const {
  const auto [smallest, largest] = std::pair(files_[file].smallest, files_[file].largest);
  if (key <= smallest) return 0;
  const size_t prefix = SharedBytes(smallest, largest);
  const double low = NumberAt(smallest, prefix);
  const double high = NumberAt(largest, prefix);
  if (key >= largest || high <= low) return 1;
  return std::clamp((NumberAt(key, prefix) - low) / (high - low), 0.0, 1.0);
}

void KeyInterpolation::AddDigits(std::string_view bytes) {
  for (const char byte : bytes) {
    lowest_ = std::min<int>(lowest_, static_cast<uint8_t>(byte));
    highest_ = std::max<int>(highest_, static_cast<uint8_t>(byte));
  }
}

// The digits of the key from `place` on, as a number.
double KeyInterpolation::NumberAt(std::string_view key, size_t place) const {
  constexpr int kDigits = 12;
  const double base = std::max(highest_ - lowest_ + 1, 2);
  double number = 0;
  for (int i = 0; i < kDigits; ++i, ++place) {
    number *= base;
    if (place >= key.size() || lowest_ > highest_) continue;
    number += std::clamp<int>(static_cast<uint8_t>(key[place]), lowest_, highest_) - lowest_;
  }
  return number;
}

}  // namespace blocksieve::lsm
