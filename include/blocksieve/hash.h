#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <string_view>

#include "blocksieve/status.h"

namespace blocksieve {

/// The hash of every filter: 64-bit XXH3 with a seed that no one else uses, `seed` xor a constant.
/// Part of the byte format: equal bytes hash to the same value on all platforms and in all
/// versions. `key` may be any bytes, including none.
///
/// Filters of keys use seed 0. Keys may be spread over databases, files or servers by any other
/// hash, such as plain XXH3 or HashKey with another seed, but not by HashKey(key, 0): the filters
/// of such a shard would use the same bits again, and pass many absent keys.
BLOCKSIEVE_EXPORT uint64_t HashKey(std::string_view key, uint64_t seed = 0) noexcept;

}  // namespace blocksieve
