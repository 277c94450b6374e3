#include "lib/ribbon/solver.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstring>
#include <memory>
#include <random>
#include <string_view>
#include <utility>
#include <vector>

#include "lib/base/kernels.h"
#include "lib/ribbon/probe.h"
#include "lib/ribbon/shape.h"

namespace blocksieve::internal {
namespace {

struct System {
  std::vector<RibbonRow> rows;
  std::vector<uint32_t> octet_counts;
};

struct Eliminated {
  RibbonOutcome outcome;
  std::vector<uint64_t> pivots;
  std::vector<uint8_t> planes;
  RibbonCarried carried;
};

Eliminated Eliminate(const RibbonSolver& solver, const System& system, uint32_t columns) {
  const size_t num_columns = system.octet_counts.size() * 8;
  Eliminated result;
  result.pivots.resize(num_columns);
  result.planes.resize(num_columns * RibbonPlaneGroups(columns));
  std::vector<RibbonRow> rows = system.rows;
  RibbonEchelon echelon{result.pivots.data(), result.planes.data(), {}};
  result.outcome = solver.eliminate(
      {rows.data(), rows.size(), system.octet_counts.data(), system.octet_counts.size()}, columns,
      &echelon);
  result.carried = echelon.carried;
  return result;
}

/// About `load` rows per octet; one in `copies` is a copy of the one before.
System RandomSystem(std::mt19937_64* random, size_t num_octets, uint32_t load, uint32_t columns,
                    uint32_t copies) {
  System system;
  const uint64_t mask = (uint64_t{1} << columns) - 1;
  for (size_t octet = 0; octet < num_octets; ++octet) {
    const auto count = static_cast<uint32_t>((*random)() % (2 * load + 1));
    for (uint32_t i = 0; i < count; ++i) {
      if (i > 0 && (*random)() % copies == 0) {
        system.rows.push_back(RibbonRow(system.rows.back()));
      } else {
        const uint64_t start = octet * 8 + (*random)() % 8;
        const uint64_t fingerprint = (*random)() & mask;
        system.rows.push_back({(*random)() | 1, start % 32 | fingerprint << 8});
      }
    }
    system.octet_counts.push_back(count);
  }
  return system;
}

// The tests of the builder check solutions, by finding all keys.
TEST(RibbonSolverTest, KernelsAgreeOnWhatIsSolvable) {
  std::mt19937_64 random(3);
  int outcomes[3] = {};
  for (int round = 0; round < 4000; ++round) {
    const auto columns = static_cast<uint32_t>(1 + random() % 25);
    const System system =
        RandomSystem(&random, 1 + random() % 60, static_cast<uint32_t>(5 + random() % 6), columns,
                     round % 2 == 0 ? 64 : 3);
    const Eliminated scalar = Eliminate(RibbonSolverFor(Kernel::kScalar), system, columns);
    for (const Kernel kernel : AvailableKernels()) {
      SCOPED_TRACE(KernelName(kernel));
      const Eliminated result = Eliminate(RibbonSolverFor(kernel), system, columns);
      ++outcomes[static_cast<int>(result.outcome)];
      if (result.outcome == RibbonOutcome::kTooManyRows) {
        ASSERT_EQ(kernel, Kernel::kAvx512);
        continue;
      }
      ASSERT_EQ(result.outcome, scalar.outcome);
      if (scalar.outcome != RibbonOutcome::kSolved) continue;
      for (size_t i = 0; i < scalar.pivots.size(); ++i) {
        ASSERT_EQ(result.pivots[i] != 0, scalar.pivots[i] != 0);
      }
      ASSERT_EQ(result.carried.count, scalar.carried.count);
    }
  }
  for (const int count : outcomes) {
    EXPECT_TRUE(count > 20 || AvailableKernels().back() != Kernel::kAvx512) << count;
  }
}

// A copy of a row with another fingerprint is a contradiction, also if both are still in flight
// after the last column.
TEST(RibbonSolverTest, ContradictionsAmongCarriedRows) {
  for (const Kernel kernel : AvailableKernels()) {
    System system;
    system.rows = {
        {0x8000000000000001, 5 << 8}, {0x4000000000000001, 6 << 8}, {0x4000000000000001, 6 << 8}};
    system.octet_counts = {3};
    const Eliminated same = Eliminate(RibbonSolverFor(kernel), system, 8);
    EXPECT_EQ(same.outcome, RibbonOutcome::kSolved);
    EXPECT_EQ(same.carried.count, 1u);
    system.rows[2].tag = 7 << 8;
    EXPECT_EQ(Eliminate(RibbonSolverFor(kernel), system, 8).outcome, RibbonOutcome::kContradiction);
  }
}

/// Memory that is followed by an unmapped page, so that reading past the end traps.
class GuardedBytes {
 public:
  explicit GuardedBytes(size_t size) : pages_((size + 4095) / 4096 * 4096) {
    base_ = static_cast<uint8_t*>(
        mmap(nullptr, pages_ + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    EXPECT_EQ(mprotect(base_ + pages_, 4096, PROT_NONE), 0);
    data_ = base_ + pages_ - size;
  }
  GuardedBytes(const GuardedBytes&) = delete;
  GuardedBytes& operator=(const GuardedBytes&) = delete;
  ~GuardedBytes() { munmap(base_, pages_ + 4096); }

  uint8_t* data() const { return data_; }

 private:
  size_t pages_;
  uint8_t* base_;
  uint8_t* data_;
};

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

    const GuardedBytes bytes(payload_bytes + kRibbonReadableTail);
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

TEST(RibbonShapeTest, RejectsContradictions) {
  RibbonShape good;
  good.columns = 7;
  good.octets = 100;
  good.chunks = 2;
  good.narrow_segments = 5;
  const uint64_t bytes = good.PayloadBytes();
  EXPECT_FALSE(CheckRibbonShape(good, bytes));
  EXPECT_TRUE(CheckRibbonShape(good, bytes - 1));
  EXPECT_TRUE(CheckRibbonShape(good, bytes + 1));
  for (const auto& damage : std::vector<void (*)(RibbonShape*)>{
           [](RibbonShape* s) { s->columns = 0; }, [](RibbonShape* s) { s->columns = 25; },
           [](RibbonShape* s) { s->octets = 3; }, [](RibbonShape* s) { s->octets = ~uint64_t{0}; },
           [](RibbonShape* s) { s->chunks = 0; }, [](RibbonShape* s) { s->chunks = ~uint64_t{0}; },
           [](RibbonShape* s) { s->seed = 1; }, [](RibbonShape* s) { s->narrow_segments = 14; }}) {
    RibbonShape bad = good;
    damage(&bad);
    EXPECT_TRUE(CheckRibbonShape(bad, bytes));
    EXPECT_TRUE(CheckRibbonShape(bad, bad.PayloadBytes()));
  }
}

}  // namespace
}  // namespace blocksieve::internal
