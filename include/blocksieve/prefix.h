#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string_view>

#include "blocksieve/status.h"

/// \file
/// Prefixes of keys that only the application knows. FilterPolicyOptions::prefixes and
/// FilterOptions::prefixes have rules for delimiters, lengths and fields.

namespace blocksieve {

/// Writes the lengths of the prefixes of `key` to `lengths`, in ascending order, none of them 0 or
/// above the key's, and returns their number, at most lengths.size() == 16. Called by many threads
/// at once. Whether it reports n must depend on the first n bytes of the key alone: otherwise range
/// queries miss keys. A filter for which it throws or breaks the rest of this says "may match".
using PrefixCallback = std::function<size_t(std::string_view key, std::span<size_t> lengths)>;

/// Makes a callback known to this process as "callback:<name>". To be called before databases are
/// opened: filters whose callback is unknown say "may match". Another rule needs another name.
/// Thread-safe. Errors: InvalidArgument if the name is not 1 to 64 letters, digits, '.', '_' and
/// '-', or is taken, or if the callback is null.
BLOCKSIEVE_EXPORT Status RegisterPrefixCallback(std::string_view name, PrefixCallback callback);

}  // namespace blocksieve
