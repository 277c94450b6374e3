#include "lib/ribbon/solver.h"
#include "lib/ribbon/solver_octets.h"
#include "lib/ribbon/solver_parts.h"

namespace blocksieve::internal {
namespace {

void FindStarts(const uint64_t* mixed, size_t num_rows, uint32_t multiplier, uint32_t num_octets,
                uint32_t fold, uint32_t* starts) {
  FindStartsOf(mixed, num_rows, multiplier, num_octets, fold, starts);
}

RibbonOutcome Eliminate(const RibbonRows& rows, uint32_t fingerprint_columns,
                        RibbonEchelon* echelon) {
  return EliminateByOctets(rows, fingerprint_columns, echelon);
}

// The processor that this is for has no instruction to count bits; x86 has a parity flag.
BLOCKSIEVE_INLINE uint64_t Parity(uint64_t x) noexcept {
  return static_cast<uint64_t>(__builtin_parityll(x));
}

void BackSubstitute(const uint64_t* pivots, uint32_t fingerprint_columns, const uint64_t* next,
                    uint64_t* words) {
  BackSubstituteByWords<Parity>(pivots, fingerprint_columns, next, words);
}

}  // namespace

const RibbonSolver kRibbonSolverScalar = {&FindStarts, &Eliminate, &BackSubstitute};

const RibbonSolver& RibbonSolverFor(Kernel kernel) noexcept {
  switch (kernel) {
#if defined(__x86_64__)
    case Kernel::kAvx2:
      return kRibbonSolverAvx2;
    case Kernel::kAvx512:
      return kRibbonSolverAvx512;
#endif
    default:
      return kRibbonSolverScalar;
  }
}

}  // namespace blocksieve::internal
