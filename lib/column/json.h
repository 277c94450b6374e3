#pragma once

#include <string_view>

#include "blocksieve/column_visitor.h"
#include "lib/column/definition.h"

namespace blocksieve::internal {

/// Gives `visit` the values of the member of `row` that the definition's path names, until it
/// returns false. Returns whether there was one. REQUIRES: definition.source is kJson.
bool ForEachJsonValue(const ColumnDefinition& definition, std::string_view row, ValueVisitor visit);

}  // namespace blocksieve::internal
