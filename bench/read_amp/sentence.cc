#include "bench/read_amp/sentence.h"

#include <fmt/format.h>

#include <cmath>

#include "bench/support/median.h"

namespace blocksieve::bench::read_amp {
namespace {

double BlocksPerLookup(const LookupResult& result) {
  return static_cast<double>(result.counters.data_blocks()) /
         static_cast<double>(result.counters.lookups);
}

std::string Times(double factor) {
  return factor >= 10 ? fmt::format("{:.0f}", factor) : fmt::format("{:.2g}", factor);
}

}  // namespace

std::string FewerOrMore(double ours, double theirs) {
  const double percent = 100 * (ours - theirs) / theirs;
  if (std::abs(percent) < 0.05) return "as many as";
  return fmt::format("{:.1f} % {} than", std::abs(percent), percent < 0 ? "fewer" : "more");
}

std::string SavedSentence(const Results& results) {
  const ContestantResult& none = *FindRole(results, Role::kNoFilter);
  const ContestantResult& bloom = *FindRole(results, Role::kStockBloomSameFpr);
  const ContestantResult& ribbon = *FindRole(results, Role::kStockRibbonSameFpr);
  const ContestantResult& ours = *FindRole(results, Role::kBlocksieve);

  const double blocks_without = BlocksPerLookup(none.leveled.cold_absent);
  const double blocks_with = BlocksPerLookup(ours.leveled.cold_absent);
  const double speed_up = Median(ours.leveled.cold_absent.lookups_per_second) /
                          Median(none.leveled.cold_absent.lookups_per_second);
  const auto bytes = [](const ContestantResult& result) {
    return static_cast<double>(result.leveled.shape.filter_bytes);
  };
  const double bits_per_key = 8 * bytes(ours) / static_cast<double>(results.num_rows);

  const std::string reads = fmt::format(
      "a lookup of an absent key read {:.3g} data blocks with {} and {:.3g} without a "
      "filter",
      blocks_with, ours.contestant.name, blocks_without);
  const std::string price = fmt::format(
      "for {:.2f} filter bits per key, {} stock Bloom and {} stock Ribbon "
      "set up for the same rate",
      bits_per_key, FewerOrMore(bytes(ours), bytes(bloom)),
      FewerOrMore(bytes(ours), bytes(ribbon)));
  if (blocks_with >= blocks_without) {
    return fmt::format("Nothing was saved: {}, {}.", reads, price);
  }
  return fmt::format(
      "Saved: {:.1f} % of the reads: {}, which made such lookups {} times as fast "
      "on a cold cache, {}.",
      100 * (1 - blocks_with / blocks_without), reads, Times(speed_up), price);
}

}  // namespace blocksieve::bench::read_amp
