#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <rocksdb/customizable.h>

#include <atomic>
#include <memory>
#include <string>

#include "integration/rocksdb/block_index/block_index.h"
#include "integration/rocksdb/compat/user_index.h"
#include "integration/rocksdb/compat/version_differences.h"

// RocksDB's interface of an index, by the classes of block_index.h.

namespace blocksieve::rocksdb_plugin {

/// The id in option strings, and the name in files.
inline constexpr char kBlockIndexName[] = "blocksieve.block_index";

/// The block index of a file that was opened.
struct OpenedBlockIndex {
  uint64_t num_bytes = 0;                        ///< 0 without an index.
  std::shared_ptr<const BlockIndex> index = {};  ///< With a copy of its bytes; null if damaged.
  std::string problem = {};                      ///< Why it cannot be used; empty if it can.
};

/// What makes iterators use block indexes and leave out blocks, as
/// ReadOptions::table_index_factory. Must outlive them. Null before RocksDB 11.2.
using BlockIndexChoice = std::unique_ptr<const rocksdb::Customizable>;

/// `blocks` must outlive the iterators. Throws std::bad_alloc.
BlockIndexChoice NewBlockIndexChoice(const BlocksOfFiles* blocks);

/// Sets the option. A null choice replaces only an earlier one of NewBlockIndexChoice.
void ChooseIndex(const rocksdb::Customizable* choice, rocksdb::ReadOptions* options);

#if BLOCKSIEVE_HAS_USER_INDEX

/// Makes indexes of new files and readers of those in files. As an option of reads, says which
/// blocks are read.
class BlockIndexFactory final : public rocksdb::UserDefinedIndexFactory {
 public:
  static const char kName[];

  /// `blocks`: of a NewBlockIndexChoice; null: the factory is an option of a table.
  explicit BlockIndexFactory(const EnableOptions& options, const BlocksOfFiles* blocks = nullptr);

  const char* Name() const override { return kName; }
  const EnableOptions& options() const { return options_; }
  bool is_choice() const { return blocks_ != nullptr; }

  rocksdb::Status PrepareOptions(const rocksdb::ConfigOptions& config) override;
  rocksdb::Status ValidateOptions(const rocksdb::DBOptions& db,
                                  const rocksdb::ColumnFamilyOptions& family) const override;

  rocksdb::Status NewBuilder(
      const rocksdb::UserDefinedIndexOption& table,
      std::unique_ptr<rocksdb::UserDefinedIndexBuilder>& builder) const override;
  rocksdb::Status NewReader(
      const rocksdb::UserDefinedIndexOption& table, rocksdb::Slice& block,
      std::unique_ptr<rocksdb::UserDefinedIndexReader>& reader) const override;

  // RocksDB calls those above.
  rocksdb::UserDefinedIndexBuilder* NewBuilder() const override { return nullptr; }
  std::unique_ptr<rocksdb::UserDefinedIndexReader> NewReader(rocksdb::Slice&) const override {
    return nullptr;
  }

  /// The blocks of a file to read, by a choice; null: all.
  std::shared_ptr<const GranuleSet> Find(const BlockIndex& index) const;

  /// Describes each index that is opened in `*opened`, which must outlive this.
  void DescribeIn(OpenedBlockIndex* opened) { describes_ = opened; }

 private:
  EnableOptions options_;
  const BlocksOfFiles* const blocks_;
  // Whether the index was the primary one in options that a database was opened with. RocksDB then
  // refuses files without it. Never cleared: another family may have the same factory.
  mutable std::atomic<bool> is_primary_ = false;
  OpenedBlockIndex* describes_ = nullptr;  // null: nothing is described
};

#endif

}  // namespace blocksieve::rocksdb_plugin
