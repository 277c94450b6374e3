#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

// Which lookups check which sorted runs. A run is checked for keys between the first and the last
// key of one of its files, so most lookups pass by a run with few or neighbouring keys.

namespace blocksieve::lsm {

/// A file of a sorted run. Keys are not owned.
struct RunFile {
  size_t run = 0;  ///< Position among the runs; 0 is the newest.
  double num_keys = 0;
  std::string_view smallest;
  std::string_view largest;  ///< Not before `smallest`.
};

/// The keys of a run that lie in a stretch.
struct RunPart {
  size_t run = 0;
  double num_keys = 0;
};

/// Keys for which lookups check the same runs.
struct KeyStretch {
  /// Share of the lookups; of all stretches 1, or less if some lookups check no run.
  double lookup_share = 0;
  std::vector<RunPart> parts;  ///< The newest first.
};

using Coverage = std::vector<KeyStretch>;

/// Whether a key comes before another one.
using KeyLess = std::function<bool(std::string_view, std::string_view)>;

/// The share of the entries of a file, 0 to 1, that are before a key between its first and its last
/// one.
using ShareBefore = std::function<double(size_t file, std::string_view key)>;

/// The coverage by the key ranges of files. Stretches lie between neighbours among the first and
/// last keys of all files. In each, a run has n(run) keys, estimated with `share_before`. Lookups
/// are assumed to be distributed like the keys of the database: the share of a stretch is
/// proportional to
///
///   max over runs of n(run)
///
/// The sum would count twice the keys that a newer run overwrites. Where runs have different keys
/// in the same places, like the levels of a tree, the largest run shows how the keys are
/// distributed. Empty if no stretch has keys.
///
/// REQUIRES: files are ordered by run. Throws std::bad_alloc.
Coverage CoverageOf(std::span<const RunFile> files, const KeyLess& less,
                    const ShareBefore& share_before);

}  // namespace blocksieve::lsm
