#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "integration/cli/advise/plan_search.h"
#include "integration/rocksdb/maintenance/seek_sample.h"

// The savings of range filters and of prefixes in key filters, estimated by building some from the
// keys of the database.

namespace blocksieve::cli {

using rocksdb_plugin::KeysOfFile;
using rocksdb_plugin::RunPart;
using rocksdb_plugin::RunSeeks;
using rocksdb_plugin::SeekSample;

struct SeekWorkload {
  double fraction = 0;  ///< Share of reads that are seeks with an upper bound; others are lookups.
  double range_width = 0;  ///< Mean number of keys between a seek key and its upper bound.
};

struct SeekRequest {
  SeekWorkload seeks;
  std::string prefixes = {};  ///< Boundaries; empty: those of the files, or chosen from the keys.
  double wasted_per_lookup;   ///< With current filters.

  /// @{
  /// Planned key filters, which have the prefixes.
  double target_fpr = 0.01;
  double planned_wasted_per_lookup;
  uint64_t key_filter_bytes = 0;
  /// @}

  std::string nothing_pays{};  ///< Why no kind of filter pays, or "".
};

/// Range filters or prefixes of all runs.
struct PartAdvice {
  uint64_t num_bytes = 0;

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
  SeekRequest request;
  std::string rule;            ///< The option prefixes of the proposal; empty: none.
  std::vector<RunSeeks> runs;  ///< By run, those of one tree after those of another.

  /// Share of seeks that find nothing; only they are predicted to gain. exp(-range_width), assuming
  /// that keys are spread at random.
  double empty_share = 1;

  PartAdvice ranges;
  PartAdvice prefixes;

  /// @{
  /// Whether the proposal has the part: it is worth it, or neither is but this one can be built.
  bool has_ranges() const { return Has(ranges, prefixes); }
  bool has_prefixes() const { return Has(prefixes, ranges); }
  /// @}

  /// The proposal, and the size of all its filters.
  FilterPolicyOptions Policy() const;
  uint64_t FilterBytes() const;

 private:
  static bool Has(const PartAdvice& part, const PartAdvice& other) {
    return part.num_bytes != 0 && (part.is_worth() || !other.is_worth());
  }
};

/// Maximum number of files of a run that are sampled.
inline constexpr size_t kSampledFiles = 3;

/// Shows progress: `doing` and the name of the file.
KeysOfFile KeysInFiles(const std::string& doing);

/// REQUIRES: a column family; `request.prefixes` can be parsed.
SeekAdvice AdviseSeeks(const Forest& forest, const SeekRequest& request,
                       const KeysOfFile& keys_of_file);

}  // namespace blocksieve::cli
