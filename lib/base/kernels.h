#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <string_view>
#include <vector>

namespace blocksieve {

/// Instruction sets that probes are written for, slowest first. Answers are bit-identical; only
/// speed differs.
enum class Kernel : uint8_t {
  kScalar,  ///< Portable; always available.
  kAvx2,    ///< x86-64 with AVX2.
  kAvx512,  ///< x86-64 with AVX-512.
  kNeon,    ///< AArch64.
};

/// "scalar", "avx2", "avx512" or "neon".
std::string_view KernelName(Kernel kernel) noexcept;

/// The kernel that readers use: the one that the environment variable BLOCKSIEVE_KERNEL names, if
/// it is available, else the fastest available one. Chosen once per process. Thread-safe.
Kernel ActiveKernel();

/// The problem with BLOCKSIEVE_KERNEL, for integrations to log ("avx9: unknown", "neon: not
/// available"); empty if there is none.
std::string_view KernelOverrideProblem();

}  // namespace blocksieve

namespace blocksieve::internal {

/// The kernels that are compiled in and that this processor supports, slowest first. Never empty.
const std::vector<Kernel>& AvailableKernels();

/// Whether AvailableKernels() has `kernel`.
bool IsAvailable(Kernel kernel);

}  // namespace blocksieve::internal
