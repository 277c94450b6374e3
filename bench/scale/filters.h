#pragma once

#include <cstdint>

#include "bench/scale/model.h"
#include "bench/scale/results.h"
#include "blocksieve/bytes.h"
#include "blocksieve/filter_reader.h"
#include "blocksieve/sizing.h"

namespace blocksieve::bench::scale {

/// The keys with the numbers first ... first + count - 1 (bench/filter_bench/keys.h).
struct KeyRange {
  uint64_t first = 0;
  uint64_t count = 0;
};

struct BuiltFilter {
  OwnedBytes block;
  Layout layout;
  FilterReader reader;  ///< Of `block`.
};

/// Throws Failure, also if another kind than that asked for had to be built.
BuiltFilter BuildFilter(FilterKind kind, double target_fpr, KeyRange keys);

/// Asks for every key of the range, all of which should be there.
uint64_t CountFalseNegatives(const FilterReader& reader, KeyRange keys);

/// Builds one filter of `num_keys` keys of 16 bytes in a process of its own, asks it for every one
/// of them, and probes absent keys. Throws Failure.
FilterResult MeasureFilter(FilterKind kind, double target_fpr, uint64_t num_keys);

/// Builds the filters of every file of the planned tree, asks each for all of its keys, and looks
/// absent keys up: of each level, in the file whose range they are in. In a process of its own.
/// Throws Failure.
TreeResult MeasureTree(uint64_t num_keys, const Asking& asking);

}  // namespace blocksieve::bench::scale
