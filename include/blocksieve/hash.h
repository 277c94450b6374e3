#pragma once

#include <cstdint>
#include <string_view>

#include "blocksieve/status.h"

namespace blocksieve {

/// The one hash of every filter: XXH3, 64 bits, with `seed` (0 unless a filter says otherwise).
/// Part of the byte format: all platforms and versions give the same value for the same bytes.
/// Any key is allowed, the empty one included. Thread-safe.
BLOCKSIEVE_EXPORT uint64_t HashKey(std::string_view key, uint64_t seed = 0) noexcept;

}  // namespace blocksieve
