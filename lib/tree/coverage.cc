#include <algorithm>
#include <cstdint>
#include <utility>

#include "blocksieve/tree.h"
#include "lib/base/coding.h"

// Which lookups check which sorted runs, from the key ranges of files. Segments lie between
// adjacent bounds of files.

namespace blocksieve {
namespace {

using Keys = std::vector<std::string_view>;

// The first and last keys of all files, sorted and distinct.
Keys BoundsOf(const std::vector<TreeFile>& files) {
  Keys bounds;
  for (const TreeFile& file : files) bounds.insert(bounds.end(), {file.smallest, file.largest});
  std::sort(bounds.begin(), bounds.end());
  bounds.erase(std::unique(bounds.begin(), bounds.end()), bounds.end());
  return bounds;
}

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

/// Distribution of a file's keys over the bounds within its key range.
class FileSpread {
 public:
  FileSpread(std::span<const std::string_view> bounds, const TreeFile& file,
             const KeyInterpolation& keys)
      : bounds_(bounds), file_(file), keys_(keys), shares_(bounds.size(), 1) {
    shares_.front() = 0;
    Fill(0, shares_.size() - 1);
  }

  /// Share of the keys between bounds[bound] and bounds[bound + 1].
  double ShareAfter(size_t bound) const {
    return std::max(shares_[bound + 1] - shares_[bound], 0.0);
  }

 private:
  // Parts with few keys are not looked at: files of level 0 often begin and end close to each
  // other, with nothing between.
  void Fill(size_t low, size_t high) {
    constexpr double kSmallShare = 1.0 / 64;
    if (high - low < 2) return;
    const size_t middle = (low + high) / 2;
    shares_[middle] = shares_[high] - shares_[low] < kSmallShare
                          ? (shares_[low] + shares_[high]) / 2
                          : keys_.ShareBefore(file_, bounds_[middle]);
    Fill(low, middle);
    Fill(middle, high);
  }

  std::span<const std::string_view> bounds_;
  const TreeFile& file_;
  const KeyInterpolation& keys_;
  std::vector<double> shares_;  // before each bound
};

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
  const Keys bounds = BoundsOf(files_);
  std::vector<Segment> segments(bounds.empty() ? 0 : bounds.size() - 1);
  for (const TreeRun& run : runs_) {
    for (size_t i = run.first_file; i < run.first_file + run.num_files; ++i) {
      const TreeFile& file = files_[i];
      const auto first = std::lower_bound(bounds.begin(), bounds.end(), file.smallest);
      const auto last = std::lower_bound(first, bounds.end(), file.largest);
      const FileSpread spread({first, last + 1}, file, keys);
      for (auto bound = first; bound != last; ++bound) {
        const double share = spread.ShareAfter(static_cast<size_t>(bound - first));
        segments[static_cast<size_t>(bound - bounds.begin())].parts.emplace_back(
            &run - runs_.data(), share * static_cast<double>(file.num_keys));
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
