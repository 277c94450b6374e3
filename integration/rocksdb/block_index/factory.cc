// SPDX-License-Identifier: Apache-2.0
#include "integration/rocksdb/block_index/factory.h"

#include <rocksdb/convenience.h>
#include <rocksdb/sst_file_reader.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "integration/rocksdb/block_index/adapters.h"
#include "integration/rocksdb/block_index/file_id.h"
#include "integration/rocksdb/compat/log.h"
#include "integration/rocksdb/compat/option_type.h"
#include "integration/rocksdb/compat/user_index.h"
#include "integration/rocksdb/compat/version_differences.h"
#include "integration/rocksdb/index/skip_index_collector.h"
#include "integration/rocksdb/policy/policy.h"
#include "lib/base/errors.h"

namespace blocksieve {

using namespace rocksdb_plugin;  // NOLINT: the same component

#if BLOCKSIEVE_HAS_USER_INDEX

namespace rocksdb_plugin {
namespace {

using rocksdb::Slice;
using rocksdb::UserDefinedIndexBuilder;
using rocksdb::UserDefinedIndexFactory;
using rocksdb::UserDefinedIndexReader;

// Errors: InvalidArgument if the index would store what filters or a collector of skip indexes
// store in each file, too. Enable sets no such options, but option strings can.
rocksdb::Status CheckStoredOnce(const EnableOptions& index,
                                const rocksdb::ColumnFamilyOptions& family) {
  const Policy* const policy = FindPolicy(family);
  if (index.ranges && policy != nullptr && policy->options().ranges) {
    return OptionOutOfRange("ranges", "true, also of the block index", "true in one of them");
  }
  if (!index.prefixes.empty() && policy != nullptr && !policy->options().prefixes.empty()) {
    return OptionOutOfRange("prefixes", index.prefixes + ", also of the filters",
                            "none in one of them");
  }
  SkipIndexSettings collected;
  if (index.columns.empty() || !FindIndexOptions(family, &collected).ok()) {
    return rocksdb::Status::OK();
  }
  return OptionOutOfRange("columns", "set, also of the skip index", "none in one of them");
}

// Errors: InvalidArgument, also for rates that nothing uses.
rocksdb::Status CheckOptions(EnableOptions options, const rocksdb::Comparator* comparator) {
  BLOCKSIEVE_RETURN_IF_ERROR(BlockIndexOptionTable().Copy(&options, &options));
  return ToRocksStatus(BlockIndexBuilder::Create(options, comparator).status());
}

}  // namespace

BlockIndexFactory::BlockIndexFactory(const EnableOptions& options, const BlocksOfFiles* blocks)
    : blocks_(blocks) {
  if (blocks_ != nullptr) return;  // iterators read no options of it
  // RocksDB compares what it reads back from an OPTIONS file.
  BlockIndexOptionTable().Copy(&options, &options_).PermitUncheckedError();
  RegisterOptions("BlocksieveBlockIndexOptions", &options_, &BlockIndexOptionTable().types());
}

rocksdb::Status BlockIndexFactory::PrepareOptions(const rocksdb::ConfigOptions& config) {
  rocksdb::Status valid = CheckOptions(options_, rocksdb::BytewiseComparator());
  // When RocksDB reads an OPTIONS file, it silently drops the factory.
  if (!valid.ok()) {
    LogLoudly(nullptr, "no block indexes for new files; reason: ", ToMessage(valid));
    return valid;
  }
  return UserDefinedIndexFactory::PrepareOptions(config);
}

rocksdb::Status BlockIndexFactory::ValidateOptions(
    const rocksdb::DBOptions& db, const rocksdb::ColumnFamilyOptions& family) const {
  BLOCKSIEVE_RETURN_IF_ERROR(CheckOptions(options_, family.comparator));
  const auto& collectors = family.table_properties_collector_factories;
  if (!options_.columns.empty() && !std::ranges::any_of(collectors, IsFileIdCollector)) {
    LogLoudly(db.info_log.get(),
              std::string("the block index has columns, but PruneReads leaves out no blocks of "
                          "new files; add {id=") +
                  FileIdCollectorFactory::kName + "} to table_properties_collectors (Enable does)");
  }
  const auto* const table = family.table_factory->GetOptions<rocksdb::BlockBasedTableOptions>();
  if (table != nullptr && table->use_udi_as_primary_index) is_primary_ = true;
  BLOCKSIEVE_RETURN_IF_ERROR(CheckStoredOnce(options_, family));
  return UserDefinedIndexFactory::ValidateOptions(db, family);
}

const char BlockIndexFactory::kName[] = "blocksieve.block_index";

int RegisterBlockIndex(rocksdb::ObjectLibrary& library) {
  library.AddFactory<UserDefinedIndexFactory>(
      BlockIndexFactory::kName,
      [](const std::string&, std::unique_ptr<UserDefinedIndexFactory>* guard, std::string*) {
        guard->reset(new BlockIndexFactory({}));
        return guard->get();
      });
  return 1;
}

std::optional<EnableOptions> FindBlockIndexOptions(
    const rocksdb::ColumnFamilyOptions& column_family) {
  const auto& tables = column_family.table_factory;
  const auto* const table =
      tables == nullptr ? nullptr : tables->GetOptions<rocksdb::BlockBasedTableOptions>();
  if (table == nullptr) return std::nullopt;
  const auto* const factory = As<BlockIndexFactory>(table->user_defined_index_factory.get());
  return factory == nullptr ? std::nullopt : std::optional(factory->options());
}

rocksdb::Status CheckBlockIndexText(const std::string& value) {
  std::shared_ptr<UserDefinedIndexFactory> made;
  return UserDefinedIndexFactory::CreateFromString(Strict(), value, &made);
}

void DescribeBlockIndexes(OpenedBlockIndex* opened, rocksdb::BlockBasedTableOptions* table) {
  auto factory = std::make_shared<BlockIndexFactory>(EnableOptions());
  factory->DescribeIn(opened);
  table->user_defined_index_factory = std::move(factory);
}

std::shared_ptr<const BlockIndex> ReadBlockIndex(const SstPlace& sst,
                                                 const rocksdb::Comparator* comparator,
                                                 std::string* problem) {
  OpenedBlockIndex opened;
  rocksdb::BlockBasedTableOptions table;
  table.no_block_cache = true;
  DescribeBlockIndexes(&opened, &table);
  const std::unique_ptr<rocksdb::Env> env = rocksdb::NewCompositeEnv(sst.file_system);
  rocksdb::Options options;
  options.env = env.get();
  options.comparator = comparator;
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  const rocksdb::Status status = rocksdb::SstFileReader(options).Open(sst.path);
  *problem = status.ok() ? opened.problem : ToMessage(status);
  return opened.index;
}

rocksdb::Status CheckBlockIndex(const EnableOptions& features,
                                const rocksdb::ColumnFamilyOptions& family) {
  const auto* const table =
      family.table_factory == nullptr
          ? nullptr
          : family.table_factory->GetOptions<rocksdb::BlockBasedTableOptions>();
  if (table == nullptr) {
    return rocksdb::Status::NotSupported("blocksieve: block indexes need block-based tables");
  }
  const auto& present = table->user_defined_index_factory;
  if (present != nullptr && present->Name() != std::string_view(kBlockIndexName)) {
    return OptionOutOfRange("user_defined_index_factory", present->Name(), "none");
  }
  for (const auto& [name, compression] :
       {std::pair("compression_opts", &family.compression_opts),
        std::pair("bottommost_compression_opts", &family.bottommost_compression_opts)}) {
    if (compression->parallel_threads <= 1) continue;
    return OptionOutOfRange(name + std::string(".parallel_threads"),
                            ToText(compression->parallel_threads), "1 with a user-defined index");
  }
  return CheckOptions(features, family.comparator);
}

bool SetBlockIndex(const EnableOptions* features, rocksdb::BlockBasedTableOptions* table,
                   rocksdb::ColumnFamilyOptions* family) {
  auto& present = table->user_defined_index_factory;
  const bool was_ours = present != nullptr && present->Name() == std::string_view(kBlockIndexName);
  std::erase_if(family->table_properties_collector_factories, IsFileIdCollector);
  if (features != nullptr) {
    present = std::make_shared<BlockIndexFactory>(*features);
    if (!features->columns.empty() || features->filter_memory) {
      family->table_properties_collector_factories.push_back(
          std::make_shared<FileIdCollectorFactory>());
    }
  } else if (was_ours) {
    present = nullptr;
    table->use_udi_as_primary_index = false;
  }
  return was_ours && features == nullptr;
}

}  // namespace rocksdb_plugin

rocksdb::Status MakeIndexPrimary(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* column_family,
                                 rocksdb::ColumnFamilyOptions* options) {
  return PublicCall({{"db", db}, {"options", options}}, [&]() -> rocksdb::Status {
    if (!FindBlockIndexOptions(*options)) {
      return rocksdb::Status::InvalidArgument(
          "blocksieve: the options have no block index; call Enable first, and ExplainCarrier if "
          "it "
          "sets none");
    }
    auto table = *options->table_factory->GetOptions<rocksdb::BlockBasedTableOptions>();
    if (table.index_type == rocksdb::BlockBasedTableOptions::kTwoLevelIndexSearch) {
      return OptionOutOfRange("index_type", "kTwoLevelIndexSearch",
                              "kBinarySearch, kBinarySearchWithFirstKey, kHashSearch");
    }
    if (table.partition_filters) return OptionOutOfRange("partition_filters", "true", "false");
    rocksdb::Options reading{rocksdb::DBOptions(db->GetDBOptions()), *options};
    reading.env = db->GetEnv();
    table.use_udi_as_primary_index = true;
    reading.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
    if (column_family == nullptr) column_family = db->DefaultColumnFamily();
    rocksdb::ColumnFamilyMetaData metadata;
    db->GetColumnFamilyMetaData(column_family, &metadata);
    for (const auto& level : metadata.levels) {
      for (const auto& file : level.files) {
        const std::string path = file.db_path + file.name;
        const rocksdb::Status opened = rocksdb::SstFileReader(reading).Open(path);
        if (opened.ok()) continue;
        return rocksdb::Status::Incomplete(
            "blocksieve: file " + path +
                " cannot be read by its block index, so the index cannot be primary; rewrite it "
                "with the index enabled, for instance by RewriteFilters",
            opened.ToString());
      }
    }
    options->table_factory = reading.table_factory;
    return rocksdb::Status::OK();
  });
}

#else  // RocksDB has no user-defined index, or another one

namespace rocksdb_plugin {

int RegisterBlockIndex(rocksdb::ObjectLibrary&) { return 0; }

std::optional<EnableOptions> FindBlockIndexOptions(const rocksdb::ColumnFamilyOptions&) {
  return std::nullopt;
}

void DescribeBlockIndexes(OpenedBlockIndex*, rocksdb::BlockBasedTableOptions*) {}

std::shared_ptr<const BlockIndex> ReadBlockIndex(const SstPlace&, const rocksdb::Comparator*,
                                                 std::string* problem) {
  *problem = "RocksDB has no user-defined index before 11.2";
  return nullptr;
}

rocksdb::Status CheckBlockIndexText(const std::string&) { return CheckBlockIndex({}, {}); }

rocksdb::Status CheckBlockIndex(const EnableOptions&, const rocksdb::ColumnFamilyOptions&) {
  return rocksdb::Status::NotSupported(
      "blocksieve: block indexes need RocksDB 11.2 or later; this was compiled for " +
      rocksdb::GetRocksVersionAsString());
}

bool SetBlockIndex(const EnableOptions*, rocksdb::BlockBasedTableOptions*,
                   rocksdb::ColumnFamilyOptions*) {
  return false;
}

}  // namespace rocksdb_plugin

rocksdb::Status MakeIndexPrimary(rocksdb::DB*, rocksdb::ColumnFamilyHandle*,
                                 rocksdb::ColumnFamilyOptions* options) {
  return CheckBlockIndex({}, *options);
}

#endif

}  // namespace blocksieve
