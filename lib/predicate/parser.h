#pragma once

#include <span>
#include <string_view>

#include "blocksieve/column.h"
#include "lib/predicate/node.h"

namespace blocksieve::internal {

/// See Predicate::Parse.
Result<PredicateNodePointer> ParsePredicate(std::string_view text, std::span<const Column> columns,
                                            size_t* error_position);

}  // namespace blocksieve::internal
