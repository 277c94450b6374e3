#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
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

/// The share of a file's entries, 0 to 1, that sort before a key within the file's key range.
using ShareBeforeInFile = std::function<double(const FileReport& file, std::string_view key)>;

/// One tree for each column family, named after it. The id of a file is its number in `files`,
/// which are in the order of ListFiles. With `share_before`, lookups check runs by the key ranges
/// of their files, if those of all files of a family are known.
std::vector<Tree> TreesOf(const std::vector<FileReport>& files,
                          const ShareBeforeInFile& share_before = nullptr);

}  // namespace blocksieve::rocksdb_plugin
