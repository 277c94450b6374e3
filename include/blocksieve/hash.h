#pragma once

#include <cstdint>
#include <string_view>

#include "blocksieve/status.h"

namespace blocksieve {

/// The hash of every filter: 64-bit XXH3 with `seed` (0 unless a filter says otherwise). Part of
/// the byte format: equal bytes hash to the same value on all platforms and in all versions.
/// `key` may be any bytes, including none.
BLOCKSIEVE_EXPORT uint64_t HashKey(std::string_view key, uint64_t seed = 0) noexcept;

}  // namespace blocksieve
