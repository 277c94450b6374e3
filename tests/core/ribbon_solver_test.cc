#include "lib/ribbon_solver.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace blocksieve::testing {
namespace {

using internal::RibbonCarried;
using internal::RibbonEchelon;
using internal::RibbonOutcome;
using internal::RibbonRows;
using internal::RibbonSolver;

/// Rows of a chunk, with room for what a kernel makes of them.
struct System {
  std::vector<uint64_t> coefficients;
  std::vector<uint64_t> tags;
  std::vector<uint32_t> octet_counts;

  RibbonRows rows() const {
    return {coefficients.data(), tags.data(), octet_counts.data(), octet_counts.size()};
  }
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
  result.pivots.resize(num_columns + 64);
  result.planes.resize(num_columns * internal::RibbonPlaneGroups(columns));
  std::vector<uint32_t> scratch(num_columns + 64);
  RibbonEchelon echelon{result.pivots.data(), result.planes.data(), {}};
  result.outcome = solver.eliminate(system.rows(), columns, scratch.data(), &echelon);
  result.carried = echelon.carried;
  result.pivots.resize(num_columns);
  return result;
}

/// About `load` rows per octet, some of them copies or sums of others.
System RandomSystem(std::mt19937_64* random, size_t num_octets, uint32_t load, uint32_t columns) {
  System system;
  const uint64_t mask = (uint64_t{1} << columns) - 1;
  for (size_t octet = 0; octet < num_octets; ++octet) {
    const auto count = static_cast<uint32_t>((*random)() % (2 * load + 1));
    const size_t first = system.tags.size();
    for (uint32_t i = 0; i < count; ++i) {
      const size_t before = system.tags.size();
      if (before > first && (*random)() % 64 == 0) {
        system.coefficients.push_back(system.coefficients.back());
        system.tags.push_back(system.tags.back());
      } else {
        system.coefficients.push_back((*random)() | 1);
        system.tags.push_back((*random)() % 8 | ((*random)() & mask) << 8);
      }
    }
    system.octet_counts.push_back(count);
  }
  return system;
}

bool SameRows(std::vector<std::pair<uint64_t, uint32_t>> a,
              std::vector<std::pair<uint64_t, uint32_t>> b) {
  // In reduced echelon form, which is unique for the space that they span.
  for (auto* rows : {&a, &b}) {
    for (size_t i = 0; i < rows->size(); ++i) {
      std::sort(rows->begin() + static_cast<std::ptrdiff_t>(i), rows->end(),
                [](const auto& x, const auto& y) {
                  return (x.first & (0 - x.first)) < (y.first & (0 - y.first));
                });
      const auto pivot = (*rows)[i];
      for (size_t j = 0; j < rows->size(); ++j) {
        if (j != i && ((*rows)[j].first & pivot.first & (0 - pivot.first)) != 0) {
          (*rows)[j].first ^= pivot.first;
          (*rows)[j].second ^= pivot.second;
        }
      }
    }
  }
  return a == b;
}

std::vector<std::pair<uint64_t, uint32_t>> RowsOf(const RibbonCarried& carried) {
  std::vector<std::pair<uint64_t, uint32_t>> rows;
  for (uint32_t i = 0; i < carried.count; ++i) {
    rows.emplace_back(carried.coefficients[i], carried.fingerprints[i]);
  }
  return rows;
}

TEST(RibbonSolver, KernelsAgreeOnWhatIsSolvable) {
  std::mt19937_64 random(3);
  int outcomes[3] = {};
  for (int round = 0; round < 4000; ++round) {
    const auto columns = static_cast<uint32_t>(1 + random() % 25);
    const System system =
        RandomSystem(&random, 1 + random() % 30, static_cast<uint32_t>(5 + random() % 6), columns);
    const Eliminated scalar = Eliminate(internal::kRibbonSolverScalar, system, columns);
    for (const Kernel kernel : AvailableKernels()) {
      const Eliminated other = Eliminate(internal::RibbonSolverFor(kernel), system, columns);
      ++outcomes[static_cast<int>(other.outcome)];
      if (other.outcome == RibbonOutcome::kTooManyRows) continue;
      ASSERT_EQ(other.outcome, scalar.outcome) << KernelName(kernel);
      if (scalar.outcome != RibbonOutcome::kSolved) continue;
      for (size_t i = 0; i < scalar.pivots.size(); ++i) {
        ASSERT_EQ(other.pivots[i] != 0, scalar.pivots[i] != 0) << KernelName(kernel);
      }
      ASSERT_TRUE(SameRows(RowsOf(other.carried), RowsOf(scalar.carried))) << KernelName(kernel);
    }
  }
  for (const int count : outcomes) {
    EXPECT_TRUE(count > 20 || AvailableKernels().back() != Kernel::kAvx512) << count;
  }
}

// A copy of a row with another fingerprint contradicts it, also if both are still in flight when
// the columns end.
TEST(RibbonSolver, ContradictionsAmongCarriedRows) {
  for (const Kernel kernel : AvailableKernels()) {
    System system;
    system.coefficients = {0x8000000000000001, 0x4000000000000001, 0x4000000000000001};
    system.tags = {5 << 8, 6 << 8, 6 << 8};
    system.octet_counts = {3};
    const Eliminated same = Eliminate(internal::RibbonSolverFor(kernel), system, 8);
    EXPECT_EQ(same.outcome, RibbonOutcome::kSolved);
    EXPECT_EQ(same.carried.count, 1u);
    system.tags[2] = 7 << 8;
    EXPECT_EQ(Eliminate(internal::RibbonSolverFor(kernel), system, 8).outcome,
              RibbonOutcome::kContradiction);
  }
}

}  // namespace
}  // namespace blocksieve::testing
