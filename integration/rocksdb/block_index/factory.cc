// SPDX-License-Identifier: Apache-2.0
#include "integration/rocksdb/block_index/factory.h"

#include <rocksdb/convenience.h>
#include <rocksdb/sst_file_reader.h>

#include <atomic>
#include <new>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "blocksieve/prefix.h"
#include "integration/rocksdb/compat/log.h"
#include "integration/rocksdb/compat/option_type.h"
#include "integration/rocksdb/compat/user_index.h"
#include "integration/rocksdb/compat/version_differences.h"
#include "integration/rocksdb/index/skip_index_properties.h"
#include "lib/base/checksum.h"
#include "lib/base/errors.h"

namespace blocksieve {

using namespace rocksdb_plugin;  // NOLINT: the same component

#if BLOCKSIEVE_HAS_USER_INDEX

namespace rocksdb_plugin {
namespace {

using rocksdb::IterateResult;
using rocksdb::Slice;
using rocksdb::UserDefinedIndexBuilder;
using rocksdb::UserDefinedIndexFactory;
using rocksdb::UserDefinedIndexIterator;
using rocksdb::UserDefinedIndexReader;

// The file that this thread's next iterator reads, as a table filter noted it. Readers are not told
// which file is theirs, so the note also has number and size of its blocks.
thread_local struct {
  const void* choice = nullptr;
  uint64_t num_blocks = 0;
  uint64_t data_size = 0;
  std::shared_ptr<const FileBlocks> blocks;  // keeps the choice, whose address is compared
} noted_file;

class Builder final : public UserDefinedIndexBuilder {
 public:
  explicit Builder(BlockIndexBuilder builder) : builder_(std::move(builder)) {}

  void OnKeyAdded(const Slice& key, ValueType type, const Slice& value) override {
    const EntryValue kind = type == kValue    ? EntryValue::kPlain
                            : type == kDelete ? EntryValue::kNone
                                              : EntryValue::kUnknown;
    builder_.AddEntry(key.ToStringView(), kind, value.ToStringView());
  }

  Slice AddIndexEntry(const Slice& last_key, const Slice* next_key, const BlockHandle& block,
                      std::string*, const IndexEntryContext& context) override {
    const std::string_view next = next_key == nullptr ? "" : next_key->ToStringView();
    return Slice(builder_.EndBlock(last_key.ToStringView(), next_key == nullptr ? nullptr : &next,
                                   {block.offset, block.size}, context.last_key_tag));
  }

  // RocksDB takes a block without bytes for "no index".
  rocksdb::Status Finish(Slice* contents) override {
    *contents = Slice(builder_.Finish());
    return rocksdb::Status::OK();
  }

  uint64_t EstimatedSize() const override { return builder_.EstimatedBytes(); }

 private:
  BlockIndexBuilder builder_;
};

class Iterator final : public UserDefinedIndexIterator {
 public:
  /// `last_prepared`: identifies the ranges that the last iterator of the file prepared.
  Iterator(const BlockIndex& index, BlockIndexRead read, std::atomic<uint64_t>* last_prepared)
      : iterator_(index, std::move(read)), last_prepared_(*last_prepared) {}

  void Prepare(const rocksdb::ScanOptions scans[], size_t num_scans) override try {
    std::vector<AnnouncedRange> ranges;
    for (size_t i = 0; i < num_scans; ++i) {
      const auto& [start, limit] = std::tie(scans[i].range.start, scans[i].range.limit);
      AnnouncedRange& range = ranges.emplace_back();
      if (start) range.begin = start->ToString();
      if (limit) range.end = limit->ToString();
    }
    // If they come again, a level had dropped the iterator at a range without a block. Iterators
    // would be made and dropped for range after range if the last one had no block either.
    uint64_t id = ranges.size();
    if (id != 0) id = WideChecksum(AsBytes(ranges.back().begin + ranges.front().begin), id);
    iterator_.Prepare(std::move(ranges), last_prepared_.exchange(id) == id);
  } catch (const std::bad_alloc&) {
    iterator_.Prepare({}, false);
  }

  rocksdb::Status SeekAndGetResult(const Slice& target, IterateResult* result,
                                   const SeekContext& context) override {
    return Move(result, [&] { iterator_.Seek(target.ToStringView(), context.target_tag); });
  }
  rocksdb::Status SeekToFirstAndGetResult(IterateResult* result) override {
    return Move(result, [&] { iterator_.SeekToFirst(); });
  }
  rocksdb::Status SeekToLastAndGetResult(IterateResult* result) override {
    return Move(result, [&] { iterator_.SeekToLast(); });
  }
  rocksdb::Status NextAndGetResult(IterateResult* result) override {
    return Move(result, [&] { iterator_.Next(); });
  }
  rocksdb::Status PrevAndGetResult(IterateResult* result) override {
    return Move(result, [&] { iterator_.Prev(); });
  }

  UserDefinedIndexBuilder::BlockHandle value() override {
    const BlockHandle block = iterator_.entry().block();
    return {block.offset, block.size};
  }

 private:
  template <class Moves>
  rocksdb::Status Move(IterateResult* result, const Moves& moves) try {
    moves();
    // Not kOutOfBound at the end: the next file of the level may have rows for the iterator.
    result->bound_check_result =
        iterator_.Valid() ? rocksdb::IterBoundCheck::kInbound : rocksdb::IterBoundCheck::kUnknown;
    if (iterator_.Valid()) result->key = iterator_.entry().separator();
    return rocksdb::Status::OK();
  } catch (const std::bad_alloc&) {
    return rocksdb::Status::MemoryLimit();
  }

  BlockIndexIterator iterator_;
  std::atomic<uint64_t>& last_prepared_;
};

class Reader final : public UserDefinedIndexReader {
 public:
  explicit Reader(std::optional<BlockIndex> index) : index_(std::move(index)) {}

  std::unique_ptr<UserDefinedIndexIterator> NewIterator(
      const rocksdb::ReadOptions& options) override try {
    const auto note = std::exchange(noted_file, {});
    if (!index_) return nullptr;  // RocksDB makes it a Corruption of this read
    BlockIndexRead read;
    // Gets, compactions and others pass bounds too, and must see every entry.
    if (options.io_activity == rocksdb::Env::IOActivity::kDBIterator && !options.tailing) {
      read.lower = options.iterate_lower_bound;
      read.upper = options.iterate_upper_bound;
      if (note.blocks != nullptr && note.choice == options.table_index_factory &&
          note.num_blocks == index_->entries().size() &&
          note.data_size == index_->entries().end_offset()) {
        read.blocks = note.blocks->Of(*index_);
      }
    }
    return std::make_unique<Iterator>(*index_, std::move(read), &last_prepared_);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }

  size_t ApproximateMemoryUsage() const override {
    return sizeof(*this) + (index_ ? index_->memory_bytes() : 0);
  }

 private:
  const std::optional<BlockIndex> index_;
  std::atomic<uint64_t> last_prepared_ = 0;
};

rocksdb::Status ParsePrefixRuleOption(const std::string&, const std::string& text,
                                      std::string* prefixes) {
  if (text == "none" || text == "auto") {
    *prefixes = text == "none" ? "" : text;
    return rocksdb::Status::OK();
  }
  const Result<std::string> rule = CanonicalPrefixRule(text);
  if (rule.ok()) *prefixes = *rule;
  return ToRocksStatus(rule.status());
}

const OptionTypes& BlockIndexOptionTypes() {
  // Never destroyed: databases may be closed while static destructors run.
  static const auto& types = *new OptionTypes{
      {"ranges", SwitchOption(offsetof(BlockIndexOptions, ranges))},
      {"range_fpr", OptionAsText<double>(offsetof(BlockIndexOptions, range_fpr), ParseTargetFpr,
                                         ToText<double>)},
      {"prefixes",
       OptionAsText<std::string>(offsetof(BlockIndexOptions, prefixes), ParsePrefixRuleOption,
                                 [](const std::string& prefixes) { return prefixes; })},
      {"prefix_fpr", OptionAsText<double>(offsetof(BlockIndexOptions, prefix_fpr), ParseTargetFpr,
                                          ToText<double>)},
      {"columns", ColumnsOption(offsetof(BlockIndexOptions, columns))},
      {"value_fpr", OptionAsText<double>(offsetof(BlockIndexOptions, value_fpr), ParseTargetFpr,
                                         ToText<double>)},
      {"value_suffix_bytes",
       WholeOption<uint32_t>(offsetof(BlockIndexOptions, value_suffix_bytes))},
      {"max_index_bytes", WholeOption<uint64_t>(offsetof(BlockIndexOptions, max_index_bytes))},
  };
  return types;
}

}  // namespace

class BlockIndexFactory final : public UserDefinedIndexFactory {
 public:
  static const char kName[];

  explicit BlockIndexFactory(BlockIndexOptions options) : options_(std::move(options)) {
    // RocksDB compares what it reads back from an OPTIONS file.
    if (const auto rule = CanonicalPrefixRule(options_.prefixes); rule.ok()) {
      options_.prefixes = *rule;
    }
    RegisterOptions("BlocksieveBlockIndexOptions", &options_, &BlockIndexOptionTypes());
  }

  const char* Name() const override { return kName; }
  const BlockIndexOptions& options() const { return options_; }

  rocksdb::Status PrepareOptions(const rocksdb::ConfigOptions& config) override {
    const Status valid =
        BlockIndexBuilder::Create(options_, rocksdb::BytewiseComparator()).status();
    // When RocksDB reads an OPTIONS file, it silently drops the factory.
    if (!valid.ok()) {
      LogLoudly(nullptr, "no block indexes for new files; reason: ", valid.message());
      return ToRocksStatus(valid);
    }
    return UserDefinedIndexFactory::PrepareOptions(config);
  }

  rocksdb::Status ValidateOptions(
      const rocksdb::DBOptions& db,
      const rocksdb::ColumnFamilyOptions& column_family) const override {
    const Status valid = BlockIndexBuilder::Create(options_, column_family.comparator).status();
    if (!valid.ok()) return ToRocksStatus(valid);
    return UserDefinedIndexFactory::ValidateOptions(db, column_family);
  }

  // A null builder would make RocksDB write no block, which it refuses to read as primary index.
  rocksdb::Status NewBuilder(const rocksdb::UserDefinedIndexOption& table,
                             std::unique_ptr<UserDefinedIndexBuilder>& builder) const override try {
    Result<BlockIndexBuilder> made = BlockIndexBuilder::Create(options_, table.comparator);
    if (!made.ok()) return ToRocksStatus(made.status());
    builder = std::make_unique<Builder>(*std::move(made));
    return rocksdb::Status::OK();
  } catch (const std::bad_alloc&) {
    return rocksdb::Status::MemoryLimit();
  }

  rocksdb::Status NewReader(const rocksdb::UserDefinedIndexOption& table, Slice& block,
                            std::unique_ptr<UserDefinedIndexReader>& reader) const override try {
    Result<BlockIndex> index = BlockIndex::Open(AsBytes(block.ToStringView()), table.comparator);
    if (index.status().code() == StatusCode::kResourceExhausted) throw std::bad_alloc();
    if (describes_ != nullptr) {
      *describes_ = {.num_bytes = block.size()};
      if (index.ok()) {
        describes_->num_blocks = index->entries().size();
        describes_->has_ranges = index->answers_ranges();
        if (index->values() != nullptr) describes_->columns = index->values()->columns();
      } else {
        describes_->problem = index.status().message();
      }
    }
    if (!index.ok() && describes_ == nullptr)
      LogLoudly(nullptr, "an index cannot be used; reason: ", index.status().message());
    reader = std::make_unique<Reader>(index.ok() ? std::optional(*std::move(index)) : std::nullopt);
    return rocksdb::Status::OK();
  } catch (const std::bad_alloc&) {
    return rocksdb::Status::MemoryLimit();
  }

  // RocksDB calls those above.
  UserDefinedIndexBuilder* NewBuilder() const override { return nullptr; }
  std::unique_ptr<UserDefinedIndexReader> NewReader(Slice&) const override { return nullptr; }

  void DescribeIn(OpenedBlockIndex* opened) { describes_ = opened; }

 private:
  BlockIndexOptions options_;
  OpenedBlockIndex* describes_ = nullptr;  // null: nothing is described
};

const char BlockIndexFactory::kName[] = "blocksieve.index";

struct BlockIndexChoice::Parts {
  BlockIndexFactory factory{{}};
};

BlockIndexChoice::BlockIndexChoice() : parts_(std::make_unique<Parts>()) {}
BlockIndexChoice::~BlockIndexChoice() = default;

void BlockIndexChoice::Set(rocksdb::ReadOptions* options) const {
  options->table_index_factory = &parts_->factory;
}

void BlockIndexChoice::NoteFile(const rocksdb::TableProperties& properties,
                                std::shared_ptr<const FileBlocks> blocks) const {
  noted_file = {&parts_->factory, properties.num_data_blocks, properties.data_size,
                std::move(blocks)};
}

int RegisterBlockIndex(rocksdb::ObjectLibrary& library) {
  library.AddFactory<UserDefinedIndexFactory>(
      BlockIndexFactory::kName,
      [](const std::string&, std::unique_ptr<UserDefinedIndexFactory>* guard, std::string*) {
        guard->reset(new BlockIndexFactory({}));
        return guard->get();
      });
  return 1;
}

std::optional<BlockIndexOptions> BlockIndexOptionsOf(
    const rocksdb::ColumnFamilyOptions& column_family) {
  const auto& tables = column_family.table_factory;
  const auto* const table =
      tables == nullptr ? nullptr : tables->GetOptions<rocksdb::BlockBasedTableOptions>();
  if (table == nullptr) return std::nullopt;
  const auto* const factory = As<BlockIndexFactory>(table->user_defined_index_factory.get());
  return factory == nullptr ? std::nullopt : std::optional(factory->options());
}

void DescribeBlockIndexes(OpenedBlockIndex* opened, rocksdb::BlockBasedTableOptions* table) {
  auto factory = std::make_shared<BlockIndexFactory>(BlockIndexOptions());
  factory->DescribeIn(opened);
  table->user_defined_index_factory = std::move(factory);
}

rocksdb::Status SetBlockIndex(const BlockIndexOptions& index,
                              rocksdb::ColumnFamilyOptions* column_family) {
  auto table = *column_family->table_factory->GetOptions<rocksdb::BlockBasedTableOptions>();
  const auto& present = table.user_defined_index_factory;
  if (present != nullptr && present->Name() != std::string_view(kBlockIndexName)) {
    return OptionOutOfRange("user_defined_index_factory", present->Name(), "none");
  }
  const uint32_t threads = column_family->compression_opts.parallel_threads;
  if (threads > 1) {
    return OptionOutOfRange("compression_opts.parallel_threads", ToText(threads),
                            "1 with a user-defined index");
  }
  const auto factory = std::make_shared<BlockIndexFactory>(index);
  BLOCKSIEVE_RETURN_IF_ERROR(factory->ValidateOptions({}, *column_family));
  table.user_defined_index_factory = factory;
  column_family->table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  return rocksdb::Status::OK();
}

}  // namespace rocksdb_plugin

rocksdb::Status MakeIndexPrimary(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* column_family,
                                 rocksdb::ColumnFamilyOptions* options) {
  return PublicCall({{"db", db}, {"options", options}}, [&]() -> rocksdb::Status {
    if (!BlockIndexOptionsOf(*options)) {
      return rocksdb::Status::InvalidArgument(
          "blocksieve: the options have no block index; call EnableIndex first");
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
                " cannot be read by its block index, so the index cannot be primary; compact it "
                "with the index enabled",
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

std::optional<BlockIndexOptions> BlockIndexOptionsOf(const rocksdb::ColumnFamilyOptions&) {
  return std::nullopt;
}

void DescribeBlockIndexes(OpenedBlockIndex*, rocksdb::BlockBasedTableOptions*) {}

rocksdb::Status SetBlockIndex(const BlockIndexOptions&, rocksdb::ColumnFamilyOptions*) {
  return rocksdb::Status::NotSupported(
      "blocksieve: block indexes need RocksDB 11.2 or later; this was compiled for " +
      rocksdb::GetRocksVersionAsString() +
      ". EnableRangeFilter and EnableSkipIndex work with every version");
}

struct BlockIndexChoice::Parts {};
BlockIndexChoice::BlockIndexChoice() = default;
BlockIndexChoice::~BlockIndexChoice() = default;
void BlockIndexChoice::Set(rocksdb::ReadOptions*) const {}
void BlockIndexChoice::NoteFile(const rocksdb::TableProperties&,
                                std::shared_ptr<const FileBlocks>) const {}

}  // namespace rocksdb_plugin

rocksdb::Status MakeIndexPrimary(rocksdb::DB*, rocksdb::ColumnFamilyHandle*,
                                 rocksdb::ColumnFamilyOptions* options) {
  return SetBlockIndex({}, options);
}

#endif

}  // namespace blocksieve
