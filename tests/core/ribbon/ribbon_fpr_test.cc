#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <random>
#include <vector>

#include "lib/base/kernels.h"
#include "lib/ribbon/sizing.h"
#include "tests/core/ribbon/ribbon_test_builds.h"

namespace blocksieve::testing {
namespace {

/// Maximum error of a measured FPR in standard deviations.
constexpr double kMaxSigmas = 4.5;

/// Share of `num_probes` random hashes that match.
double MeasuredFpr(const BuiltRibbon& built, uint64_t num_probes, uint64_t seed) {
  const PointFilter filter = built.Open(internal::RibbonOpsFor(ActiveKernel(), built.build.shape));
  std::mt19937_64 random(seed);
  constexpr size_t kBatch = 4096;
  std::vector<uint64_t> hashes(kBatch);
  const auto may_match = std::make_unique<bool[]>(kBatch);
  uint64_t matches = 0;
  uint64_t probes = 0;
  for (; probes < num_probes; probes += kBatch) {
    for (uint64_t& hash : hashes) hash = random();
    filter.MayContainHashes(hashes, may_match.get());
    for (size_t i = 0; i < kBatch; ++i) matches += may_match[i];
  }
  return static_cast<double>(matches) / static_cast<double>(probes);
}

void ExpectModel(const BuiltRibbon& built, uint64_t num_probes) {
  const double share = internal::RibbonWideShare(built.build.shape);
  const double model = internal::RibbonFpr(built.build.shape.columns, share);
  const double slack =
      kMaxSigmas * std::sqrt(model * (1 - model) / static_cast<double>(num_probes));
  // A chunk has a slot per key, but all chunks get equally many probes. So the shares of slots and
  // of probes before the first wide segment differ by a little less than a chunk.
  const double boundary =
      share == 0 ? 0 : model / 3 / std::sqrt(static_cast<double>(built.build.shape.slots()));
  EXPECT_NEAR(MeasuredFpr(built, num_probes, 99), model, slack + boundary)
      << built.build.shape.columns << " columns, share " << share;
}

TEST(RibbonFprTest, IsThatOfTheModel) {
  const std::vector<uint64_t> hashes = RandomHashes(100'000, 2);
  for (uint32_t columns = 1; columns <= 12; ++columns) {
    for (const double share : {0.0, 0.0625, 0.5, 0.9375}) {
      const BuiltRibbon built = BuildTestRibbon(hashes, {columns, share});
      EXPECT_GE(internal::RibbonWideShare(built.build.shape), share);
      EXPECT_LE(internal::RibbonWideShare(built.build.shape), share + 0.001);
      ExpectModel(built, 1'000'000);
    }
  }
}

// Finds a seed whose starts share bits with the fingerprints: chunks with that seed would match
// everything.
TEST(RibbonFprTest, EverySeed) {
  for (uint32_t seed = 0; seed < internal::kRibbonSeeds; ++seed) {
    // Filters of one chunk; the highest seeds are rare, and may not turn up among these.
    size_t with_seed = 0;
    for (uint64_t set = 0; set < 3000 && with_seed < 1; ++set) {
      const std::vector<uint64_t> hashes = RandomHashes(1050, set * 16 + 7);
      const BuiltRibbon built = BuildTestRibbon(hashes, {8, 0});
      if (built.build.shape.seed != seed) continue;
      ++with_seed;
      ExpectModel(built, 1'000'000);
    }
  }
}

}  // namespace
}  // namespace blocksieve::testing
