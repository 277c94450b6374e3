#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "blocksieve/tree.h"
#include "integration/cli/database/filter_options.h"
#include "integration/cli/database/report.h"
#include "integration/cli/database/table/table_file.h"
#include "integration/rocksdb/maintenance/metrics.h"
#include "integration/rocksdb/maintenance/seek_sample.h"

namespace blocksieve::cli {

// The column families of a database, and searches for the filters that blocksieve would build for
// them within a limit.

/// The column families of a database that have keys.
struct Forest {
  std::vector<FileReport> files;
  std::vector<Tree> trees;  ///< As BuildTrees makes them of `files`.

  uint64_t num_keys() const;
  size_t num_runs() const;
};

/// The plans for all column families, one for each tree.
using Plans = std::vector<FilterPlan>;

/// The sum of a member over the plans.
uint64_t AddUp(const Plans& plans, uint64_t FilterPlan::*member);

/// A level with runs.
struct ForestLevel {
  size_t tree = 0;  ///< Number in the forest.
  int number = 0;   ///< -1: unknown.
  std::span<const TreeRun> runs;
  size_t first_run = 0;     ///< Number of its first run in the forest.
  uint64_t num_keys = 0;    ///< Of all its runs.
  double lookup_share = 0;  ///< Of the column family's lookups, for each run.

  size_t index() const { return static_cast<size_t>(std::max(number, 0)); }
  const TreeLevel& In(const Plans& plans) const { return plans[tree].levels[index()]; }
  const FilterRates& RatesIn(const Plans& plans) const { return plans[tree].rates.levels[index()]; }
};

/// All levels that have runs, those of one tree after those of another.
std::vector<ForestLevel> ListLevels(const Forest& forest);

/// What filters must not exceed.
struct PlanLimit {
  std::optional<uint64_t> memory = std::nullopt;      ///< Bytes of all filters.
  std::optional<double> wasted_reads = std::nullopt;  ///< Per lookup of an absent key.
};

using rocksdb_plugin::KeysOfFile;
using rocksdb_plugin::ObservedReads;
using rocksdb_plugin::RunPart;
using rocksdb_plugin::RunSeeks;

// The savings of range filters and of prefixes in key filters, estimated by building some from the
// keys of the database.

/// Range filters or prefixes of all runs.
struct PartAdvice {
  std::vector<RunPart> runs;  ///< Those of one tree after those of another.
  uint64_t num_bytes = 0;     ///< Of all runs.

  /// Data blocks that a seek reads if it finds nothing, in a short range or below an absent prefix:
  /// one of each run that covers its key and is not ruled out.
  double current_blocks = 0;
  double blocks = 0;

  /// Wasted data block reads per read of any kind, if all seeks are of this kind: with current
  /// filters, and with the planned key filters and this part.
  double current_wasted_reads = 0;
  double wasted_reads = 0;

  std::string do_not_pay;    ///< The reason, or empty if they pay.
  bool is_in_files = false;  ///< They do not pay because the files have them already.

  /// Whether a proposal without the part would waste more reads.
  bool is_worth() const { return num_bytes != 0 && (do_not_pay.empty() || is_in_files); }
};

struct SeekAdvice {
  double target_fpr = 0;          ///< Of the planned key filters, which have the prefixes.
  uint64_t key_filter_bytes = 0;  ///< Of the planned ones.
  std::string rule;               ///< The option prefixes of the proposal; empty: none.

  PartAdvice ranges;
  PartAdvice prefixes;

  /// Whether the proposal has the part: it is worth it, or neither is but this one can be built.
  bool has_ranges() const { return Has(ranges, prefixes); }
  bool has_prefixes() const { return Has(prefixes, ranges); }

  /// The proposal, and the size of all its filters.
  EnableOptions Policy() const;
  uint64_t FilterBytes() const;

 private:
  static bool Has(const PartAdvice& part, const PartAdvice& other) {
    return part.num_bytes != 0 && (part.is_worth() || !other.is_worth());
  }
};

/// Shows progress: `doing` and the name of the file.
KeysOfFile KeysInFiles(const std::string& doing);

/// What a column of a binary number in the key would save, by one or two exact intervals of each
/// block. Shares are of what the sampled files have.
struct WindowColumn {
  std::string column;  ///< Its definition: "key:uint64be(8)".
  double blocks_read = 1;
  double files_read = 1;
};

struct WindowAdvice {
  double window = 0;                       ///< Share of the values that a window has.
  size_t files_sampled = 0;                ///< Spread over all.
  std::vector<WindowColumn> columns = {};  ///< At most three, the best first.
};

struct AdviceRequest {
  PlanLimit limit;              ///< None or one.
  double absent_fraction = 1;   ///< Share of lookups whose key is absent.
  std::string cache_is_enough;  ///< Why no filter pays; "" if it may.

  /// Share of reads that are seeks with an upper bound; others are lookups. Set to evaluate range
  /// filters and prefixes.
  std::optional<double> seek_fraction;
  double range_width =
      0.01;              ///< Mean keys between a seek key and its bound. Short ranges gain most.
  std::string prefixes;  ///< Boundaries; empty: those of the files, or chosen from the keys.

  std::optional<double> window;  ///< Share of the values of a column; set to look for columns.

  /// Share of seeks that find nothing, if keys are spread at random; only they are predicted to
  /// gain.
  double empty_share() const { return std::exp(-range_width); }
};

/// Range filters and prefixes beside planned key filters of one rate. REQUIRES: a column family,
/// request.seek_fraction, and prefixes that can be parsed.
SeekAdvice AdviseSeeks(const Forest& forest, const AdviceRequest& request, const Plans& planned,
                       const KeysOfFile& keys_of_file);

/// Reads the keys of up to 64 files.
WindowAdvice AdviseWindow(const Forest& forest, double window, const KeysOfFile& keys_of_file);
std::string ToText(const WindowAdvice& advice);
Json ToJson(const WindowAdvice& advice);

struct Proposal {
  std::string name;  ///< "same memory", "same reads", "one rate", "requested", "usual", "stock".
  Plans plans;
  Prediction prediction;

  EnableOptions policy() const {
    const RateGoal& goal = plans.front().goal;
    return {.target_fpr = goal.target_fpr,
            .wasted_reads = goal.wasted_reads,
            .bits_per_key = goal.bits_per_key,
            .kind = goal.kind};
  }
};

/// The advice for all column families together, which get the same options.
struct Advice {
  AdviceRequest request;
  Forest forest;
  Prediction without;  ///< Without any filter.
  Prediction current;
  /// Only "requested" may waste more reads or memory than the current filters, if there are any.
  std::vector<Proposal> proposals;
  /// RocksDB's own filters by level, for who cannot load a plug-in everywhere, in the memory of the
  /// current filters or the first proposal. Set if there are proposals.
  std::optional<Proposal> stock;
  std::string why_refused;              ///< Why no filters meet the requested limit; "" if some do.
  std::string no_filter_pays;           ///< The reason, or empty if filters pay.
  std::optional<SeekAdvice> seeks;      ///< Set if requested and there are keys.
  std::optional<WindowAdvice> windows;  ///< The same.
};

/// Filters pay if they can save at least this many data-block reads per lookup, and the block cache
/// does not hold all files: lookups read nothing from files that it holds.
inline constexpr double kMinSavedReads = 0.001;

/// The trees of files, with the shares of lookups by their key ranges.
Forest BuildForest(std::vector<FileReport> files);

/// The reason, or "" if filters may pay. `cache_bytes`: of the block cache, which all column
/// families share, as `num_bytes` of all files.
std::string WhyCacheIsEnough(uint64_t num_bytes, uint64_t cache_bytes);
std::string WhyNoFilterPays(const Forest& forest, double absent_fraction,
                            const std::string& cache_is_enough);

/// Reads keys only if seeks are requested.
Advice Advise(Forest forest, const AdviceRequest& request, const KeysOfFile& keys_of_file);

/// The recommendation.
struct Verdict {
  std::string text;                          ///< One or two sentences.
  std::string proposal = {};                 ///< Name of the recommended one; "": no change.
  std::optional<EnableOptions> policy = {};  ///< Its options.
};

/// Compares `after` with `before`: "14 times fewer wasted reads and 31 % less memory".
std::string DifferenceText(const Prediction& before, const Prediction& after);

Verdict JudgeAdvice(const Advice& advice);

/// Tables and option strings. `to_set_stock`: the command, or option, that sets advice.stock.
std::string ToText(const Advice& advice, const std::string& to_set_stock);

Json ToJson(const Advice& advice);

/// Share of the lookups whose key was absent; 0 without any. nullopt if a counter is missing.
std::optional<double> AbsentFraction(const ObservedReads& reads);

/// Probes of filters per lookup; nullopt if none was counted.
std::optional<double> ProbesPerLookup(const ObservedReads& reads);

/// A few lines of text. `predicted`: wasted reads per lookup by the model of the tree, if there is
/// only one column family.
std::string ToText(const ObservedReads& reads, std::optional<double> predicted);

Json ToJson(const ObservedReads& reads);

/// A table of the levels of the forest, with columns that show members that `add` sets. `lookups`:
/// header of the share of the lookups, or of other reads, that check a run.
std::string LevelTable(const Forest& forest, const char* lookups,
                       const std::vector<TableColumn>& columns,
                       const std::function<void(const ForestLevel&, Json*)>& add);

/// The parts about range filters and prefixes in the two above. REQUIRES: advice.seeks
std::string SeeksText(const Advice& advice);
void AddSeeksTo(const Advice& advice, Json* document);

}  // namespace blocksieve::cli
