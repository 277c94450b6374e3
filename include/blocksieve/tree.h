#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "blocksieve/sizing.h"
#include "blocksieve/status.h"

/// \file
/// The model of an LSM tree: its sorted runs, which of them lookups check, the best false-positive
/// rate (FPR) of each level for a goal, and which files to rewrite for it.
///
/// A lookup of an absent key checks the filter of every run that may have the key. A false positive
/// wastes one read of a data block in any run, but a bit per key costs memory in proportion to the
/// run's keys. So small runs get precise filters, and the largest a coarse one or none: Dayan,
/// Athanassoulis and Idreos, "Monkey: Optimal Navigable Key-Value Store", SIGMOD 2017. There,
/// filters take log2(1/FPR) bits per key and the FPR of a run is proportional to its keys; here,
/// sizes come from the lookup table (sizing.h).
///
/// What returns no Result may throw std::bad_alloc.

namespace blocksieve {

/// @{
/// Limits of the goals in RateGoal.
inline constexpr double kMinWastedReads = 1e-6;
inline constexpr double kMaxWastedReads = 100;
inline constexpr double kMinAllocatedBitsPerKey = 0.1;
inline constexpr double kMaxAllocatedBitsPerKey = 32;
inline constexpr double kMinSeekFraction = 0.01;
inline constexpr double kMaxSeekFraction = 0.99;
/// @}

inline constexpr double kDefaultSeekFraction = 0.5;  ///< Assumed if the share of seeks is unknown.

/// The kind of a file's filter under `goal`: kAuto and kStock depend on how long the file lives.
/// One that the next compaction rewrites gets the fastest kind, because every lookup probes its
/// filter. Files of compactions and bulk loads live long and get the smallest kind. Measured with a
/// million keys (bench/run filters), ribbon takes a third less space, but 2.6 times as long to
/// build and 1.8 times as long to probe.
inline FilterKind ChooseKind(FilterKind goal, bool is_short_lived) noexcept {
  if (goal == FilterKind::kAuto) {
    return is_short_lived ? FilterKind::kBlockedBloom : FilterKind::kRibbon;
  }
  if (goal != FilterKind::kStock) return goal;
  return is_short_lived ? FilterKind::kStockBloom : FilterKind::kStockRibbon;
}

/// 0 if `whole` is 0.
inline double Ratio(uint64_t part, uint64_t whole) noexcept {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

/// The filter goal of a tree, stated in one of four ways.
struct BLOCKSIEVE_EXPORT RateGoal {
  std::optional<double> target_fpr = std::nullopt;  ///< One FPR for all runs; see ChooseLayout.
  /// Maximum wasted reads per lookup of an absent key, with the least memory.
  std::optional<double> wasted_reads = std::nullopt;
  /// Maximum bits per key on average, with the fewest wasted reads. Filters may need less.
  std::optional<double> bits_per_key = std::nullopt;
  /// Maximum bytes of all filters of the tree, with the fewest wasted reads. Any number: levels
  /// that find no memory have no filters, and no level has range filters if they find none.
  std::optional<double> filter_bytes = std::nullopt;
  /// If set, filters answer range queries, too, and the goal covers both: this share of the reads
  /// that find nothing are seeks, the rest lookups. Requires a goal that differs by run.
  std::optional<double> seek_fraction = std::nullopt;

  /// For ChooseKind. AllocateRates takes the kinds of the levels.
  FilterKind kind = FilterKind::kAuto;
  /// Whether filters also have prefixes of keys, which need a key filter. With bits_per_key and
  /// filter_bytes they take their bits from those of keys.
  bool has_prefixes = false;

  /// Whether FPRs differ between runs.
  bool differs_by_run() const noexcept { return wasted_reads || limits_memory(); }
  /// Whether memory is given, and wasted reads follow.
  bool limits_memory() const noexcept { return bits_per_key || filter_bytes; }

  /// Errors: InvalidArgument if more than one goal is given, a number is outside its limits, or
  /// bits_per_key is less than the coarsest filters with ranges take.
  Status Check() const;
};

/// Sorted runs of one size: the files of level 0, or one deeper level.
struct TreeLevel {
  double num_runs = 1;  ///< Expected number, 0 to 2^30; a fraction if runs exist part of the time.
  double keys_per_run = 0;                ///< Keys in one run, 0 to 2^50.
  FilterKind kind = FilterKind::kRibbon;  ///< Not kNone.
  /// Share of lookups of absent keys that check the filter of one of these runs, 0 to 1. The others
  /// miss the key ranges of its files. Precise filters save little in runs that are rarely checked.
  double lookup_share = 1;

  /// Keys of all runs.
  double num_keys() const noexcept { return num_runs * keys_per_run; }
};

/// The number of keys of all levels.
inline double NumKeys(std::span<const TreeLevel> levels) noexcept {
  double sum = 0;
  for (const TreeLevel& level : levels) sum += level.num_keys();
  return sum;
}

/// Gives an empty level 0 a thousandth of all keys, for the files to come where those of the other
/// levels are known: after a compaction, or to rewrite them. Its precise filters take 1.5 % of one
/// bit per key; those of five thousandths took 5.6 %. With as many keys as level 0 had, a fifth of
/// a budget was left after a compaction of everything.
BLOCKSIEVE_EXPORT void ExpectFewKeysOnLevel0(std::vector<TreeLevel>* levels) noexcept;

/// Sets the kinds that the goal gives to the filters of `levels`, the first of which is level 0.
BLOCKSIEVE_EXPORT void SetKinds(const RateGoal& goal, bool level0_is_short_lived,
                                std::vector<TreeLevel>* levels) noexcept;

/// @{
/// A level whose plan has memory for the smallest filter in some of its files has a mean FPR
/// between kMaxTargetFpr and 1, in proportion to the share of files with filters.
inline double FprOfShare(double share) noexcept { return 1 - share * (1 - kMaxTargetFpr); }
inline double ShareOfFpr(double fpr) noexcept { return (1 - fpr) / (1 - kMaxTargetFpr); }
/// @}

/// Chooses these files, one after the other, in all levels of one tree. Thread-safe.
class FileShares {
 public:
  /// The FPR of the next file's filter in a level with this FPR; 1: no filter.
  double ChooseFpr(double level_fpr) noexcept {
    if (level_fpr <= kMaxTargetFpr) return level_fpr;
    const double share = ShareOfFpr(level_fpr);
    if (credit_.fetch_add(share) + share < 1) return 1;
    credit_.fetch_sub(1);
    return kMaxTargetFpr;
  }

 private:
  std::atomic<double> credit_ = 0.5;  // in files with a filter; so that one file is rounded
};

/// FPRs of a file's filter.
struct FilterRates {
  double target_fpr = 1;  ///< 1: no filter. Above kMaxTargetFpr: FileShares chooses for the file.
  double range_fpr = 1;   ///< Of the range filter, with a seek_fraction.
};

/// FPRs by level, and their cost.
struct RatePlan {
  std::vector<FilterRates> levels = {};  ///< By level number.
  /// Wasted reads per lookup of an absent key: the sum over all runs of FPR times lookup share.
  double wasted_reads = 0;
  /// Memory of all key filters divided by all keys of the tree. Excludes footers, and the rounding
  /// of filters of few keys to whole lines or chunks.
  double bits_per_key = 0;
  /// @{
  /// The same for range filters, with a seek_fraction. Wasted reads are per bounded seek over an
  /// empty range.
  double wasted_seek_reads = 0;
  double range_bits_per_key = 0;
  /// @}
  /// False if no filters waste as few reads as the goal allows, because the tree has too many runs.
  /// All rates are then kMinTargetFpr.
  bool is_reached = true;
};

/// The optimal FPRs for a goal. A range filter, too, takes one more bit per key to halve its FPR,
/// so memory is least where seeks and lookups, weighted by their shares, waste equally many reads.
/// Errors: those of RateGoal::Check; InvalidArgument if no goal is given, no level has a key, or a
/// number is outside its limits; ResourceExhausted if out of memory.
BLOCKSIEVE_EXPORT Result<RatePlan> AllocateRates(std::span<const TreeLevel> levels,
                                                 const RateGoal& goal);

/// FPRs for a tree that compactions keep changing. `levels[i]` describes level i; a level without
/// files has no runs. Differs from AllocateRates, to limit the cost of files that outlive the shape
/// of the tree for which their filters were planned:
///
/// * An empty level 0 is planned with one file, of a quarter of the keys of the smallest level.
/// * Each level has at least 1/32 of the lookups, because their distribution may change.
/// * No file gets an FPR below 1/512 of the tree's wasted reads, or more than 30 bits per key. Some
///   files always move to deeper levels without being rewritten, and all do if keys ascend; this
///   limits what their filters cost there.
/// * Range filters and prefixes are parts of key filters. With a seek_fraction every level has
///   filters, unless filter_bytes leaves no memory for some; with prefixes too, unless that or
///   bits_per_key leaves none.
///
/// Errors: as AllocateRates; InvalidArgument if `levels` is empty.
BLOCKSIEVE_EXPORT Result<RatePlan> AllocateByLevel(std::vector<TreeLevel> levels,
                                                   const RateGoal& goal);

/// FPRs for a file that will be written to `level`; -1: unknown, planned as the level with the
/// largest runs. An empty level gets a run like those of level 0. Errors: as AllocateByLevel;
/// InvalidArgument if there is no such level.
BLOCKSIEVE_EXPORT Result<FilterRates> AllocateForFile(std::vector<TreeLevel> levels, int level,
                                                      const RateGoal& goal);

/// Divides memory among trees, so that they waste the fewest reads together. `lookups[i]`: those of
/// `trees[i]`, in any unit; a tree without any gets next to nothing. Returns bytes for each. Equal
/// parts if no tree has a key and lookups, or a number is outside its limits.
BLOCKSIEVE_EXPORT std::vector<double> DivideBytes(std::span<const std::vector<TreeLevel>> trees,
                                                  std::span<const double> lookups, double bytes);

/// A file of a tree, and its key filter.
struct TreeFile {
  int level = 0;           ///< -1: unknown.
  uint64_t num_keys = 0;   ///< In its filter; without one, entries of the file.
  uint64_t num_bytes = 0;  ///< Size of the file.

  /// @{
  /// The key range, for Tree::SetKeyRanges only. Not owned.
  std::string_view smallest = {};
  std::string_view largest = {};
  /// @}

  /// @{
  /// The key filter, or filters of partitions. Their parts for ranges are not counted.
  bool has_filter = false;                        ///< Of any kind, even unreadable.
  std::optional<FilterKind> kind = std::nullopt;  ///< Not set if it is unknown.
  double fpr = 1;                                 ///< By their model; 1 if nothing is ruled out.
  uint64_t filter_bytes = 0;
  uint64_t num_filters = 1;
  uint64_t num_prefix_hashes = 0;  ///< Hashes of prefixes in the filters, besides `num_keys`.
  /// @}

  size_t id = 0;  ///< For the caller, who may number the files.
};

/// A sorted run: one file of level 0, or all files of a deeper level.
struct TreeRun {
  int level = 0;            ///< 0: one file.
  size_t first_file = 0;    ///< In Tree::files(); the files of a run follow each other.
  size_t num_files = 0;     ///< From first_file on.
  uint64_t num_keys = 0;    ///< Of all files.
  double fpr = 1;           ///< Of the current filters, the mean over the keys.
  double lookup_share = 1;  ///< Share of the lookups that check it.
};

/// An LSM tree: sorted runs, which lookups check from the newest to the oldest until one has the
/// key. Lookups are assumed to be distributed like the keys of the tree.
class BLOCKSIEVE_EXPORT Tree {
 public:
  Tree() = default;

  /// Every lookup checks every run. `files` are in the order of levels, those of level 0 from the
  /// newest to the oldest. `name`: that of the column family. `level0_is_short_lived`: compactions
  /// empty level 0.
  explicit Tree(std::vector<TreeFile> files, std::string name = "",
                bool level0_is_short_lived = true);

  const std::string& name() const { return name_; }              ///< As given.
  const std::vector<TreeFile>& files() const { return files_; }  ///< As given.
  const std::vector<TreeRun>& runs() const { return runs_; }     ///< From the newest to the oldest.
  uint64_t num_keys() const;                                     ///< Of all files.
  uint64_t filter_bytes() const;                                 ///< Of all files.

  // What follows estimates which runs lookups check, each in another way.

  /// From the key ranges of all files: a run is checked only for keys within the range of one of
  /// its files. The share of a range of keys in all lookups is proportional to
  ///
  ///   max over runs of the run's keys in that range
  ///
  /// The sum over runs would count overwritten keys twice. Where runs have different keys in the
  /// same range, like the levels of a tree, the largest run shows the distribution of the keys.
  ///
  /// The keys of a file within a part of its range are interpolated as if keys were numbers. Their
  /// digits are the bytes between the smallest and the largest that occur after the prefix of all
  /// keys, or all bytes if they are too many for text: in decimal keys there is no gap between "19"
  /// and "20". No effect if the ranges show that keys are not in byte order.
  void SetKeyRanges();

  /// From the number of filters that lookups probed, on average: a share of the keys is where every
  /// run has keys, the others are where only one has. No effect if a run has no filters, whose
  /// lookups are not counted. `absent_fraction`: share of lookups of absent keys.
  void SetProbes(double per_lookup, double absent_fraction);

  /// Sets the lookup shares of runs from those of their levels, where these have runs. Does not
  /// affect WastedReads.
  void SetLookupShares(std::span<const TreeLevel> levels);

  /// The levels down to the last one with a run; at least level 0. Their kinds are those of `goal`.
  std::vector<TreeLevel> ToLevels(const RateGoal& goal = {}) const;

  /// Wasted data-block reads per lookup if the filters of run i have the FPR fprs[i] (1: no
  /// filter, as for runs without a number). A lookup of an absent key checks all runs of its
  /// segment, and each wastes a read with its FPR:
  ///
  ///   sum over segments of lookup share × (sum over its runs of FPR)
  ///
  /// A lookup of a present key (all equally likely) wastes reads only in runs newer than the key's:
  /// the mean over all keys of the sum of FPRs over newer runs. `absent_fraction` is the share of
  /// lookups of absent keys, 0 to 1.
  ///
  /// The same holds for range filters and bounded seeks over an empty range.
  double WastedReads(std::span<const double> fprs, double absent_fraction) const;

 private:
  /// A range of keys for which lookups check the same runs. The lookup shares of all segments sum
  /// up to 1, or less if some lookups check no run.
  struct Segment {
    double lookup_share = 0;
    std::vector<std::pair<size_t, double>> parts = {};  ///< Runs and their keys; newest first.
  };
  void SetSegments(std::vector<Segment> segments);

  std::string name_;
  std::vector<TreeFile> files_;
  bool level0_is_short_lived_ = true;
  std::vector<TreeRun> runs_;
  std::vector<Segment> segments_;
};

/// A file whose filter would change.
struct FilterChange {
  size_t file = 0;             ///< In Tree::files().
  double fpr = 1;              ///< Predicted, of the new filter; 1: it has none.
  uint64_t filter_bytes = 0;   ///< Size of the new key filter.
  bool changes_parts = false;  ///< Whether its parts for ranges change; set by PlanRewrites.
  double saved_reads = 0;      ///< Per lookup of an absent key; negative if more are wasted.
  int64_t saved_bytes = 0;     ///< Negative if the new filter is larger.

  /// Orders changes by saved reads, then by saved memory, descending.
  static bool SavesMore(const FilterChange& a, const FilterChange& b) noexcept;
};

/// The filters of a tree after some of them change.
struct FilterPlan {
  RateGoal goal = {};                      ///< As given.
  std::vector<TreeLevel> levels = {};      ///< For which the rates were allocated.
  RatePlan rates = {};                     ///< Of `levels`.
  std::vector<FilterChange> changes = {};  ///< Sorted by FilterChange::SavesMore.

  /// Predicted rate by run; partly filled lines and segments make it lower than the target.
  std::vector<double> fprs = {};
  uint64_t filter_bytes = 0;     ///< Key filters of all files, with footers.
  uint64_t rewritten_bytes = 0;  ///< Bytes of the files in `changes`.
  uint64_t rewritten_keys = 0;   ///< Their keys.
};

/// The filters of AllocateByLevel. Files that have them already do not change. `in_place`: files
/// are rewritten on their level, so that flushed files get the filter of a compaction. Errors: as
/// AllocateRates.
BLOCKSIEVE_EXPORT Result<FilterPlan> PlanFilters(const Tree& tree, const RateGoal& goal,
                                                 bool in_place = false);

/// A change must save this share of the wasted reads or of the memory.
inline constexpr double kMinGain = 0.05;

/// Whether something holds for a file with this number.
using FilePredicate = std::function<bool(size_t file)>;

/// PlanFilters in place, with the changes of files that are worth rewriting: of those for which
/// `is_chosen` holds, files whose filters gain kMinGain, and those for which `changes_parts` holds.
/// Plans differ a little after every compaction, as rates depend on the keys of levels, and lookup
/// shares are estimates; files that were just rewritten do not qualify again because of that.
BLOCKSIEVE_EXPORT Result<FilterPlan> PlanRewrites(const Tree& tree, const RateGoal& goal,
                                                  const FilePredicate& is_chosen,
                                                  const FilePredicate& changes_parts);

/// The plan with these changes, whose savings it computes. Has no goal, levels and rates.
BLOCKSIEVE_EXPORT FilterPlan PlanChanges(const Tree& tree, std::vector<FilterChange> changes);

/// Wasted reads and memory of filters.
struct Prediction {
  double wasted_reads_absent = 0;  ///< Per lookup of an absent key.
  double wasted_reads = 0;         ///< Per lookup, whether or not the key is absent.
  uint64_t filter_bytes = 0;       ///< Of all files.
};

// Several trees are the column families of a database. Lookups are assumed to be distributed over
// them as the keys are.

/// Tree::WastedReads of all trees. `fprs`: by run, those of one tree after those of another.
BLOCKSIEVE_EXPORT double WastedReads(std::span<const Tree> trees, std::span<const double> fprs,
                                     double absent_fraction);

/// @{
/// The present filters, and those of plans, one for each tree.
BLOCKSIEVE_EXPORT Prediction Predict(std::span<const Tree> trees, double absent_fraction);
BLOCKSIEVE_EXPORT Prediction Predict(std::span<const Tree> trees, std::span<const FilterPlan> plans,
                                     double absent_fraction);
/// @}

}  // namespace blocksieve
