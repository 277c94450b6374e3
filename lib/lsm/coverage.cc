#include "lib/lsm/coverage.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "lib/base/coding.h"

namespace blocksieve::lsm {
namespace {

using Keys = std::vector<std::string_view>;

// The first and last keys of all files, sorted and distinct.
Keys BoundsOf(std::span<const RunFile> files, const KeyLess& less) {
  Keys bounds;
  for (const RunFile& file : files) bounds.insert(bounds.end(), {file.smallest, file.largest});
  std::sort(bounds.begin(), bounds.end(), less);
  const auto same = [&](std::string_view a, std::string_view b) { return !less(a, b); };
  bounds.erase(std::unique(bounds.begin(), bounds.end(), same), bounds.end());
  return bounds;
}

/// Distribution of a file's entries over the bounds within its key range.
class FileSpread {
 public:
  using ShareBeforeKey = std::function<double(std::string_view)>;

  FileSpread(std::span<const std::string_view> bounds, const ShareBeforeKey& share_before)
      : bounds_(bounds), share_before_(share_before), shares_(bounds.size(), 1) {
    shares_.front() = 0;
    Fill(0, shares_.size() - 1);
  }

  /// Share of the entries between bounds[bound] and bounds[bound + 1].
  double ShareAfter(size_t bound) const {
    return std::max(shares_[bound + 1] - shares_[bound], 0.0);
  }

 private:
  // Each call may cost a read, so ranges with few entries are interpolated: files of level 0 often
  // begin and end close to each other, with nothing between.
  void Fill(size_t low, size_t high) {
    constexpr double kSmallShare = 1.0 / 64;
    if (high - low < 2) return;
    const size_t middle = (low + high) / 2;
    shares_[middle] = shares_[high] - shares_[low] < kSmallShare
                          ? (shares_[low] + shares_[high]) / 2
                          : share_before_(bounds_[middle]);
    Fill(low, middle);
    Fill(middle, high);
  }

  std::span<const std::string_view> bounds_;
  const ShareBeforeKey& share_before_;
  std::vector<double> shares_;  // before each bound
};

double MaxRunKeys(const KeySegment& segment) {
  double max_keys = 0;
  for (const RunPart& part : segment.parts) max_keys = std::max(max_keys, part.num_keys);
  return max_keys;
}

}  // namespace

Coverage CoverageOf(std::span<const RunFile> files, const KeyLess& less,
                    const ShareBefore& share_before) {
  const Keys bounds = BoundsOf(files, less);
  Coverage coverage(bounds.empty() ? 0 : bounds.size() - 1);
  for (size_t i = 0; i < files.size(); ++i) {
    const RunFile& file = files[i];
    const auto first = std::lower_bound(bounds.begin(), bounds.end(), file.smallest, less);
    const auto last = std::lower_bound(first, bounds.end(), file.largest, less);
    const FileSpread spread({first, last + 1},
                            [&](std::string_view key) { return share_before(i, key); });
    for (auto bound = first; bound != last; ++bound) {
      const double share = spread.ShareAfter(static_cast<size_t>(bound - first));
      coverage[static_cast<size_t>(bound - bounds.begin())].parts.push_back(
          {.run = file.run, .num_keys = share * file.num_keys});
    }
  }
  double sum = 0;
  for (KeySegment& segment : coverage) sum += segment.lookup_share = MaxRunKeys(segment);
  if (sum == 0) return {};
  for (KeySegment& segment : coverage) segment.lookup_share /= sum;
  return coverage;
}

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
