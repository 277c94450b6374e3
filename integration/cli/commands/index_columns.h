#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "blocksieve/column.h"

namespace blocksieve::cli {

/// The columns that are given as NAME=EXTRACTOR, with fields counted in the input line, as columns
/// of the stored value, which lacks field `key_field`. Fields of a delimiter of their own, as in
/// field(,):2, count in the value as they stand.
/// Throws UsageError: no definition, a column of the key, two of one name.
std::vector<Column> ParseIndexColumns(const std::vector<std::string>& definitions, char delimiter,
                                      uint32_t key_field);

}  // namespace blocksieve::cli
