#include "bench/read_amp/contestants.h"

#include <fmt/format.h>
#include <rocksdb/convenience.h>

#include <string_view>

#include "bench/support/terminal.h"
#include "blocksieve/rocksdb/filter_policy.h"
#include "blocksieve/sizing.h"

namespace blocksieve::bench::read_amp {
namespace {

constexpr double kStockDefaultBits = 10;

// The FPR of a ribbon in the memory of a stock filter of `bits_per_key`. A ribbon takes its footer
// and half a percent more than the bits of its layout.
double RibbonFprForBits(double bits_per_key) {
  constexpr double kOverhead = 1.01;
  return LayoutForBitsPerKey(FilterKind::kRibbon, bits_per_key / kOverhead)->predicted_fpr;
}

}  // namespace

std::vector<LookupContestant> MakeContestants(double target_fpr) {
  const std::string at_target = fmt::format("{:g} %", target_fpr * 100);
  const double bloom_bits = StockBitsPerKey(FilterKind::kStockBloom, target_fpr);
  const double ribbon_bits = StockBitsPerKey(FilterKind::kStockRibbon, target_fpr);
  return {
      WithPolicy("no_filter", "no filter", ""),
      WithPolicy("stock_default", "stock Bloom, 10 bits",
                 fmt::format("bloomfilter:{}:false", kStockDefaultBits)),
      WithPolicy("stock_bloom", "stock Bloom, " + at_target,
                 fmt::format("bloomfilter:{:.3f}:false", bloom_bits)),
      // -1: Ribbon on every level, flushes included.
      WithPolicy("stock_ribbon", "stock Ribbon, " + at_target,
                 fmt::format("ribbonfilter:{:.3f}:-1", ribbon_bits)),
      WithPolicy("blocksieve", "blocksieve bloom, " + at_target,
                 fmt::format("{{id=blocksieve;target_fpr={};kind=bloom}}", target_fpr)),
      WithPolicy("blocksieve", "blocksieve ribbon, " + at_target,
                 fmt::format("{{id=blocksieve;target_fpr={};kind=ribbon}}", target_fpr)),
      WithPolicy("same_memory", "blocksieve ribbon, 10 bits",
                 fmt::format("{{id=blocksieve;target_fpr={};kind=ribbon}}",
                             RibbonFprForBits(kStockDefaultBits))),
  };
}

LookupContestant WithPolicy(std::string role, std::string name, const std::string& policy) {
  if (policy.empty()) return {{std::move(name), {}}, std::move(role)};
  const auto made = PolicyFromString(policy);
  const auto set_up = [made](rocksdb::Options& options) {
    TableOptions(options).filter_policy = made;
  };
  return {{std::move(name), set_up}, std::move(role)};
}

std::shared_ptr<const rocksdb::FilterPolicy> PolicyFromString(const std::string& text) {
  [[maybe_unused]] static const int registered = blocksieve_rocksdb_register();
  rocksdb::ConfigOptions config;
  config.ignore_unsupported_options = false;  // by default an unknown id gives "OK" and no policy
  std::shared_ptr<const rocksdb::FilterPolicy> policy;
  const rocksdb::Status status = rocksdb::FilterPolicy::CreateFromString(config, text, &policy);
  if (!status.ok()) Fail("RocksDB refuses the filter policy \"{}\": {}", text, status.ToString());
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
