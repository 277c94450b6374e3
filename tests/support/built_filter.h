#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <rocksdb/filter_policy.h>
#include <rocksdb/table.h>

#include <memory>
#include <string>
#include <vector>

#include "integration/rocksdb/compat/filter_bits_abi.h"

// Filters built and probed as by RocksDB, but without a database.

namespace blocksieve::testing {

/// Table options without optimize_filters_for_memory, whose default differs by version.
inline rocksdb::BlockBasedTableOptions NotFittedToMemory() {
  rocksdb::BlockBasedTableOptions options;
  options.optimize_filters_for_memory = false;
  return options;
}

inline std::unique_ptr<rocksdb::FilterBitsBuilder> NewBuilder(
    const rocksdb::FilterPolicy& policy,
    const rocksdb::BlockBasedTableOptions& table_options = NotFittedToMemory(),
    rocksdb::Logger* info_log = nullptr) {
  rocksdb::FilterBuildingContext context(table_options);
  context.info_log = info_log;
  return std::unique_ptr<rocksdb::FilterBitsBuilder>(policy.GetBuilderWithContext(context));
}

struct BuiltFilter {
  std::unique_ptr<const char[]> memory;
  rocksdb::Slice contents;
  rocksdb::Status status;
};

inline BuiltFilter Finish(rocksdb::FilterBitsBuilder* builder) {
  BuiltFilter filter;
  filter.contents = builder->Finish(&filter.memory, &filter.status);
  return filter;
}

inline BuiltFilter Build(rocksdb::FilterBitsBuilder* builder,
                         const std::vector<std::string>& keys) {
  for (const std::string& key : keys) builder->AddKey(key);
  return Finish(builder);
}

inline BuiltFilter BuildFilter(const rocksdb::FilterPolicy& policy,
                               const std::vector<std::string>& keys) {
  return Build(NewBuilder(policy).get(), keys);
}

inline std::unique_ptr<rocksdb::FilterBitsReader> NewReader(const rocksdb::FilterPolicy& policy,
                                                            const rocksdb::Slice& contents) {
  return std::unique_ptr<rocksdb::FilterBitsReader>(policy.GetFilterBitsReader(contents));
}

/// The number of keys that may match, probed one by one.
inline size_t CountMatches(rocksdb::FilterBitsReader* reader,
                           const std::vector<std::string>& keys) {
  size_t matches = 0;
  for (const std::string& key : keys) matches += reader->MayMatch(key);
  return matches;
}

inline size_t CountMatches(const rocksdb::FilterPolicy& policy, const BuiltFilter& filter,
                           const std::vector<std::string>& keys) {
  return CountMatches(NewReader(policy, filter.contents).get(), keys);
}

}  // namespace blocksieve::testing
