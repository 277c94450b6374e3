// SPDX-License-Identifier: Apache-2.0
#include "lib/base/kernels.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <optional>
#include <string>

namespace blocksieve {
namespace {

// By number, which ascends with the speed.
constexpr std::string_view kKernelNames[] = {"scalar", "avx2", "avx512", "neon"};

// Choosing a kernel does not allocate, because it runs when the first filter is opened.

constexpr uint32_t Bit(Kernel kernel) { return uint32_t{1} << static_cast<uint32_t>(kernel); }

uint32_t DetectKernels() {
  uint32_t kernels = Bit(Kernel::kScalar);
#if defined(__x86_64__)
  __builtin_cpu_init();
  // The flags of Haswell (2013) and of Ice Lake (2019) or Zen 4 (2022): the older AVX-512
  // processors lack VPOPCNTDQ and lower their clock, and are better served by AVX2.
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
                    __builtin_cpu_supports("bmi2");
  const bool avx512 = avx2 && __builtin_cpu_supports("avx512f") &&
                      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
                      __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512vbmi2") &&
                      __builtin_cpu_supports("avx512vpopcntdq");
  if (avx2) kernels |= Bit(Kernel::kAvx2);
  if (avx512) kernels |= Bit(Kernel::kAvx512);
#elif defined(__aarch64__)
  kernels |= Bit(Kernel::kNeon);  // part of the base architecture
#endif
  return kernels;
}

// The value of BLOCKSIEVE_KERNEL; empty if unset.
std::string_view ForcedKernel() {
  // NOLINTNEXTLINE(concurrency-mt-unsafe): read under the locks of statics only
  const char* const forced = std::getenv("BLOCKSIEVE_KERNEL");
  return forced == nullptr ? "" : forced;
}

/// The inverse of KernelName; nullopt for any other text.
std::optional<Kernel> ParseKernel(std::string_view text) noexcept {
  const auto* const found = std::find(std::begin(kKernelNames), std::end(kKernelNames), text);
  if (found == std::end(kKernelNames)) return std::nullopt;
  return static_cast<Kernel>(found - std::begin(kKernelNames));
}

Kernel ChooseKernel() {
  const std::optional<Kernel> forced = ParseKernel(ForcedKernel());
  if (forced && internal::IsAvailable(*forced)) return *forced;
  size_t fastest = std::size(kKernelNames) - 1;
  while (!internal::IsAvailable(Kernel(fastest))) --fastest;
  return Kernel(fastest);
}

std::string DescribeOverrideProblem() {
  const std::string forced(ForcedKernel());
  if (forced.empty()) return "";
  const std::optional<Kernel> kernel = ParseKernel(forced);
  if (kernel && internal::IsAvailable(*kernel)) return "";
  std::string allowed;
  for (const Kernel available : internal::AvailableKernels()) {
    allowed += (allowed.empty() ? "" : ", ") + std::string(KernelName(available));
  }
  return forced + (kernel ? ": not available" : ": unknown") + "; allowed here: " + allowed;
}

}  // namespace

namespace internal {

const std::vector<Kernel>& AvailableKernels() {
  static const std::vector<Kernel> kernels = [] {
    std::vector<Kernel> available;
    for (size_t i = 0; i < std::size(kKernelNames); ++i) {
      if (IsAvailable(Kernel(i))) available.push_back(Kernel(i));
    }
    return available;
  }();
  return kernels;
}

bool IsAvailable(Kernel kernel) {
  static const uint32_t kernels = DetectKernels();
  return (kernels & Bit(kernel)) != 0;
}

}  // namespace internal

std::string_view KernelName(Kernel kernel) noexcept {
  const auto number = static_cast<size_t>(kernel);
  return number < std::size(kKernelNames) ? kKernelNames[number] : "unknown";
}

Kernel ActiveKernel() {
  static const Kernel kernel = ChooseKernel();
  return kernel;
}

std::string_view KernelOverrideProblem() {
  static const std::string problem = DescribeOverrideProblem();
  return problem;
}

}  // namespace blocksieve
