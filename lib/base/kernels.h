#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "blocksieve/kernels.h"

// Of use to tests and benchmarks, which compare kernels.

namespace blocksieve::internal {

/// The inverse of KernelName; nothing for any other text.
std::optional<Kernel> ParseKernel(std::string_view name) noexcept;

/// Kernels that are compiled in and that this processor can run, slowest first. Never empty.
const std::vector<Kernel>& AvailableKernels();

/// Whether AvailableKernels() has `kernel`.
bool IsAvailable(Kernel kernel);

}  // namespace blocksieve::internal
