#include "lib/lsm/coverage.h"

#include <algorithm>

namespace blocksieve::lsm {
namespace {

using Keys = std::vector<std::string_view>;

// The first and last keys of all files, in order and without repeats.
Keys BoundsOf(std::span<const RunFile> files, const KeyLess& less) {
  Keys bounds;
  for (const RunFile& file : files) bounds.insert(bounds.end(), {file.smallest, file.largest});
  std::sort(bounds.begin(), bounds.end(), less);
  const auto same = [&](std::string_view a, std::string_view b) { return !less(a, b); };
  bounds.erase(std::unique(bounds.begin(), bounds.end(), same), bounds.end());
  return bounds;
}

/// How the entries of a file are spread over its part of the bounds.
class FileSpread {
 public:
  using ShareBeforeKey = std::function<double(std::string_view)>;

  FileSpread(std::span<const std::string_view> bounds, const ShareBeforeKey& share_before)
      : bounds_(bounds), share_before_(share_before), shares_(bounds.size()) {
    shares_.back() = 1;
    Fill(0, shares_.size() - 1);
  }

  /// The share of the entries between the bound of this number and the next one.
  double ShareAfter(size_t bound) const {
    return std::max(shares_[bound + 1] - shares_[bound], 0.0);
  }

 private:
  // Each call may cost a read, so the range is halved only until there is little between two
  // bounds: files of level 0 often begin and end close to each other, with nothing between.
  void Fill(size_t low, size_t high) {
    constexpr double kLittle = 1.0 / 64;
    if (high - low < 2) return;
    const size_t middle = (low + high) / 2;
    shares_[middle] = shares_[high] - shares_[low] < kLittle ? (shares_[low] + shares_[high]) / 2
                                                             : share_before_(bounds_[middle]);
    Fill(low, middle);
    Fill(middle, high);
  }

  std::span<const std::string_view> bounds_;
  const ShareBeforeKey& share_before_;
  std::vector<double> shares_;  // before each bound
};

double MostKeys(const KeyStretch& stretch) {
  double most = 0;
  for (const RunPart& part : stretch.parts) most = std::max(most, part.num_keys);
  return most;
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
  for (KeyStretch& stretch : coverage) sum += stretch.lookup_share = MostKeys(stretch);
  if (sum == 0) return {};
  for (KeyStretch& stretch : coverage) stretch.lookup_share /= sum;
  return coverage;
}

}  // namespace blocksieve::lsm
