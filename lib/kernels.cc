#include "blocksieve/kernels.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string>
#include <utility>

namespace blocksieve {
namespace {

constexpr std::array<std::pair<Kernel, std::string_view>, 4> kNames{{
    {Kernel::kScalar, "scalar"},
    {Kernel::kAvx2, "avx2"},
    {Kernel::kAvx512, "avx512"},
    {Kernel::kNeon, "neon"},
}};

std::vector<Kernel> DetectKernels() {
  std::vector<Kernel> kernels{Kernel::kScalar};
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
  if (avx2) kernels.push_back(Kernel::kAvx2);
  if (avx512) kernels.push_back(Kernel::kAvx512);
#elif defined(__aarch64__)
  kernels.push_back(Kernel::kNeon);  // part of the base architecture
#endif
  return kernels;
}

struct Choice {
  Kernel kernel;
  std::string problem;
};

Choice ChooseKernel() {
  const Kernel fastest = AvailableKernels().back();
  // NOLINTNEXTLINE(concurrency-mt-unsafe): read once, under the lock of a static
  const char* forced = std::getenv("BLOCKSIEVE_KERNEL");
  if (forced == nullptr || *forced == '\0') return {fastest, ""};
  const std::optional<Kernel> kernel = ParseKernel(forced);
  if (!kernel) return {fastest, std::string(forced) + ": unknown"};
  if (!IsAvailable(*kernel)) return {fastest, std::string(forced) + ": not available"};
  return {*kernel, ""};
}

const Choice& ChosenKernel() {
  static const Choice choice = ChooseKernel();
  return choice;
}

}  // namespace

std::string_view KernelName(Kernel kernel) noexcept {
  for (const auto& [known, name] : kNames) {
    if (known == kernel) return name;
  }
  return "unknown";
}

std::optional<Kernel> ParseKernel(std::string_view text) noexcept {
  for (const auto& [kernel, name] : kNames) {
    if (name == text) return kernel;
  }
  return std::nullopt;
}

const std::vector<Kernel>& AvailableKernels() {
  static const std::vector<Kernel> kernels = DetectKernels();
  return kernels;
}

bool IsAvailable(Kernel kernel) {
  const std::vector<Kernel>& kernels = AvailableKernels();
  return std::find(kernels.begin(), kernels.end(), kernel) != kernels.end();
}

Kernel ActiveKernel() { return ChosenKernel().kernel; }

std::string_view KernelOverrideProblem() { return ChosenKernel().problem; }

}  // namespace blocksieve
