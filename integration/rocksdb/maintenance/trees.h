#pragma once

#include <cstdint>
#include <vector>

#include "blocksieve/tree.h"
#include "integration/rocksdb/maintenance/file_report.h"

// The files of a database as the model of a tree sees them.

namespace blocksieve::rocksdb_plugin {

/// The entries of the file's filters, which include the prefixes of a prefix extractor, but not
/// those of the option `prefixes`; without a readable filter, the entries of the file.
uint64_t FilterKeys(const FileReport& file);

/// Bytes of the file's key filters, without range filters and prefixes.
uint64_t PointBytes(const FilterReport& filter);

/// One tree for each column family, named after it, in which lookups check runs by the key ranges
/// of files, if they are known. The id of a file is its number in `files`, which are in the order
/// of ListFiles.
std::vector<Tree> TreesOf(const std::vector<FileReport>& files);

}  // namespace blocksieve::rocksdb_plugin
