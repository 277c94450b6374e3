#pragma once

#include <rocksdb/db.h>
#include <rocksdb/env.h>
#include <rocksdb/options.h>
#include <rocksdb/statistics.h>

#include <cstdint>
#include <memory>
#include <string>

#include "bench/levels/results.h"

namespace blocksieve::bench::levels {

/// Sizes of a tree. Level 1, or with dynamic level sizes the smallest one that is used, has the
/// keys of about four flushes, as many as start a compaction.
struct TreeShape {
  double size_ratio = 10;
  bool has_dynamic_levels = false;
  uint64_t keys_per_flush = 0;
};

/// A database that is filled in random order of the keys, flush by flush. Between two flushes it is
/// left alone until there is nothing more to compact, so that the tree depends on nothing but its
/// shape and the keys: all contestants have the same one. It lies in memory: blocks are counted,
/// and no times are measured.
class Tree {
 public:
  Tree(const TreeShape& shape, const std::string& policy);

  void Flushes(int count);
  void Reopen();

  /// Looks absent keys up, spread over all keys. The same ones for all trees.
  Measurement Measure(uint64_t lookups);

 private:
  void WaitForCompactions();
  std::vector<Run> Runs();

  const TreeShape shape_;
  const std::unique_ptr<rocksdb::Env> env_;
  rocksdb::Options options_;
  std::shared_ptr<rocksdb::Statistics> statistics_;
  std::unique_ptr<rocksdb::DB> db_;
  uint64_t next_key_ = 0;
};

}  // namespace blocksieve::bench::levels
