#pragma once

#include <rocksdb/status.h>
#include <rocksdb/utilities/options_type.h>

#include <string>
#include <unordered_map>

#include "blocksieve/rocksdb/skip_index.h"
#include "blocksieve/skip_index.h"

// SkipIndexOptions as text, for RocksDB's option strings and OPTIONS files:
//   table_properties_collectors={{id=blocksieve.skip_index;columns=pkg=field:1|w=words:2}}

namespace blocksieve::rocksdb_plugin {

/// Errors: InvalidArgument, naming the option, its value and the allowed range.
rocksdb::Status ValidateSkipIndexOptions(const SkipIndexOptions& options);

/// Builds the index of one file as `options` say. Errors: those of SkipIndexBuilder::Create.
Result<SkipIndexBuilder> MakeSkipIndexBuilder(const SkipIndexOptions& options);

/// How RocksDB parses, writes and compares each option. Lives as long as the process.
const std::unordered_map<std::string, rocksdb::OptionTypeInfo>& SkipIndexOptionTypes();

}  // namespace blocksieve::rocksdb_plugin
