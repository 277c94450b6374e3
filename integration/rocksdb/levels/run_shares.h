#pragma once

#include <rocksdb/metadata.h>

#include <vector>

namespace blocksieve::rocksdb_plugin {

/// Which share of the lookups of absent keys ask each level, 0 to 1; on level 0, each of its files,
/// on average. A level is asked for keys between the first and the last one of each of its files.
///
/// Lookups are taken to be where the keys of the column family are, and these as the level with
/// most of them has them: its files are divided in proportion to their keys, and within a file keys
/// are taken to be spread evenly over the numbers that their bytes make. What other levels have
/// besides counts, too.
///
/// 1 for all levels where the order of keys is not that of their bytes, or no level has keys.
/// `entries_per_byte` is for files that do not say how many entries they have.
std::vector<double> SharesOfLookups(const rocksdb::ColumnFamilyMetaData& column_family,
                                    double entries_per_byte);

/// No level counts for less: lookups may be elsewhere tomorrow.
inline constexpr double kLeastShareOfLookups = 1.0 / 32;

}  // namespace blocksieve::rocksdb_plugin
