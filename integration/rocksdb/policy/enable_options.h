#pragma once  // SPDX-License-Identifier: Apache-2.0

#include "blocksieve/rocksdb/enable.h"
#include "integration/rocksdb/compat/option_type.h"

// EnableOptions as text: one table, of which RocksDB's option strings of each object take a part.

namespace blocksieve::rocksdb_plugin {

/// All options of Enable.
const OptionTable& EnableOptionTable();

/// Those of a filter policy.
const OptionTable& PolicyOptionTable();

/// Those of a block index.
const OptionTable& BlockIndexOptionTable();

/// Whether there is a goal or a kind, so that key filters are asked for.
inline bool HasKeyFilters(const EnableOptions& options) {
  return options.target_fpr || options.wasted_reads || options.bits_per_key ||
         options.filter_memory || options.kind;
}

/// Whether something answers for ranges of keys.
inline bool AnswersRanges(const EnableOptions& options) {
  return options.ranges || !options.prefixes.empty();
}

/// " (with ranges=true)", or with the prefixes: for errors about what these need. REQUIRES:
/// AnswersRanges(options)
inline std::string ForRanges(const EnableOptions& options) {
  return " (with " + (options.ranges ? "ranges=true" : "prefixes=" + options.prefixes) + ")";
}

}  // namespace blocksieve::rocksdb_plugin
