#include "bench/ranges/comparison.h"

#include <algorithm>
#include <iterator>
#include <span>

#include "bench/support/measure.h"

namespace blocksieve::bench::ranges {
namespace {

constexpr size_t kNumLengths = std::size(kLengths);

constexpr Role kOthers[] = {Role::kNoFilter, Role::kPrefixBloom, Role::kFirstKey};
constexpr Role kOthersPartitioned[] = {Role::kPointsPartitioned, Role::kPrefixBloomPartitioned};

// Data blocks per seek in an empty range, over all lengths.
double MeanBlocks(const Measured& measured) {
  double sum = 0;
  for (size_t length = 0; length < kNumLengths; ++length) sum += measured.blocks_per_seek[length];
  return sum / kNumLengths;
}

// The least that one of these contestants has.
template <class Figure>
const Measured& Best(const Comparison& all, std::span<const Role> roles, Figure figure) {
  return all.of(*std::min_element(roles.begin(), roles.end(), [&](Role a, Role b) {
    return figure(all.of(a)) < figure(all.of(b));
  }));
}

// How a database with ranges compares with the others, and with the same filters of points alone.
void AddForm(const Comparison& all, Role role, Results& results) {
  const bool is_partitioned = role == Role::kRangesPartitioned;
  const Measured& mine = all.of(role);
  const Measured& points = all.of(is_partitioned ? Role::kPointsPartitioned : Role::kPoints);
  const auto fewer = [&](auto blocks) { return blocks(Best(all, kOthers, blocks)) / blocks(mine); };
  double least_fewer = fewer(MeanBlocks);
  for (size_t length = 0; length < kNumLengths; ++length) {
    least_fewer = std::min(
        least_fewer, fewer([&](const Measured& each) { return each.blocks_per_seek[length]; }));
  }
  const std::span<const Role> peers =
      is_partitioned ? std::span<const Role>(kOthersPartitioned) : kOthers;
  const Measured& fastest =
      Best(all, peers, [](const Measured& each) { return SpreadOf(each.empty_seconds).median; });

  auto rows = results.Of(RoleName(role), {{"keys", all.set}});
  rows.Add("blocks, times fewer", "x", fewer(MeanBlocks))
      .Add("blocks, times fewer, worst length", "x", least_fewer)
      .Add("empty seek, of the best", "x", PairedRatio(mine.empty_seconds, fastest.empty_seconds))
      .Add("hit, of points", "x", PairedRatio(mine.hit_seconds, points.hit_seconds))
      .Add("miss, of points", "x", PairedRatio(mine.miss_seconds, points.miss_seconds))
      // One fills its database after the other: no turn has a partner.
      .Add("filling, of points", "x",
           Quotient(SpreadOf(mine.fill_seconds), SpreadOf(points.fill_seconds)));
  if (!mine.cold_seconds.empty()) {
    rows.Add("empty seek, cold, of no filter", "x",
             PairedRatio(mine.cold_seconds, all.of(Role::kNoFilter).cold_seconds));
  }
  if (mine.refusals_per_file > 0) {
    rows.Add("more bytes, refused", "bytes", mine.filter_bytes - points.filter_bytes)
        .Add("log lines per file, refused", "", mine.refusals_per_file)
        .Add("empty seek, of no filter, refused", "x",
             PairedRatio(mine.empty_seconds, all.of(Role::kNoFilter).empty_seconds));
  }
}

}  // namespace

void Comparison::AddTo(Results& results) const {
  for (size_t i = 0; i < kNumRoles; ++i) {
    const Role role{static_cast<int>(i)};
    const Measured& each = measured[i];
    auto rows = results.Of(RoleName(role), {{"keys", set}});
    rows.Add("filter bits per key", "", 8 * each.filter_bytes / static_cast<double>(num_keys));
    if (!IsSought(role)) continue;
    for (size_t query = 0; query < queries.size(); ++query) {
      results.Of(RoleName(role), {{"keys", set}, {"ranges", queries[query]}})
          .Add("data blocks", "", each.blocks_per_seek[query]);
    }
    rows.Add("blocks, all lengths", "", MeanBlocks(each))
        .Add("blocks, one key", "", each.blocks_per_found)
        .AddTurns("empty seek", "s", each.empty_seconds)
        .AddTurns("seek of one key", "s", each.found_seconds);
    if (!each.cold_seconds.empty()) rows.AddTurns("empty seek, cold", "s", each.cold_seconds);
  }
  AddForm(*this, Role::kRanges, results);
  AddForm(*this, Role::kRangesPartitioned, results);
  // The best that stock RocksDB does over all lengths.
  results.Of("stock RocksDB", {{"keys", set}})
      .Add("blocks, all lengths", "", MeanBlocks(Best(*this, kOthers, MeanBlocks)));
}

}  // namespace blocksieve::bench::ranges
