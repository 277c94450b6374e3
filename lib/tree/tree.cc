// SPDX-License-Identifier: Apache-2.0
#include "blocksieve/tree.h"

#include <algorithm>

#include "lib/base/coding.h"

namespace blocksieve {
namespace {

size_t LevelOf(const TreeRun& run) { return static_cast<size_t>(std::max(run.level, 0)); }

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

Tree::Tree(std::vector<TreeFile> files, std::string name, bool level0_is_short_lived)
    : name_(std::move(name)),
      files_(std::move(files)),
      level0_is_short_lived_(level0_is_short_lived) {
  for (size_t i = 0; i < files_.size(); ++i) {
    const TreeFile& file = files_[i];
    if (runs_.empty() || file.level == 0 || file.level != runs_.back().level) {
      runs_.push_back({.level = file.level, .first_file = i, .fpr = 0});
    }
    TreeRun& run = runs_.back();
    ++run.num_files;
    run.num_keys += file.num_keys;
    run.fpr += file.fpr * static_cast<double>(file.num_keys);
  }
  Segment& all = segments_.emplace_back(Segment{.lookup_share = 1});
  for (TreeRun& run : runs_) {
    run.fpr = run.num_keys == 0 ? 1 : run.fpr / static_cast<double>(run.num_keys);
    all.parts.emplace_back(&run - runs_.data(), run.num_keys);
  }
}

uint64_t Tree::num_keys() const {
  uint64_t sum = 0;
  for (const TreeRun& run : runs_) sum += run.num_keys;
  return sum;
}

uint64_t Tree::filter_bytes() const {
  uint64_t sum = 0;
  for (const TreeFile& file : files_) sum += file.filter_bytes;
  return sum;
}

void Tree::SetProbes(double per_lookup, double absent_fraction) {
  const auto keys = static_cast<double>(num_keys());
  double newer_runs = 0;  // times keys
  for (size_t i = 0; i < runs_.size(); ++i) {
    if (runs_[i].fpr >= 1) return;
    newer_runs += static_cast<double>(i) * static_cast<double>(runs_[i].num_keys);
  }
  if (keys == 0) return;
  const double other_runs = static_cast<double>(runs_.size()) - 1;
  // Probes per lookup beyond the first, if every run had keys everywhere.
  const double most = absent_fraction * other_runs + (1 - absent_fraction) * newer_runs / keys;
  if (most == 0) return;
  const double shared = std::clamp((per_lookup - 1) / most, 0.0, 1.0);
  std::vector<Segment> segments = {{.lookup_share = shared}};
  for (size_t i = 0; i < runs_.size(); ++i) {
    const auto keys_of_run = static_cast<double>(runs_[i].num_keys);
    segments[0].parts.emplace_back(i, shared * keys_of_run);
    segments.push_back({(1 - shared) * keys_of_run / keys, {{i, (1 - shared) * keys_of_run}}});
  }
  SetSegments(std::move(segments));
}

void Tree::SetLookupShares(std::span<const TreeLevel> levels) {
  for (TreeRun& run : runs_) {
    if (LevelOf(run) >= levels.size() || levels[LevelOf(run)].num_runs == 0) continue;
    run.lookup_share = levels[LevelOf(run)].lookup_share;
  }
}

std::vector<TreeLevel> Tree::ToLevels(const RateGoal& goal) const {
  constexpr TreeLevel kEmpty{.num_runs = 0};
  std::vector<double> share_sums;
  std::vector<TreeLevel> levels(1, kEmpty);
  for (const TreeRun& run : runs_) {
    levels.resize(std::max(levels.size(), LevelOf(run) + 1), kEmpty);
    share_sums.resize(levels.size());
    ++levels[LevelOf(run)].num_runs;
    levels[LevelOf(run)].keys_per_run += static_cast<double>(run.num_keys);
    share_sums[LevelOf(run)] += run.lookup_share;
  }
  for (size_t i = 0; i < share_sums.size(); ++i) {
    if (levels[i].num_runs == 0) continue;
    levels[i].keys_per_run /= levels[i].num_runs;
    levels[i].lookup_share = share_sums[i] / levels[i].num_runs;
  }
  SetKinds(goal, level0_is_short_lived_, &levels);
  return levels;
}

double Tree::WastedReads(std::span<const double> fprs, double absent_fraction) const {
  double keys = 0;
  double for_absent_keys = 0;
  double for_present_keys = 0;  // times keys
  for (const Segment& segment : segments_) {
    double in_newer_runs = 0;
    for (const auto& [run, num_keys] : segment.parts) {
      for_present_keys += num_keys * in_newer_runs;
      in_newer_runs += run < fprs.size() ? fprs[run] : 1;  // no filter
      keys += num_keys;
    }
    for_absent_keys += segment.lookup_share * in_newer_runs;
  }
  if (keys == 0) return 0;
  return absent_fraction * for_absent_keys + (1 - absent_fraction) * for_present_keys / keys;
}

void Tree::SetSegments(std::vector<Segment> segments) {
  segments_ = std::move(segments);
  for (TreeRun& run : runs_) run.lookup_share = 0;
  for (const Segment& segment : segments_) {
    for (const auto& part : segment.parts) runs_[part.first].lookup_share += segment.lookup_share;
  }
  // Sums are rounded.
  for (TreeRun& run : runs_) run.lookup_share = std::min(run.lookup_share, 1.0);
}

// Which lookups check which sorted runs, from the key ranges of files. Segments lie between
// adjacent bounds of files.

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
