#include "integration/cli/advise/run_coverage.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "integration/cli/term/failure.h"

namespace blocksieve::cli {
namespace {

using Keys = std::vector<std::string_view>;

bool SayTheirRanges(const std::vector<SortedRun>& runs) {
  return !runs.empty() && std::all_of(runs.begin(), runs.end(), [](const SortedRun& run) {
    return std::all_of(run.files.begin(), run.files.end(),
                       [](const FileReport* file) { return file->place.keys.has_value(); });
  });
}

const KeyLess& OrderOf(const std::vector<SortedRun>& runs) {
  return runs.front().files.front()->place.keys->less;
}

// The first and last keys of all files, in order and without repeats: where stretches begin and
// end.
Keys BoundsOf(const std::vector<SortedRun>& runs) {
  Keys bounds;
  for (const SortedRun& run : runs) {
    for (const FileReport* const file : run.files) {
      bounds.emplace_back(file->place.keys->smallest);
      bounds.emplace_back(file->place.keys->largest);
    }
  }
  const KeyLess& less = OrderOf(runs);
  std::sort(bounds.begin(), bounds.end(), less);
  const auto same = [&](std::string_view a, std::string_view b) { return !less(a, b); };
  bounds.erase(std::unique(bounds.begin(), bounds.end(), same), bounds.end());
  return bounds;
}

/// How the entries of a file are spread over the stretches.
class FileSpread {
 public:
  FileSpread(const FileReport& file, const Keys& bounds, const ShareBefore& share_before)
      : file_(file), bounds_(bounds), share_before_(share_before) {
    const LookupRange& keys = *file.place.keys;
    const auto find = [&](const std::string& key) {
      return std::lower_bound(bounds.begin(), bounds.end(), std::string_view(key), keys.less) -
             bounds.begin();
    };
    first_ = static_cast<size_t>(find(keys.smallest));
    shares_.resize(static_cast<size_t>(find(keys.largest)) - first_ + 1);
    shares_.back() = 1;
    Fill(0, shares_.size() - 1);
  }

  size_t first_stretch() const { return first_; }
  size_t num_stretches() const { return shares_.size() - 1; }

  /// The entries in the stretch of this number, counted from first_stretch.
  double NumKeys(size_t i) const {
    return static_cast<double>(file_.num_entries) * std::max(shares_[i + 1] - shares_[i], 0.0);
  }

 private:
  // Each question costs a read, so the range is halved only until there is little between two
  // bounds: files of level 0 often begin and end close to each other, with nothing between.
  void Fill(size_t low, size_t high) {
    constexpr double kLittle = 1.0 / 64;
    if (high - low < 2) return;
    const size_t middle = (low + high) / 2;
    shares_[middle] = shares_[high] - shares_[low] < kLittle
                          ? (shares_[low] + shares_[high]) / 2
                          : share_before_(file_, bounds_[first_ + middle]);
    Fill(low, middle);
    Fill(middle, high);
  }

  const FileReport& file_;
  const Keys& bounds_;
  const ShareBefore& share_before_;
  size_t first_ = 0;
  std::vector<double> shares_;  // before each bound from the first on
};

double MostKeys(const KeyStretch& stretch) {
  double most = 0;
  for (const RunPart& part : stretch.parts) most = std::max(most, part.num_keys);
  return most;
}

// Makes the shares, in proportion to the most keys of each stretch, sum to 1. False without keys.
bool ScaleShares(RunCoverage* coverage) {
  double sum = 0;
  for (KeyStretch& stretch : *coverage) sum += stretch.share = MostKeys(stretch);
  if (sum == 0) return false;
  for (KeyStretch& stretch : *coverage) stretch.share /= sum;
  return true;
}

}  // namespace

ShareBefore ShareBeforeIn(const Engine& engine) {
  // Asking for one file after the other opens each only once.
  return [&engine, path = std::string(), file = std::shared_ptr<TableFile>()](
             const FileReport& report, std::string_view key) mutable {
    constexpr double kUnknown = 0.5;
    try {
      if (path != report.place.path) {
        path = report.place.path;
        file = engine.OpenFile(report.place);
      }
      return file == nullptr ? kUnknown : file->ShareBefore(key);
    } catch (const term::Failure&) {
      return kUnknown;
    }
  };
}

RunCoverage WholeCoverage(const std::vector<SortedRun>& runs) {
  KeyStretch all{.share = 1, .parts = {}};
  for (size_t i = 0; i < runs.size(); ++i) {
    all.parts.push_back({.run = i, .num_keys = static_cast<double>(runs[i].num_keys)});
  }
  return {std::move(all)};
}

RunCoverage CoverageOf(const std::vector<SortedRun>& runs, const ShareBefore& share_before) {
  if (!SayTheirRanges(runs)) return WholeCoverage(runs);
  const Keys bounds = BoundsOf(runs);
  RunCoverage coverage(bounds.size() - 1);
  for (size_t i = 0; i < runs.size(); ++i) {
    for (const FileReport* const file : runs[i].files) {
      const FileSpread spread(*file, bounds, share_before);
      for (size_t k = 0; k < spread.num_stretches(); ++k) {
        coverage[spread.first_stretch() + k].parts.push_back(
            {.run = i, .num_keys = spread.NumKeys(k)});
      }
    }
  }
  return ScaleShares(&coverage) ? coverage : WholeCoverage(runs);
}

std::vector<double> SharesOf(const RunCoverage& coverage, size_t num_runs) {
  std::vector<double> shares(num_runs);
  for (const KeyStretch& stretch : coverage) {
    for (const RunPart& part : stretch.parts) shares[part.run] += stretch.share;
  }
  return shares;
}

std::vector<double> KnownShares(const RunCoverage& coverage, size_t num_runs, double least_share) {
  std::vector<double> shares = SharesOf(coverage, num_runs);
  for (double& share : shares) share = std::clamp(share, least_share, 1.0);
  return shares;
}

double WastedReads(const RunCoverage& coverage, const std::vector<double>& fprs,
                   double absent_fraction) {
  double keys = 0;
  double of_absent_keys = 0;
  double of_present_keys = 0;  // times keys
  for (const KeyStretch& stretch : coverage) {
    double of_newer_runs = 0;
    for (const RunPart& part : stretch.parts) {
      of_present_keys += part.num_keys * of_newer_runs;
      of_newer_runs += fprs[part.run];
      keys += part.num_keys;
    }
    of_absent_keys += stretch.share * of_newer_runs;
  }
  if (keys == 0) return 0;
  return absent_fraction * of_absent_keys + (1 - absent_fraction) * of_present_keys / keys;
}

}  // namespace blocksieve::cli
