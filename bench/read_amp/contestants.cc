// SPDX-License-Identifier: Apache-2.0
#include "bench/read_amp/contestants.h"

#include <rocksdb/convenience.h>

#include "bench/support/terminal.h"
#include "blocksieve/rocksdb/enable.h"
#include "blocksieve/sizing.h"

namespace blocksieve::bench::read_amp {
namespace {

constexpr double kStockDefaultBits = 10;

// Settings at which filters take the memory of stock Bloom filters of kStockDefaultBits, as the
// column "filter bits per key" shows. Ribbons take their footers besides the bits of their layout.
// Level by level, the largest one was filled first, when it was the whole tree.
constexpr double kStockRibbonBits = 10.2;
constexpr double kRibbonBits = 9.9;
constexpr double kBitsByLevel = 9.6;

double FprOf(FilterKind kind, double bits_per_key) {
  return LayoutForBitsPerKey(kind, bits_per_key)->predicted_fpr;
}

// The option string of stock Ribbon filters of this FPR. -1: on every level, flushes included.
std::string StockRibbon(double fpr) {
  return fmt::format("ribbonfilter:{:.3f}:-1", StockBitsPerKey(FilterKind::kStockRibbon, fpr));
}

// Empty `policy`: without filters.
LookupContestant WithPolicy(std::string role, std::string name, const std::string& policy) {
  if (policy.empty()) return {{std::move(name), {}}, std::move(role)};
  const auto made = PolicyFromString(policy);
  const auto set_up = [made](rocksdb::Options& options) {
    TableOptions(options).filter_policy = made;
    options.listeners.push_back(NewListener());  // reports the levels to policies that ask for them
  };
  return {{std::move(name), set_up}, std::move(role)};
}

}  // namespace

std::vector<LookupContestant> MakeContestants(double target_fpr) {
  const std::string at_target = fmt::format("{:g} %", target_fpr * 100);
  const double bloom_bits = StockBitsPerKey(FilterKind::kStockBloom, target_fpr);
  const auto blocksieve_ribbon = [](double fpr) {
    return fmt::format("{{id=blocksieve;target_fpr={};kind=ribbon}}", fpr);
  };
  return {
      WithPolicy("no_filter", "no filter", ""),
      WithPolicy("stock_default", "stock Bloom, 10 bits",
                 fmt::format("bloomfilter:{}:false", kStockDefaultBits)),
      WithPolicy("ribbon_in_memory", "stock Ribbon, 10 bits",
                 StockRibbon(FprOf(FilterKind::kStockRibbon, kStockRibbonBits))),
      WithPolicy("same_memory", "blocksieve ribbon, 10 bits",
                 blocksieve_ribbon(FprOf(FilterKind::kRibbon, kRibbonBits))),
      WithPolicy("by_level", "blocksieve, 10 bits by level",
                 fmt::format("{{id=blocksieve;bits_per_key={}}}", kBitsByLevel)),
      WithPolicy("stock_bloom", "stock Bloom, " + at_target,
                 fmt::format("bloomfilter:{:.3f}:false", bloom_bits)),
      WithPolicy("stock_ribbon", "stock Ribbon, " + at_target, StockRibbon(target_fpr)),
      WithPolicy("blocksieve", "blocksieve bloom, " + at_target,
                 fmt::format("{{id=blocksieve;target_fpr={};kind=bloom}}", target_fpr)),
      WithPolicy("blocksieve", "blocksieve ribbon, " + at_target, blocksieve_ribbon(target_fpr)),
  };
}

std::shared_ptr<const rocksdb::FilterPolicy> PolicyFromString(const std::string& text) {
  [[maybe_unused]] static const int registered = blocksieve_rocksdb_register();
  rocksdb::ConfigOptions config;
  config.ignore_unsupported_options = false;  // by default an unknown id gives "OK" and no policy
  std::shared_ptr<const rocksdb::FilterPolicy> policy;
  CheckOk(rocksdb::FilterPolicy::CreateFromString(config, text, &policy), text);
  // "{id=name;...}" or "name:...". Another name: a preloaded library replaced the stock policies.
  std::string_view id = text;
  if (id.starts_with("{id=")) id.remove_prefix(4);
  id = id.substr(0, id.find_first_of(":;}"));
  if (policy == nullptr || policy->Name() != id) {
    Fail("the filter policy \"{}\" gave {} instead of {}", text,
         policy == nullptr ? "none" : policy->Name(), id);
  }
  return policy;
}

}  // namespace blocksieve::bench::read_amp
