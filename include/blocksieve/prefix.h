#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "blocksieve/status.h"

/// \file
/// Rules that find prefixes of keys, and prefixes that only the application can find.

namespace blocksieve {

/// A rule such as "delimiter:/,depth:3", "lengths:4,12", "fields:len8,2,len32,8" or
/// "callback:NAME" (FilterPolicyOptions::prefixes has all), in the form that filters report it.
/// Errors: InvalidArgument, with the position.
BLOCKSIEVE_EXPORT Result<std::string> CanonicalPrefixRule(std::string_view text);

/// Writes the lengths of the prefixes of `key` to `lengths`, in ascending order, from 1 to the
/// length of the key, and returns their number, at most lengths.size() == 16. Must be thread-safe.
///
/// Whether it returns a length n must depend on the first n bytes of the key alone, or range
/// queries miss keys. Two cuts of each key with a new prefix are checked. If that or another check
/// fails, or the callback throws, the filter answers "may match".
using PrefixCallback = std::function<size_t(std::string_view key, std::span<size_t> lengths)>;

/// Registers a callback for this process under the rule "callback:<name>". Call it before opening
/// databases: a filter whose callback is not registered answers "may match". A callback that finds
/// other prefixes needs another name. Errors: InvalidArgument if the name is not 1 to 64 letters,
/// digits, '.', '_' and '-', or is taken, or if the callback is null.
BLOCKSIEVE_EXPORT Status RegisterPrefixCallback(std::string_view name, PrefixCallback callback);

}  // namespace blocksieve
