#include "lib/base/kernels.h"

#include <array>
#include <cstdlib>
#include <string>
#include <utility>

namespace blocksieve {
namespace {

// Slowest first.
constexpr std::array<std::pair<Kernel, std::string_view>, 4> kKernelNames{{
    {Kernel::kScalar, "scalar"},
    {Kernel::kAvx2, "avx2"},
    {Kernel::kAvx512, "avx512"},
    {Kernel::kNeon, "neon"},
}};

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
                      __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512vbmi") &&
                      __builtin_cpu_supports("avx512vbmi2") &&
                      __builtin_cpu_supports("avx512vpopcntdq") && __builtin_cpu_supports("gfni");
  if (avx2) kernels |= Bit(Kernel::kAvx2);
  if (avx512) kernels |= Bit(Kernel::kAvx512);
#elif defined(__aarch64__)
  kernels |= Bit(Kernel::kNeon);  // part of the base architecture
#endif
  return kernels;
}

}  // namespace

namespace internal {

std::optional<Kernel> ParseKernel(std::string_view text) noexcept {
  for (const auto& [kernel, name] : kKernelNames) {
    if (name == text) return kernel;
  }
  return std::nullopt;
}

const std::vector<Kernel>& AvailableKernels() {
  static const std::vector<Kernel> kernels = [] {
    std::vector<Kernel> available;
    for (const auto& [kernel, name] : kKernelNames) {
      if (IsAvailable(kernel)) available.push_back(kernel);
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

namespace {

Kernel FastestKernel() {
  Kernel fastest = Kernel::kScalar;
  for (const auto& [kernel, name] : kKernelNames) {
    if (internal::IsAvailable(kernel)) fastest = kernel;
  }
  return fastest;
}

// The value of BLOCKSIEVE_KERNEL; empty if unset.
std::string_view ForcedKernel() {
  // NOLINTNEXTLINE(concurrency-mt-unsafe): read under the locks of statics only
  const char* const forced = std::getenv("BLOCKSIEVE_KERNEL");
  return forced == nullptr ? "" : forced;
}

Kernel ChooseKernel() {
  const std::optional<Kernel> forced = internal::ParseKernel(ForcedKernel());
  return forced && internal::IsAvailable(*forced) ? *forced : FastestKernel();
}

std::string DescribeOverrideProblem() {
  const std::string forced(ForcedKernel());
  if (forced.empty()) return "";
  const std::optional<Kernel> kernel = internal::ParseKernel(forced);
  if (kernel && internal::IsAvailable(*kernel)) return "";
  std::string allowed;
  for (const Kernel available : internal::AvailableKernels()) {
    allowed += (allowed.empty() ? "" : ", ") + std::string(KernelName(available));
  }
  return forced + (kernel ? ": not available" : ": unknown") + "; allowed here: " + allowed;
}

}  // namespace

std::string_view KernelName(Kernel kernel) noexcept {
  for (const auto& [known, name] : kKernelNames) {
    if (known == kernel) return name;
  }
  return "unknown";
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
