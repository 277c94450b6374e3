#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "integration/rocksdb/maintenance/observed_reads.h"
#include "integration/rocksdb/maintenance/sorted_runs.h"

namespace blocksieve::cli {

using rocksdb_plugin::ObservedReads;

/// Estimates which lookups check which runs from the number of filters that they probed: a share of
/// the keys is where every run has keys, the others are where only one has. No effect if files have
/// no filters, whose lookups are not counted.
void SetCoverage(const ObservedReads& reads, rocksdb_plugin::RunList* list);

/// A few lines of text. `predicted`: wasted reads per lookup by the model of the tree, if there is
/// only one column family.
std::string ToText(const ObservedReads& reads, std::optional<double> predicted);

nlohmann::ordered_json ToJson(const ObservedReads& reads);

}  // namespace blocksieve::cli
