#pragma once

#include <rocksdb/filter_policy.h>
#include <rocksdb/table.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "integration/cli/database/table/file_report.h"

namespace blocksieve::cli {

/// Whether this program can create the policy named by a filter_policy value.
bool IsKnownPolicy(const std::string& policy);

/// Predicts the filters of a stock policy for a file, by building some in memory. Not thread-safe.
class StockOutcome {
 public:
  struct Filter {
    double fpr = 1;
    uint64_t num_bytes = 0;
  };

  /// `policy` is a value of filter_policy, "nullptr" for none. Throws Failure if the options of the
  /// database cannot be read.
  StockOutcome(const std::string& database, const std::string& family, const std::string& policy);

  /// Predicts as many filters as the file has now, with as many keys. nullopt if this program does
  /// not have the policy. Throws std::bad_alloc.
  std::optional<Filter> Of(const FileReport& file);

 private:
  Filter Build(int level, uint64_t num_keys) const;

  rocksdb::BlockBasedTableOptions table_;
  std::shared_ptr<const rocksdb::FilterPolicy> policy_;
  bool is_known_ = false;
  std::map<std::pair<int, uint64_t>, Filter> built_;  // by level and keys
};

}  // namespace blocksieve::cli
