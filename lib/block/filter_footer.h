#pragma once

#include <string>

#include "blocksieve/filter_block.h"

namespace blocksieve::internal {

/// Everything that follows the payload: footer and zero bytes. `info.block_bytes` is not read.
std::string EncodeFooter(const FilterInfo& info);

/// EncodeFooter(info).size(), without making it.
uint64_t FooterBytes(const FilterInfo& info) noexcept;

}  // namespace blocksieve::internal
