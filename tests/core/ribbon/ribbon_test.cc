// SPDX-License-Identifier: Apache-2.0

#include <cmath>
#include <cstring>
#include <random>

#include "blocksieve/sizing.h"
#include "lib/base/kernels.h"
#include "lib/hash/hash_list.h"
#include "lib/ribbon/probe.h"
#include "lib/ribbon/shape.h"
#include "tests/core/filter/test_filters.h"
#include "tests/support/guarded_bytes.h"

namespace blocksieve::testing {
namespace {

/// A layout of `columns` columns, and one more for a share of the keys.
struct Columns : Layout {
  Columns(uint32_t columns, double wide_share)
      : Layout{FilterKind::kRibbon, columns + wide_share, columns} {}
};

struct BuiltRibbon {
  internal::RibbonShape shape;
  std::vector<uint8_t> bytes;  // the payload, and the bytes after it that a probe may read

  PointFilter Open(const ProbeOps& ops) const {
    return PointFilter(ops, internal::MakeRibbonState(shape, bytes.data()));
  }
};

BuiltRibbon BuildTestRibbon(const std::vector<uint64_t>& hashes, const Columns& columns,
                            Kernel kernel = ActiveKernel()) {
  internal::HashList list;
  for (const uint64_t hash : hashes) list.Append(hash);
  BuiltRibbon built;
  built.bytes.resize(internal::RibbonCapacity(columns, hashes.size()));
  built.shape = internal::BuildRibbon(&list, false, columns, kernel, built.bytes.data());
  built.bytes.resize(built.shape.PayloadBytes());
  built.bytes.resize(built.bytes.size() + internal::kRibbonReadableTail, 0xee);
  return built;
}

std::vector<uint64_t> RandomHashes(size_t count, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<uint64_t> hashes(count);
  for (uint64_t& hash : hashes) hash = random();
  return hashes;
}

/// Number of hashes that do not match.
size_t CountMisses(const BuiltRibbon& built, const std::vector<uint64_t>& hashes,
                   Kernel kernel = ActiveKernel()) {
  const PointFilter filter = built.Open(internal::RibbonOpsFor(kernel, built.shape));
  size_t misses = 0;
  for (const uint64_t hash : hashes) misses += !filter.MayContainHash(hash);
  return misses;
}

void ExpectAllMatch(const std::vector<uint64_t>& hashes, const Columns& columns) {
  const BuiltRibbon built = BuildTestRibbon(hashes, columns);
  ASSERT_FALSE(built.shape.has_always_true_chunks) << hashes.size();
  ASSERT_FALSE(internal::CheckRibbonShape(built.shape, built.shape.PayloadBytes()));
  ASSERT_EQ(CountMisses(built, hashes), 0u) << hashes.size();
}

std::vector<uint64_t> Numbered(size_t n, uint64_t (*hash_of)(uint64_t i)) {
  std::vector<uint64_t> hashes(n);
  for (size_t i = 0; i < n; ++i) hashes[i] = hash_of(i);
  return hashes;
}

TEST(RibbonBuilderTest, CopiesOfAKey) {
  for (const size_t copies : {2u, 70u, 1000u, 100'000u}) {
    ExpectAllMatch(Numbered(copies, [](uint64_t) { return 0x0123456789abcdefu; }), {7, 0.5});
    ExpectAllMatch(Numbered(copies, [](uint64_t i) { return 0x0123456789abcdeeu + i % 2; }),
                   {7, 0.5});
  }
  for (const size_t n : {20u, 100u, 1000u, 10'000u, 100'000u}) {
    std::vector<uint64_t> hashes = RandomHashes(n, n);
    for (size_t i = 0; i < n / 2; ++i) hashes.push_back(hashes[i]);      // each twice
    for (size_t i = 0; i < n / 4; ++i) hashes.push_back(hashes[i % 3]);  // three very often
    ExpectAllMatch(hashes, {10, 0.25});
    if (n > 1000) continue;  // too many of these would have the same start
    // Hashes that are special values elsewhere: 0, all ones, and complements of each other.
    for (size_t i = 0; i < n; ++i) hashes.insert(hashes.end(), {~hashes[i], hashes[i] >> 50});
    hashes.insert(hashes.end(), {0, ~uint64_t{0}, 0});
    ExpectAllMatch(hashes, {9, 0.25});
  }
}

// Inputs that are not hashes may all be in one chunk. Building must end, and lose no key.
TEST(RibbonBuilderTest, HashesThatAreNone) {
  for (const size_t n : {1000u, 20'000u, 200'000u}) {
    for (const auto& hashes :
         {Numbered(n, [](uint64_t i) { return i; }),
          Numbered(n, [](uint64_t i) { return i << 44; }),
          Numbered(n, [](uint64_t i) { return ~uint64_t{0} - i * 3; }),
          Numbered(n, [](uint64_t i) { return (i << 32 | i) * 0x100000001; })}) {
      for (const Kernel kernel : internal::AvailableKernels()) {
        const BuiltRibbon built = BuildTestRibbon(hashes, {8, 0.5}, kernel);
        ASSERT_EQ(CountMisses(built, hashes, kernel), 0u);
      }
    }
  }
}

// Copies take no slots, except in the few chunks in which they are not detected.
TEST(RibbonBuilderTest, CopiesTakeNoSpace) {
  for (const size_t n : {5000u, 20'000u, 200'000u}) {
    const std::vector<uint64_t> distinct = RandomHashes(n, n);
    const size_t slots = BuildTestRibbon(distinct, {6, 0.5}).shape.slots();
    for (const size_t copied : {n / 100, n / 10, n, 2 * n}) {
      std::vector<uint64_t> hashes = distinct;
      for (size_t i = 0; i < copied; ++i) hashes.push_back(distinct[i % n]);
      ExpectAllMatch(hashes, {6, 0.5});
      EXPECT_LE(BuildTestRibbon(hashes, {6, 0.5}).shape.slots(), slots + slots / 50 + copied / n)
          << n << " keys, " << copied << " copies";
    }
  }
}

// Many copies leave fewer slots than keys; the share of wide segments must stay the same.
TEST(RibbonBuilderTest, CopiesDoNotRaiseTheRate) {
  std::vector<uint64_t> hashes = RandomHashes(20'000, 5);
  hashes.resize(120'000, hashes[0]);
  const BuiltRibbon built = BuildTestRibbon(hashes, {4, 0.9});
  EXPECT_GE(internal::RibbonWideShare(built.shape), 0.9);
}

TEST(RibbonBuilderTest, KernelsMakeTheSameBytes) {
  std::mt19937_64 random(11);
  for (int round = 0; round < 600; ++round) {
    const size_t n = round % 30 == 0 ? 20'000 + random() % 60'000 : 1 + random() % 3000;
    std::vector<uint64_t> hashes = RandomHashes(n, random());
    if (round % 3 == 0) {
      for (size_t i = 0; i < n / 3; ++i) hashes[random() % n] = hashes[random() % (1 + n / 50)];
    } else if (round % 3 == 1) {  // that differ in few bits, as those of no hash function
      const uint64_t step = uint64_t{1} << random() % 64;
      for (size_t i = 0; i < n % 64; ++i) hashes[i] = hashes[n - 1] + i * step;
    }
    const Columns columns{static_cast<uint32_t>(1 + random() % 24),
                          static_cast<double>(random() % 3) * 0.4};
    const BuiltRibbon scalar = BuildTestRibbon(hashes, columns, Kernel::kScalar);
    ASSERT_FALSE(scalar.shape.has_always_true_chunks);
    ASSERT_EQ(CountMisses(scalar, hashes), 0u);
    for (const Kernel kernel : internal::AvailableKernels()) {
      const BuiltRibbon built = BuildTestRibbon(hashes, columns, kernel);
      ASSERT_TRUE(built.bytes == scalar.bytes) << KernelName(kernel) << " with " << n << " keys";
    }
  }
}

// Size of the block relative to the information-theoretic limit for the FPR of the layout.
TEST(RibbonBuilderTest, SpaceNearTheLimit) {
  const std::pair<uint64_t, double> limits[] = {
      {100, 1.35},     {300, 1.10},      {1000, 1.04},      {3000, 1.018},
      {10'000, 1.012}, {100'000, 1.006}, {1'000'000, 1.006}};
  for (const auto& [num_keys, limit] : limits) {
    const OwnedBytes block =
        BuildBlock({.kind = FilterKind::kRibbon, .target_fpr = 1.0 / 256}, num_keys);
    const double ratio = static_cast<double>(block.size) / static_cast<double>(num_keys);
    EXPECT_LE(ratio, limit) << num_keys;
  }
}

// Keys are few or many beside the slots if keys are added twice, for instance. Blocks with short
// footers: filter_conformance_test.cc, and tests/core/format.
TEST(ShortBlockTest, HasUpToSixtyThreeSpareSlots) {
  internal::RibbonShape shape{.columns = 8, .seed = 4, .octets = 20};
  shape.narrow_segments = shape.segments();
  for (int spare = -3; spare < 70; ++spare) {
    internal::FieldBytes fields;
    internal::AppendShortRibbonFields(shape, shape.slots() - static_cast<uint64_t>(spare), &fields);
    EXPECT_EQ(fields.size(), spare >= 0 && spare <= 63 ? 2u : 0u) << spare;
  }
}

/// Maximum error of a measured FPR in standard deviations.
constexpr double kMaxSigmas = 4.5;

/// Share of `num_probes` random hashes that match.
double MeasuredFpr(const BuiltRibbon& built, uint64_t num_probes, uint64_t seed) {
  const PointFilter filter = built.Open(internal::RibbonOpsFor(ActiveKernel(), built.shape));
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
  const double share = internal::RibbonWideShare(built.shape);
  const double model = internal::RibbonFpr(built.shape.columns, share);
  const double slack =
      kMaxSigmas * std::sqrt(model * (1 - model) / static_cast<double>(num_probes));
  // A chunk has a slot per key, but all chunks get equally many probes. So the shares of slots and
  // of probes before the first wide segment differ by a little less than a chunk.
  const double boundary =
      share == 0 ? 0 : model / 3 / std::sqrt(static_cast<double>(built.shape.slots()));
  EXPECT_NEAR(MeasuredFpr(built, num_probes, 99), model, slack + boundary)
      << built.shape.columns << " columns, share " << share;
}

TEST(RibbonFprTest, IsThatOfTheModel) {
  const std::vector<uint64_t> hashes = RandomHashes(100'000, 2);
  for (uint32_t columns = 1; columns <= 12; ++columns) {
    for (const double share : {0.0, 0.0625, 0.5, 0.9375}) {
      const BuiltRibbon built = BuildTestRibbon(hashes, {columns, share});
      EXPECT_GE(internal::RibbonWideShare(built.shape), share);
      EXPECT_LE(internal::RibbonWideShare(built.shape), share + 0.001);
      ExpectModel(built, 1'000'000);
    }
  }
}

// Finds a seed whose starts share bits with the fingerprints: chunks with that seed would match
// everything.
TEST(RibbonFprTest, EverySeed) {
  for (uint32_t seed = 0; seed < internal::kRibbonSeeds; ++seed) {
    // Filters of one chunk; the highest seeds are rare, and may not turn up among these.
    bool is_found = false;
    for (uint64_t set = 0; set < 3000 && !is_found; ++set) {
      const std::vector<uint64_t> hashes = RandomHashes(1050, set * 16 + 7);
      const BuiltRibbon built = BuildTestRibbon(hashes, {8, 0});
      is_found = built.shape.seed == seed;
      if (is_found) ExpectModel(built, 1'000'000);
    }
  }
}

}  // namespace
}  // namespace blocksieve::testing

namespace blocksieve::internal {
namespace {

/// Entry points of all kernels, including those that RibbonOpsFor does not choose here.
std::vector<std::pair<std::string_view, ProbeOps>> AllOps(const RibbonShape& shape) {
  std::vector<std::pair<std::string_view, ProbeOps>> all;
  for (const Kernel kernel : AvailableKernels()) {
    all.emplace_back(KernelName(kernel), RibbonOpsFor(kernel, shape));
  }
  if (!shape.has_always_true_chunks) {
    const size_t directory = shape.chunks == 1 ? 0 : shape.BaseBytes() == 0 ? 1 : 2;
    const bool mixed = shape.narrow_segments > 0 && shape.narrow_segments < shape.segments();
    all.emplace_back("without popcnt", kRibbonScalar[directory][mixed]);
  }
  return all;
}

// With arbitrary segments and directory, all kernels read within the filter, and agree.
TEST(RibbonProbeTest, KernelsAgreeOnAnyPayload) {
  std::mt19937_64 random(5);
  size_t matches = 0;
  for (int round = 0; round < 3000; ++round) {
    RibbonShape shape;
    shape.columns = static_cast<uint32_t>(1 + random() % 24);
    shape.octets = 4 + random() % (round % 2 == 0 ? 40 : 1000);
    shape.chunks = round % 3 == 0 ? 1 : 2 + random() % (round % 3 == 1 ? 8 : 100);
    if (shape.chunks == 1) shape.seed = static_cast<uint32_t>(random() % 16);
    shape.has_always_true_chunks = shape.chunks > 1 && round % 50 == 0;
    const bool all_narrow = round % 4 == 0;
    shape.narrow_segments =
        all_narrow ? shape.segments() : static_cast<uint64_t>(random()) % (shape.segments() + 1);
    if (round % 7 == 0) shape.narrow_segments = 0;
    const uint64_t payload_bytes = shape.PayloadBytes();
    if (shape.octets > payload_bytes || shape.chunks > payload_bytes) continue;
    ASSERT_FALSE(CheckRibbonShape(shape, payload_bytes));

    const testing::GuardedBytes bytes(payload_bytes + kRibbonReadableTail);
    for (size_t i = 0; i < payload_bytes + kRibbonReadableTail; ++i) {
      bytes.data()[i] = static_cast<uint8_t>(random());
    }
    // Segments of zeros match fingerprints of zeros; otherwise many columns would never match.
    if (round % 5 == 0) std::memset(bytes.data(), 0, shape.SegmentBytes());

    const RibbonState state = MakeRibbonState(shape, bytes.data());
    std::vector<uint64_t> hashes(101 + random() % 100);
    for (uint64_t& hash : hashes) {
      hash = random() << (round % 5 == 0 ? 20 : 0);
      if (random() % 4 == 0) hash |= uint64_t{0xffffffff} << 32;  // the last chunk
      if (random() % 4 == 0) {  // the first or last hash of a chunk, which depends on a carry
        const auto chunk = static_cast<unsigned __int128>(random() % shape.chunks) << 64;
        hash = static_cast<uint64_t>((chunk + shape.chunks - 1) / shape.chunks) - random() % 2;
      }
    }
    std::vector<bool> expected;
    for (const uint64_t hash : hashes) {
      expected.push_back(
          PointFilter(RibbonOpsFor(Kernel::kScalar, shape), state).MayContainHash(hash));
      matches += expected.back();
    }
    for (const auto& [name, ops] : AllOps(shape)) {
      // Whole batches and a remainder.
      const auto batch = std::make_unique<bool[]>(hashes.size());
      const PointFilter filter(ops, state);
      filter.MayContainHashes(hashes, batch.get());
      for (size_t i = 0; i < hashes.size(); ++i) {
        ASSERT_EQ(filter.MayContainHash(hashes[i]), expected[i]) << name;
        ASSERT_EQ(batch[i], expected[i]) << name;
      }
    }
  }
  EXPECT_GT(matches, 1000u);
}

}  // namespace
}  // namespace blocksieve::internal
