#include "lib/ribbon/solver.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "lib/base/kernels.h"

namespace blocksieve::testing {
namespace {

using internal::RibbonCarried;
using internal::RibbonEchelon;
using internal::RibbonOutcome;
using internal::RibbonRow;
using internal::RibbonSolver;

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
  result.planes.resize(num_columns * internal::RibbonPlaneGroups(columns));
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
TEST(RibbonSolver, KernelsAgreeOnWhatIsSolvable) {
  std::mt19937_64 random(3);
  int outcomes[3] = {};
  for (int round = 0; round < 4000; ++round) {
    const auto columns = static_cast<uint32_t>(1 + random() % 25);
    const System system =
        RandomSystem(&random, 1 + random() % 60, static_cast<uint32_t>(5 + random() % 6), columns,
                     round % 2 == 0 ? 64 : 3);
    const Eliminated scalar =
        Eliminate(internal::RibbonSolverFor(Kernel::kScalar), system, columns);
    for (const Kernel kernel : internal::AvailableKernels()) {
      SCOPED_TRACE(KernelName(kernel));
      const Eliminated result = Eliminate(internal::RibbonSolverFor(kernel), system, columns);
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
    EXPECT_TRUE(count > 20 || internal::AvailableKernels().back() != Kernel::kAvx512) << count;
  }
}

// A copy of a row with another fingerprint is a contradiction, also if both are still in flight
// after the last column.
TEST(RibbonSolver, ContradictionsAmongCarriedRows) {
  for (const Kernel kernel : internal::AvailableKernels()) {
    System system;
    system.rows = {
        {0x8000000000000001, 5 << 8}, {0x4000000000000001, 6 << 8}, {0x4000000000000001, 6 << 8}};
    system.octet_counts = {3};
    const Eliminated same = Eliminate(internal::RibbonSolverFor(kernel), system, 8);
    EXPECT_EQ(same.outcome, RibbonOutcome::kSolved);
    EXPECT_EQ(same.carried.count, 1u);
    system.rows[2].tag = 7 << 8;
    EXPECT_EQ(Eliminate(internal::RibbonSolverFor(kernel), system, 8).outcome,
              RibbonOutcome::kContradiction);
  }
}

}  // namespace
}  // namespace blocksieve::testing
