#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "integration/toylsm/version.h"

namespace blocksieve::toylsm {

/// Decides, of entries in their order, which are still needed.
class NeededVersions {
 public:
  /// `snapshots`: ascending. `may_be_below`: whether anything older than the input may have a key.
  NeededVersions(std::vector<Sequence> snapshots,
                 std::function<bool(std::string_view key)> may_be_below)
      : snapshots_(std::move(snapshots)), may_be_below_(std::move(may_be_below)) {}

  bool IsNeeded(const Entry& entry);

 private:
  const std::vector<Sequence> snapshots_;
  const std::function<bool(std::string_view)> may_be_below_;
  std::optional<std::string> key_;  // of the entry before
  Sequence newer_sequence_ = 0;     // its sequence
};

/// Files to be merged into those of a deeper level.
struct Compaction {
  std::vector<Run> inputs;  ///< newest first
  int output_level = 0;

  SstFiles InputFiles() const;
};

/// Picks what to compact so that every level is as small as the options say. Levels take turns of
/// their keys, so that no part of them is merged more often than others.
class CompactionPicker {
 public:
  explicit CompactionPicker(const Options& options) : options_(options) {}

  /// Nothing if all levels are small enough.
  std::optional<Compaction> Pick(const Version& version);

  /// Everything, into one run on the deepest level there is.
  static std::optional<Compaction> PickAll(const Version& version);

 private:
  double Score(const Version& version, int level) const;

  const Options& options_;
  std::string next_key_[kNumLevels];  // the next turn begins at the first file behind it
};

/// Whether `key` lies in a file of one of `runs` on a level beyond `level`.
bool MayBeBelow(const std::vector<Run>& runs, int level, std::string_view key);

}  // namespace blocksieve::toylsm
