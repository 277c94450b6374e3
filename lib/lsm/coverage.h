#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

// Which lookups check which sorted runs. A run is checked only for keys within the key range of one
// of its files, so most lookups skip a run with few keys, or with keys close to each other.

namespace blocksieve::lsm {

/// A file of a sorted run. Keys are not owned.
struct RunFile {
  size_t run = 0;  ///< Position among the runs; 0 is the newest.
  double num_keys = 0;
  std::string_view smallest;
  std::string_view largest;  ///< Not before `smallest`.
};

/// The keys of a run within a segment.
struct RunPart {
  size_t run = 0;
  double num_keys = 0;
};

/// A range of keys for which lookups check the same runs.
struct KeySegment {
  /// Share of the lookups. The sum over all segments is 1, or less if some lookups check no run.
  double lookup_share = 0;
  std::vector<RunPart> parts;  ///< Newest first.
};

using Coverage = std::vector<KeySegment>;

/// Whether the first key sorts before the second.
using KeyLess = std::function<bool(std::string_view, std::string_view)>;

/// Share of a file's entries, 0 to 1, before a key within its key range.
using ShareBefore = std::function<double(size_t file, std::string_view key)>;

/// Computes the coverage from the key ranges of files. Segments lie between adjacent bounds of
/// files. In each, a run has n(run) keys, estimated with `share_before`. Lookups are assumed to be
/// distributed like the keys of the database: the share of a segment is proportional to
///
///   max over runs of n(run)
///
/// The sum over runs would count overwritten keys twice. Where runs have different keys in the same
/// range, like the levels of a tree, the largest run shows the distribution of the keys. Empty if
/// no segment has keys.
///
/// REQUIRES: files are ordered by run. Throws std::bad_alloc.
Coverage CoverageOf(std::span<const RunFile> files, const KeyLess& less,
                    const ShareBefore& share_before);

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
