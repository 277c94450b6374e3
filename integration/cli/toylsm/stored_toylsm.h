#pragma once

#include <string>

#include "blocksieve/skip_index_summary.h"
#include "integration/toylsm/recovery.h"

namespace blocksieve::cli {

/// A toy LSM as it was when this was made, read without opening it: nothing is written, and another
/// process may have it open.
class StoredToyLsm {
 public:
  /// Throws Failure.
  explicit StoredToyLsm(const std::string& path);
  StoredToyLsm(const StoredToyLsm&) = delete;
  StoredToyLsm& operator=(const StoredToyLsm&) = delete;

  const std::string& path() const { return path_; }
  const toylsm::Version& version() const { return *recovered_.version; }
  toylsm::View view() const { return recovered_.view(); }
  toylsm::Counters& counters() { return counters_; }
  toylsm::ReadContext context() { return {&counters_, &cache_}; }

 private:
  const std::string path_;
  toylsm::Counters counters_;
  toylsm::BlockCache cache_;
  toylsm::Recovered recovered_;
};

/// The indexes of all files. Reads these, but no data.
SkipIndexSummary IndexesOf(const toylsm::Version& version, const toylsm::ReadContext& context);

/// "000012.sst"
std::string FileName(const toylsm::SstReader& file);

/// Why the file has no index; empty if it has one.
std::string IndexProblem(const toylsm::SstReader& file, const toylsm::ReadContext& context);

}  // namespace blocksieve::cli
