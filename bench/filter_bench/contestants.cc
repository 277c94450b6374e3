#include "bench/filter_bench/contestants.h"

#include <rocksdb/table.h>

#include <map>

#include "bench/support/keys.h"
#include "bench/support/measure.h"
#include "blocksieve/rocksdb/filter_policy.h"

namespace blocksieve::bench {
namespace {

constexpr double kStockBits = 10;
constexpr uint64_t kFprKeys = 1'000'000;
constexpr uint64_t kFprProbes = 20'000'000;

std::shared_ptr<const rocksdb::FilterPolicy> Ours(PolicyKind kind, double target_fpr) {
  FilterPolicyOptions options;
  options.target_fpr = target_fpr;
  options.kind = kind;
  return *NewFilterPolicy(options);
}

std::vector<PolicyContestant> MakeContestants() {
  const PolicyContestant stock{"stock bloom", std::shared_ptr<const rocksdb::FilterPolicy>(
                                                  rocksdb::NewBloomFilterPolicy(kStockBits))};
  const double fpr = MeasureFpr(Build(stock, kFprKeys), kFprProbes);
  return {
      stock,
      {"stock ribbon", std::shared_ptr<const rocksdb::FilterPolicy>(
                           rocksdb::NewRibbonFilterPolicy(kStockBits, -1))},
      {"blocksieve bloom", Ours(PolicyKind::kBloom, fpr)},
      {"blocksieve ribbon", Ours(PolicyKind::kRibbon, fpr)},
  };
}

}  // namespace

const std::vector<PolicyContestant>& Contestants() {
  static const std::vector<PolicyContestant> contestants = MakeContestants();
  return contestants;
}

BuiltFilter Build(const PolicyContestant& contestant, uint64_t num_keys) {
  rocksdb::BlockBasedTableOptions table_options;
  table_options.optimize_filters_for_memory = false;  // the default differs by version
  const rocksdb::FilterBuildingContext context(table_options);
  const std::unique_ptr<rocksdb::FilterBitsBuilder> builder(
      contestant.policy->GetBuilderWithContext(context));
  for (uint64_t i = 0; i < num_keys; ++i) {
    const Key16 key(i);
    builder->AddKey({key.view().data(), key.view().size()});
  }
  BuiltFilter filter;
  rocksdb::Status status;
  filter.contents = builder->Finish(&filter.memory, &status);
  filter.reader.reset(contestant.policy->GetFilterBitsReader(filter.contents));
  return filter;
}

const BuiltFilter& Cached(const PolicyContestant& contestant, uint64_t num_keys) {
  static std::map<std::pair<std::string, uint64_t>, BuiltFilter> filters;
  const auto [at, is_new] = filters.try_emplace({contestant.name, num_keys});
  if (is_new) at->second = Build(contestant, num_keys);
  return at->second;
}

double MeasureFpr(const BuiltFilter& filter, uint64_t num_probes) {
  uint64_t positives = 0;
  for (uint64_t i = 0; i < num_probes; ++i) {
    const Key16 key(kFirstAbsent + i);
    positives += filter.reader->MayMatch({key.view().data(), key.view().size()});
  }
  return Ratio(positives, num_probes);
}

}  // namespace blocksieve::bench
