// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <functional>
#include <utility>

#include "blocksieve/tree.h"
#include "lib/base/coding.h"

// Which lookups check which sorted runs, from the key ranges of files. Segments lie between
// adjacent bounds of files.

namespace blocksieve {
namespace {

/// Estimates the share of a file's keys before a key.
class KeyInterpolation {
 public:
  explicit KeyInterpolation(const std::vector<TreeFile>& files) {
    for (const TreeFile& file : files) {
      const std::string_view first = files.front().smallest;
      for (const std::string_view key : {file.smallest, file.largest}) {
        const size_t prefix = SharedBytes(key, first);
        AddDigits(key.substr(prefix));
        AddDigits(first.substr(prefix));
      }
    }
    // The bounds of a few files do not show all bytes of binary keys.
    constexpr int kTextBytes = 128;
    if (highest_ - lowest_ >= kTextBytes) lowest_ = 0, highest_ = 255;
  }

  double ShareBefore(const TreeFile& file, std::string_view key) const {
    if (key <= file.smallest) return 0;
    const size_t prefix = SharedBytes(file.smallest, file.largest);
    const double low = NumberAt(file.smallest, prefix);
    const double high = NumberAt(file.largest, prefix);
    if (key >= file.largest || high <= low) return 1;
    return std::clamp((NumberAt(key, prefix) - low) / (high - low), 0.0, 1.0);
  }

 private:
  void AddDigits(std::string_view bytes) {
    for (const char byte : bytes) {
      lowest_ = std::min<int>(lowest_, static_cast<uint8_t>(byte));
      highest_ = std::max<int>(highest_, static_cast<uint8_t>(byte));
    }
  }

  // The digits of the key from `place` on, as a number.
  double NumberAt(std::string_view key, size_t place) const {
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

  int lowest_ = 255;
  int highest_ = 0;
};

/// Shares of a file's keys before each of the bounds within its key range. Parts with few keys are
/// not looked at: files of level 0 often begin and end close to each other, with nothing between.
std::vector<double> SharesBefore(std::span<const std::string_view> bounds, const TreeFile& file,
                                 const KeyInterpolation& keys) {
  constexpr double kSmallShare = 1.0 / 64;
  std::vector<double> shares(bounds.size(), 1);
  shares.front() = 0;
  const std::function<void(size_t, size_t)> fill = [&](size_t low, size_t high) {
    if (high - low < 2) return;
    const size_t middle = (low + high) / 2;
    shares[middle] = shares[high] - shares[low] < kSmallShare
                         ? (shares[low] + shares[high]) / 2
                         : keys.ShareBefore(file, bounds[middle]);
    fill(low, middle);
    fill(middle, high);
  };
  fill(0, shares.size() - 1);
  return shares;
}

bool AreInByteOrder(const std::vector<TreeFile>& files) {
  for (size_t i = 0; i < files.size(); ++i) {
    if (files[i].smallest > files[i].largest) return false;
    const bool may_overlap = i == 0 || files[i].level == 0 || files[i].level != files[i - 1].level;
    if (!may_overlap && files[i - 1].largest > files[i].smallest) return false;
  }
  return true;
}

}  // namespace

void Tree::SetKeyRanges() {
  if (!AreInByteOrder(files_)) return;
  const KeyInterpolation keys(files_);
  // The first and last keys of all files, sorted and distinct.
  std::vector<std::string_view> bounds;
  for (const TreeFile& file : files_) bounds.insert(bounds.end(), {file.smallest, file.largest});
  std::sort(bounds.begin(), bounds.end());
  bounds.erase(std::unique(bounds.begin(), bounds.end()), bounds.end());
  std::vector<Segment> segments(bounds.empty() ? 0 : bounds.size() - 1);
  for (const TreeRun& run : runs_) {
    for (size_t i = run.first_file; i < run.first_file + run.num_files; ++i) {
      const TreeFile& file = files_[i];
      const auto first = std::lower_bound(bounds.begin(), bounds.end(), file.smallest);
      const auto last = std::lower_bound(first, bounds.end(), file.largest);
      const std::vector<double> shares = SharesBefore({first, last + 1}, file, keys);
      auto segment = segments.begin() + (first - bounds.begin());
      for (size_t j = 0; j + 1 < shares.size(); ++j, ++segment) {
        const double share = std::max(shares[j + 1] - shares[j], 0.0);
        segment->parts.emplace_back(&run - runs_.data(),
                                    share * static_cast<double>(file.num_keys));
      }
    }
  }
  double sum = 0;
  for (Segment& segment : segments) {
    for (const auto& part : segment.parts) {
      segment.lookup_share = std::max(segment.lookup_share, part.second);
    }
    sum += segment.lookup_share;
  }
  if (sum == 0) return;
  for (Segment& segment : segments) segment.lookup_share /= sum;
  SetSegments(std::move(segments));
}

}  // namespace blocksieve
