#pragma once

#include <cstdint>
#include <string_view>

namespace blocksieve {

/// Instruction sets that probes are written for. All give bit-identical answers; only speed
/// differs.
enum class Kernel : uint8_t {
  kScalar,  ///< Portable; always available.
  kAvx2,    ///< x86-64 with AVX2.
  kAvx512,  ///< x86-64 with AVX-512.
  kNeon,    ///< AArch64.
};

/// "scalar", "avx2", "avx512" or "neon".
std::string_view KernelName(Kernel kernel) noexcept;

/// The kernel that readers opened without naming one use: what the environment variable
/// BLOCKSIEVE_KERNEL names, if it is available here, else the fastest available one. Decided at the
/// first call of the process. Thread-safe.
Kernel ActiveKernel();

/// What is wrong with BLOCKSIEVE_KERNEL ("avx9: unknown", "neon: not available"); empty if nothing
/// is. For integrations to log; the core never prints.
std::string_view KernelOverrideProblem();

}  // namespace blocksieve
