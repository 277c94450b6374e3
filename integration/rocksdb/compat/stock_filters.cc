// SPDX-License-Identifier: Apache-2.0
#include "integration/rocksdb/compat/stock_filters.h"

#include <rocksdb/convenience.h>

#include <cmath>
#include <string>
#include <utility>

#include "integration/rocksdb/compat/option_type.h"
#include "lib/base/c_locale.h"

namespace blocksieve::rocksdb_plugin {
namespace {

thread_local bool is_making_stock_policy = false;

struct MakingStockPolicy {
  ~MakingStockPolicy() { is_making_stock_policy = before; }
  const bool before = std::exchange(is_making_stock_policy, true);
};

}  // namespace

// From an option string, which every generation of the interface has.
std::shared_ptr<const rocksdb::FilterPolicy> NewStockPolicy(FilterKind kind, double bits_per_key) {
  const internal::CLocale c_locale;  // RocksDB parses numbers in the current locale
  const MakingStockPolicy making;
  const std::string bits = ToText(std::round(bits_per_key * 1000) / 1000);
  // -1: Ribbon filters on every level, in files of flushes, too.
  const std::string text = kind == FilterKind::kStockBloom ? "bloomfilter:" + bits + ":false"
                                                           : "ribbonfilter:" + bits + ":-1";
  std::shared_ptr<const rocksdb::FilterPolicy> policy;
  const rocksdb::Status status = rocksdb::FilterPolicy::CreateFromString(Strict(), text, &policy);
  return status.ok() ? policy : nullptr;
}

const rocksdb::FilterPolicy* StockPolicies::ForLayout(const Layout& layout) {
  const std::lock_guard lock(mutex_);
  auto& policy = by_rate_[{layout.kind, layout.predicted_fpr}];
  if (policy == nullptr) {
    policy = NewStockPolicy(layout.kind, StockBitsPerKey(layout.kind, layout.predicted_fpr));
  }
  return policy.get();
}

const rocksdb::FilterPolicy* StockReader() {
  static const auto& policy = *new auto(NewStockPolicy(FilterKind::kStockBloom, 10));
  return policy.get();
}

bool IsMakingStockPolicy() noexcept { return is_making_stock_policy; }

}  // namespace blocksieve::rocksdb_plugin
