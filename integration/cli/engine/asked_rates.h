#pragma once

#include <map>
#include <optional>
#include <string>

namespace blocksieve::cli {

/// What the options of a column family ask of blocksieve's policy. Neither: one rate for all files.
struct AskedRates {
  std::optional<double> wasted_reads;
  std::optional<double> bits_per_key;
  bool kind_is_auto = false;  ///< Bloom filters are of flushes, ribbons of compactions.
};

/// By the name of the column family; those of which nothing is known are missing.
using AskedRatesByFamily = std::map<std::string, AskedRates>;

}  // namespace blocksieve::cli
