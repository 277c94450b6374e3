#include "integration/rocksdb/levels/read_samples.h"

#include <algorithm>

namespace blocksieve::rocksdb_plugin {
namespace {

// Samples of the level that is checked most: one standard error of a share of a quarter is then 12
// %.
constexpr double kMinSamples = 256;
// Old samples are forgotten by halves, so that a change shows.
constexpr double kMaxSamples = 16 * kMinSamples;

}  // namespace

void ReadSamples::Note(const rocksdb::ColumnFamilyMetaData& column_family) {
  std::map<uint64_t, uint64_t> counts;
  checked_.resize(std::max(checked_.size(), column_family.levels.size()));
  for (const auto& level : column_family.levels) {
    // Each file of level 0 is a run.
    const double runs = level.level == 0 ? static_cast<double>(level.files.size()) : 1;
    for (const auto& file : level.files) {
      const auto before = counts_.find(file.file_number);
      const uint64_t old = before == counts_.end() ? 0 : before->second;
      // It is counted from 0 again when RocksDB opens the database.
      const uint64_t since = file.num_reads_sampled - std::min(old, file.num_reads_sampled);
      checked_[static_cast<size_t>(level.level)] += static_cast<double>(since) / runs;
      counts[file.file_number] = file.num_reads_sampled;
    }
  }
  counts_ = std::move(counts);
  if (checked_.empty() || *std::max_element(checked_.begin(), checked_.end()) <= kMaxSamples)
    return;
  for (double& checked : checked_) checked /= 2;
}

void ReadSamples::SetShares(lsm::Levels* levels) const {
  const double most = checked_.empty() ? 0 : *std::max_element(checked_.begin(), checked_.end());
  if (most < kMinSamples) return;
  for (size_t i = 0; i < std::min(levels->size(), checked_.size()); ++i) {
    (*levels)[i].lookup_share = checked_[i] / most;
  }
}

}  // namespace blocksieve::rocksdb_plugin
