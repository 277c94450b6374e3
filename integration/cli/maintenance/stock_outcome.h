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

/// Whether this program can build filters by this value of filter_policy.
bool IsKnownPolicy(const std::string& policy);

/// What becomes of the filters of a file if a policy of RocksDB's own builds them: a few are built
/// in memory, and described as those of a database are. Not thread-safe.
class StockOutcome {
 public:
  struct Filter {
    double fpr = 1;
    uint64_t num_bytes = 0;
  };

  /// `policy` is a value of filter_policy, "nullptr" for none. Throws Failure if the options of the
  /// database cannot be read.
  StockOutcome(const std::string& database, const std::string& family, const std::string& policy);

  /// As many filters as the file has today, of as many keys. Nothing if the policy is not known to
  /// this program. Throws std::bad_alloc.
  std::optional<Filter> Of(const FileReport& file);

 private:
  Filter Build(int level, uint64_t num_keys) const;

  rocksdb::BlockBasedTableOptions table_;
  std::shared_ptr<const rocksdb::FilterPolicy> policy_;
  bool is_known_ = false;
  std::map<std::pair<int, uint64_t>, Filter> built_;  // by level and keys
};

}  // namespace blocksieve::cli
