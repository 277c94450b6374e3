#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <rocksdb/status.h>
#include <rocksdb/table_properties.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "blocksieve/rocksdb/enable.h"
#include "blocksieve/skip_index.h"
#include "integration/rocksdb/compat/option_type.h"

// The table properties of a file's skip index. All but the index are text, for sst_dump.

namespace blocksieve::rocksdb_plugin {

/// All options of a column family's skip indexes, those of EnableOptions and of granules.
struct SkipIndexSettings {
  SkipIndexOptions index = {};
  uint64_t max_property_bytes = EnableOptions().max_property_bytes;
  uint32_t value_suffix_bytes = 0;
  /// For problems, since RocksDB gives a collector no log. Null: stderr.
  std::shared_ptr<rocksdb::Logger> info_log = nullptr;
};

/// The index, in the format of lib/FORMAT.md. Absent if the file has no index.
inline constexpr char kIndexProperty[] = "blocksieve.granules";
/// Version, options and columns of the index, one per line: see IdentityText.
inline constexpr char kIdentityProperty[] = "blocksieve.granules.identity";
/// The max_index_bytes that would have kept all parts, in decimal, if some were left out.
inline constexpr char kNeededProperty[] = "blocksieve.granules.needed_bytes";
/// Why the file has no index.
inline constexpr char kProblemProperty[] = "blocksieve.granules.problem";

/// RocksDB's property of files that an SstFileWriter wrote.
inline constexpr char kExternalFileProperty[] = "rocksdb.external_sst_file.version";

/// The options that determine the index of a file. Equal if and only if two SkipIndexSettings make
/// the same index; RebuildSkipIndexes indexes files whose text differs.
std::string IdentityText(const SkipIndexSettings& settings);

/// Parses an IdentityText; options that it does not contain have their defaults. Nothing if it is
/// malformed or of another version.
std::optional<SkipIndexSettings> ReadIdentityText(std::string_view text);

/// The definitions of the columns in an IdentityText, also those that this version does not know.
std::vector<std::string_view> ColumnLines(std::string_view text);

/// The property, or "".
std::string_view FindProperty(const rocksdb::UserCollectedProperties& properties, const char* name);

/// "/a/b/000012.sst": "000012.sst"
std::string BaseName(std::string_view path);

/// "/a/b/000012.sst": 12; 0 if the name has no number.
uint64_t ParseFileNumber(std::string_view path);

/// The options of SkipIndexSettings.
const OptionTable& SkipIndexOptionTable();

}  // namespace blocksieve::rocksdb_plugin
