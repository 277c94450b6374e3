#include "lib/ribbon/solver.h"

#if defined(__x86_64__)

#include "lib/ribbon/solver_octets.h"
#include "lib/ribbon/solver_parts.h"

// The scalar kernel for processors that have AVX2, and with it instructions for shifts, trailing
// zeros and counting bits.
#define BLOCKSIEVE_AVX2 __attribute__((target("avx2,bmi,bmi2,popcnt")))

namespace blocksieve::internal {
namespace {

BLOCKSIEVE_AVX2 void FindStarts(const uint64_t* mixed, size_t num_rows, uint32_t multiplier,
                                uint32_t num_octets, uint32_t fold, uint32_t* starts) {
  FindStartsOf(mixed, num_rows, multiplier, num_octets, fold, starts);
}

BLOCKSIEVE_AVX2 RibbonOutcome Eliminate(const RibbonRows& rows, uint32_t fingerprint_columns,
                                        RibbonEchelon* echelon) {
  return EliminateByOctets(rows, fingerprint_columns, echelon);
}

BLOCKSIEVE_INLINE uint64_t Parity(uint64_t x) noexcept {
  return static_cast<uint64_t>(__builtin_popcountll(x)) & 1;
}

BLOCKSIEVE_AVX2 void BackSubstitute(const uint64_t* pivots, uint32_t fingerprint_columns,
                                    const uint64_t* next, uint64_t* words) {
  BackSubstituteByWords<Parity>(pivots, fingerprint_columns, next, words);
}

}  // namespace

const RibbonSolver kRibbonSolverAvx2 = {&FindStarts, &Eliminate, &BackSubstitute};

}  // namespace blocksieve::internal

#endif  // __x86_64__
