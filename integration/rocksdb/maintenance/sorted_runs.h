#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "integration/rocksdb/maintenance/file_report.h"
#include "lib/lsm/tree.h"

// The files of a database as sorted runs.

namespace blocksieve::rocksdb_plugin {

/// FilterReport::num_entries of the file's filter, or without a readable filter, the entries of the
/// file.
uint64_t FilterKeys(const FileReport& file);

/// Bytes of the file's key filters, without range filters and prefixes.
uint64_t PointBytes(const FilterReport& filter);

struct SortedRun {
  int level = 0;
  std::vector<const FileReport*> files;  ///< At least one; not owned.
  uint64_t num_keys = 0;                 ///< The sum of their FilterKeys.
  double fpr = 1;                        ///< Mean of the current filters over the keys.
};

/// The runs of one column family, the newest first.
struct RunList {
  std::string family;
  std::vector<SortedRun> runs;

  /// The model of the runs. Every lookup checks every run, unless SetCoverage was called.
  lsm::Tree tree;

  /// The levels as the policy knows them, for its lookup shares; empty: those of the tree.
  lsm::Levels known = {};

  uint64_t num_keys() const;
  uint64_t filter_bytes() const;  ///< The sum of PointBytes.
  bool answers_ranges() const;    ///< As in FilterReport, any file.

  /// The levels of the tree. `kind`: that of all filters; nullopt: kind=auto.
  lsm::Levels Levels(std::optional<FilterKind> kind) const;
};

/// One list for each column family. `files` must outlive them and be in the order of ListFiles.
std::vector<RunList> SortIntoRuns(const std::vector<FileReport>& files);

/// The share of a file's entries, 0 to 1, that sort before a key within the file's key range.
using ShareBefore = std::function<double(const FileReport& file, std::string_view key)>;

/// Computes which runs lookups check, from the key ranges of the files. No effect if the key range
/// of a file is unknown.
void SetCoverage(const ShareBefore& share_before, RunList* list);

/// The runs, one span for each level.
std::vector<std::span<const SortedRun>> ByLevel(const std::vector<SortedRun>& runs);

/// The runs for lib/lsm.
std::vector<lsm::Run> ModelOf(const std::vector<SortedRun>& runs);

}  // namespace blocksieve::rocksdb_plugin
