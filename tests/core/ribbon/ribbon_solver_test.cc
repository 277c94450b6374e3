#include "lib/ribbon/solver.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <random>
#include <utility>
#include <vector>

#include "blocksieve/internal/kernels.h"

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

/// The textbook: row by row, each added to by the pivots it meets until it is one itself.
Eliminated EliminateByRows(const System& system) {
  const size_t num_columns = system.octet_counts.size() * 8;
  Eliminated result;
  std::vector<uint64_t>& pivots = result.pivots;
  pivots.resize(num_columns + 64);
  std::vector<uint32_t> fingerprints(num_columns + 64);
  result.outcome = RibbonOutcome::kSolved;
  size_t next = 0;
  for (size_t octet = 0; octet < system.octet_counts.size(); ++octet) {
    for (uint32_t i = 0; i < system.octet_counts[octet]; ++i, ++next) {
      auto [row, tag] = system.rows[next];
      size_t column = octet * 8 + tag % 8;
      auto fingerprint = static_cast<uint32_t>(tag >> 8);
      for (; row != 0; row >>= 1, ++column) {
        if (row % 2 == 0) continue;
        if (pivots[column] == 0) {
          pivots[column] = row;
          fingerprints[column] = fingerprint;
          break;
        }
        row ^= pivots[column];
        fingerprint ^= fingerprints[column];
      }
      if (row == 0 && fingerprint != 0) result.outcome = RibbonOutcome::kContradiction;
    }
  }
  for (size_t i = 0; i < 64; ++i) {
    if (pivots[num_columns + i] == 0) continue;
    result.carried.coefficients[result.carried.count] = pivots[num_columns + i] << i;
    result.carried.fingerprints[result.carried.count++] = fingerprints[num_columns + i];
  }
  pivots.resize(num_columns);
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

/// Whether every row of the system is a sum of pivots and carried rows, fingerprint included.
bool Explains(const Eliminated& result, const System& system, uint32_t columns) {
  const size_t num_columns = result.pivots.size();
  const uint32_t groups = internal::RibbonPlaneGroups(columns);
  std::vector<uint64_t> pivots = result.pivots;
  pivots.resize(num_columns + 64);
  std::vector<uint32_t> fingerprints(num_columns + 64);
  for (size_t column = 0; column < num_columns; ++column) {
    for (uint32_t j = 0; j < columns; ++j) {
      const uint8_t plane = result.planes[(column / 8 * groups + j / 8) * 8 + j % 8];
      fingerprints[column] |= static_cast<uint32_t>(plane >> column % 8 & 1) << j;
    }
  }
  for (const auto& [row, fingerprint] : RowsOf(result.carried)) {
    const auto column = static_cast<size_t>(std::countr_zero(row));
    pivots[num_columns + column] = row >> column;
    fingerprints[num_columns + column] = fingerprint;
  }
  size_t next = 0;
  for (size_t octet = 0; octet < system.octet_counts.size(); ++octet) {
    for (uint32_t i = 0; i < system.octet_counts[octet]; ++i, ++next) {
      auto [row, tag] = system.rows[next];
      auto fingerprint = static_cast<uint32_t>(tag >> 8);
      for (size_t column = octet * 8 + tag % 8; row != 0; row >>= 1, ++column) {
        if (row % 2 == 0) continue;
        if (pivots[column] == 0) return false;
        row ^= pivots[column];
        fingerprint ^= fingerprints[column];
      }
      if (fingerprint != 0) return false;
    }
  }
  return true;
}

TEST(RibbonSolver, KernelsAgreeOnWhatIsSolvable) {
  std::mt19937_64 random(3);
  int outcomes[3] = {};
  for (int round = 0; round < 4000; ++round) {
    const auto columns = static_cast<uint32_t>(1 + random() % 25);
    const System system =
        RandomSystem(&random, 1 + random() % 60, static_cast<uint32_t>(5 + random() % 6), columns,
                     round % 2 == 0 ? 64 : 3);
    const Eliminated textbook = EliminateByRows(system);
    for (const Kernel kernel : internal::AvailableKernels()) {
      const Eliminated result = Eliminate(internal::RibbonSolverFor(kernel), system, columns);
      ++outcomes[static_cast<int>(result.outcome)];
      if (result.outcome == RibbonOutcome::kTooManyRows) {
        ASSERT_EQ(kernel, Kernel::kAvx512);
        continue;
      }
      ASSERT_EQ(result.outcome, textbook.outcome) << KernelName(kernel);
      if (textbook.outcome != RibbonOutcome::kSolved) continue;
      for (size_t i = 0; i < textbook.pivots.size(); ++i) {
        ASSERT_EQ(result.pivots[i] != 0, textbook.pivots[i] != 0) << KernelName(kernel);
      }
      ASSERT_TRUE(SameRows(RowsOf(result.carried), RowsOf(textbook.carried))) << KernelName(kernel);
      ASSERT_TRUE(Explains(result, system, columns)) << KernelName(kernel);
    }
  }
  for (const int count : outcomes) {
    EXPECT_TRUE(count > 20 || internal::AvailableKernels().back() != Kernel::kAvx512) << count;
  }
}

// A copy of a row with another fingerprint contradicts it, also if both are still in flight when
// the columns end.
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
