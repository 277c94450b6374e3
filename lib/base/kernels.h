#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

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

/// The kernel that readers use: what the environment variable BLOCKSIEVE_KERNEL names, if it is
/// available here, else the fastest available one. Decided at the first call of the process.
/// Thread-safe.
Kernel ActiveKernel();

/// What is wrong with BLOCKSIEVE_KERNEL ("avx9: unknown", "neon: not available"); empty if nothing
/// is. For integrations to log; the core never prints.
std::string_view KernelOverrideProblem();

}  // namespace blocksieve

namespace blocksieve::internal {

/// The inverse of KernelName; nothing for any other text.
std::optional<Kernel> ParseKernel(std::string_view name) noexcept;

/// Kernels that are compiled in and that this processor can run, slowest first. Never empty.
const std::vector<Kernel>& AvailableKernels();

/// Whether AvailableKernels() has `kernel`.
bool IsAvailable(Kernel kernel);

}  // namespace blocksieve::internal
