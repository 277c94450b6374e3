#include "integration/rocksdb/levels/read_samples.h"

#include <algorithm>

#include "integration/rocksdb/levels/run_shares.h"

namespace blocksieve::rocksdb_plugin {
namespace {

// Of the level that is asked most: one standard error of a share of a quarter is then 12 %.
constexpr double kEnough = 256;
// Old samples are forgotten by halves, so that a change shows.
constexpr double kMost = 16 * kEnough;

}  // namespace

void ReadSamples::Note(const rocksdb::ColumnFamilyMetaData& column_family) {
  std::map<uint64_t, uint64_t> counts;
  asked_.resize(std::max(asked_.size(), column_family.levels.size()));
  for (const auto& level : column_family.levels) {
    // Each file of level 0 is a run.
    const double runs = level.level == 0 ? static_cast<double>(level.files.size()) : 1;
    for (const auto& file : level.files) {
      const auto before = counts_.find(file.file_number);
      const uint64_t old = before == counts_.end() ? 0 : before->second;
      // It is counted from 0 again when RocksDB opens the database.
      const uint64_t since = file.num_reads_sampled - std::min(old, file.num_reads_sampled);
      asked_[static_cast<size_t>(level.level)] += static_cast<double>(since) / runs;
      counts[file.file_number] = file.num_reads_sampled;
    }
  }
  counts_ = std::move(counts);
  if (asked_.empty() || *std::max_element(asked_.begin(), asked_.end()) <= kMost) return;
  for (double& asked : asked_) asked /= 2;
}

std::optional<std::vector<double>> ReadSamples::Shares() const {
  const double most = asked_.empty() ? 0 : *std::max_element(asked_.begin(), asked_.end());
  if (most < kEnough) return std::nullopt;
  std::vector<double> shares = asked_;
  for (double& share : shares) share = std::max(share / most, kLeastShareOfLookups);
  return shares;
}

}  // namespace blocksieve::rocksdb_plugin
