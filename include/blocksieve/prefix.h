#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <string>
#include <string_view>

#include "blocksieve/status.h"

namespace blocksieve {

/// A rule that finds prefixes of keys, such as "delimiter:/,depth:3", "lengths:4,12" or
/// "fields:len8,2,len32,8" (FilterPolicyOptions::prefixes has all), in the form that filters report
/// it. Errors: InvalidArgument, with the position.
BLOCKSIEVE_EXPORT Result<std::string> CanonicalPrefixRule(std::string_view text);

}  // namespace blocksieve
