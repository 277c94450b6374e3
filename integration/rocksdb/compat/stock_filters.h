#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <rocksdb/filter_policy.h>

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "blocksieve/bytes.h"
#include "blocksieve/sizing.h"

// RocksDB's own filters: the policies that build and read them, and what their bytes say. Their
// sizes and rates are those of blocksieve/sizing.h.

namespace blocksieve::rocksdb_plugin {

/// A policy of RocksDB that builds filters of this stock kind. Its option is rounded to thousandths
/// of a bit. Below format_version 5, its Bloom filters are RocksDB's legacy ones, of whole bits per
/// key. Null if RocksDB has no such policy. Throws std::bad_alloc.
std::shared_ptr<const rocksdb::FilterPolicy> NewStockPolicy(FilterKind kind, double bits_per_key);

/// RocksDB's policies for all layouts of stock kinds. Each is made once, and lives as long as this
/// object: under optimize_filters_for_memory a policy balances filters that are larger than asked
/// for with smaller ones, and its builders refer to it. Thread-safe.
class StockPolicies {
 public:
  /// Null if RocksDB has no such policy. Throws std::bad_alloc.
  const rocksdb::FilterPolicy* ForLayout(const Layout& layout);

 private:
  std::mutex mutex_;
  std::map<std::pair<FilterKind, double>, std::shared_ptr<const rocksdb::FilterPolicy>> by_rate_;
};

/// A policy that reads every stock filter of RocksDB. It lives as long as the process, as readers
/// may be closed while static destructors run. Null if RocksDB has no such policy. Thread-safe.
const rocksdb::FilterPolicy* StockReader();

/// What the trailer of a stock filter says.
struct StockFilter {
  std::optional<FilterKind> kind = std::nullopt;  ///< kStockBloom or kStockRibbon.
  bool is_legacy_bloom = false;                   ///< Without one of these kinds.
  double fpr = 1;                                 ///< By the model of the kind.
  int8_t marker = 0;                              ///< Its first byte, which tells the kind.
  const char* problem = "";                       ///< Why it is damaged; empty if it is not.
};

/// Describes a filter that HasFilterBlockTail does not hold for, with this many bits per entry.
StockFilter DescribeStockFilter(ByteView contents, double bits_per_entry);

/// Whether this thread is in NewStockPolicy. RocksDB then calls its own functions that make
/// policies, which the plug-in may have replaced (shared_plugin.cc).
bool IsMakingStockPolicy() noexcept;

}  // namespace blocksieve::rocksdb_plugin
