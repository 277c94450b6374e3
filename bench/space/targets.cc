#include "bench/space/targets.h"

#include <fmt/format.h>

#include <cmath>
#include <optional>

namespace blocksieve::bench::space {
namespace {

constexpr uint64_t kManyKeys = 100'000;
constexpr uint64_t kMemoryKeys = 10'000'000;

bool IsPowerOfTwo(double fpr) { return std::exp2(std::round(std::log2(fpr))) == fpr; }

// Powers of two are whole columns; at other rates some keys have a column more than others.
std::optional<double> MostOverLimit(const SpaceResult& result) {
  if (result.keys >= kManyKeys) {
    if (!IsPowerOfTwo(result.target_fpr)) return 1.025;
    return result.target_fpr > std::exp2(-5) ? 1.012 : 1.006;
  }
  if (result.target_fpr != std::exp2(-8)) return std::nullopt;
  switch (result.keys) {
    case 10'000:
      return 1.012;
    case 3'000:
      return 1.018;
    case 1'000:
      return 1.04;
    case 300:
      return 1.10;
    case 100:
      return 1.35;
    default:
      return std::nullopt;
  }
}

}  // namespace

Targets JudgeTargets(const std::vector<SpaceResult>& space,
                     const std::vector<MemoryResult>& memory) {
  Targets targets;
  for (const SpaceResult& result : space) {
    const std::optional<double> limit = MostOverLimit(result);
    if (result.kind != FilterKind::kRibbon || !limit) continue;
    targets.AtMost(fmt::format("ribbon, space of the limit: {} keys, {:.3g} %", result.keys,
                               100 * result.target_fpr),
                   result.measured.OverLimit(), *limit);
  }
  for (const MemoryResult& result : memory) {
    if (result.kind != FilterKind::kRibbon || result.keys != kMemoryKeys) continue;
    targets.AtMost(fmt::format("ribbon, bytes per key while building, beyond the filter: {} keys",
                               result.keys),
                   result.bytes_per_key, 10.5);
  }
  return targets;
}

}  // namespace blocksieve::bench::space
