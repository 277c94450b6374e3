// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <rocksdb/slice_transform.h>
#include <rocksdb/sst_file_reader.h>
#include <rocksdb/table.h>

#include <memory>
#include <string>

#include "integration/rocksdb/index/skip_index_catalog.h"
#include "tests/rocksdb/scan/skip_test_db.h"

// Granules that are the table's data blocks.

namespace blocksieve {
namespace {

using namespace blocksieve::testing;  // NOLINT: test support

class BlockGranulesTest : public ::testing::Test {
 protected:
  static constexpr uint64_t kRows = 5000;
  static constexpr uint64_t kRowGranules = (kRows + kDefaultGranuleRows - 1) / kDefaultGranuleRows;

  BlockGranulesTest() {
    index_.columns = Columns({"n=int:field:1"});
    config_ = SkipConfig({index_});
    config_.table.block_size = 4096;
  }

  // One file with rows of about `row_bytes`.
  void Write(uint64_t row_bytes = 100) {
    db_ = std::make_unique<TestDb>(config_);
    for (uint64_t i = 0; i < kRows; ++i) {
      std::string value = std::to_string(i) + "\t";
      value.resize(row_bytes, static_cast<char>('a' + i % 26));
      MustBeOk(db_->db().Put({}, Key(i), value));
    }
    db_->Flush();
    const rocksdb::TablePropertiesCollection files = FilesOf(db_->db());
    ASSERT_EQ(files.size(), 1u);
    properties_ = files.begin()->second;
    file_ = std::make_unique<rocksdb_plugin::SstIndex>(properties_);
    ASSERT_NE(file_->index(), nullptr) << file_->problem();
  }

  uint64_t Blocks() const { return properties_->num_data_blocks; }
  uint64_t Granules() const { return file_->index()->num_granules(); }

  // Data blocks that a scan reads for one row.
  uint64_t BlocksReadFor(uint64_t row) {
    ScanExplanation explanation;
    const Predicate predicate = Where("n = " + std::to_string(row), index_.columns);
    EXPECT_EQ(Scan(&db_->db(), nullptr, predicate, AlwaysSkip(), &explanation).size(), 1u);
    return explanation.data_blocks_read;
  }

  SkipIndexOptions index_;
  DbConfig config_;
  std::unique_ptr<TestDb> db_;
  std::shared_ptr<const rocksdb::TableProperties> properties_;
  std::unique_ptr<rocksdb_plugin::SstIndex> file_;
};

TEST_F(BlockGranulesTest, AScanForOneRowReadsOneBlock) {
  config_.table.no_block_cache = true;
  Write();
  EXPECT_EQ(Granules(), Blocks());
  uint64_t read = 0;
  for (uint64_t row = 0; row < kRows; row += 7) read += BlocksReadFor(row);
  // Except for false positives, one in a thousand granules.
  EXPECT_LE(read, (kRows / 7 + 1) * (1000 + Blocks()) / 1000 * 102 / 100);
  EXPECT_GE(read, kRows / 7);
}

TEST_F(BlockGranulesTest, ManySmallRowsOfABlockAreOneGranule) {
  Write(10);
  // Limits close granules in the first block, as the table may turn out to have no blocks.
  EXPECT_GT(Granules(), Blocks());
  EXPECT_LE(Granules(), Blocks() + 3);
}

TEST_F(BlockGranulesTest, CountRowsOnRequest) {
  index_.block_granules = false;
  config_ = SkipConfig({index_});
  Write();
  EXPECT_EQ(Granules(), kRowGranules);
}

TEST_F(BlockGranulesTest, CountRowsWhileBlocksWaitForADictionary) {
  config_.options.compression = rocksdb::kZSTD;
  config_.options.compression_opts.max_dict_bytes = 16 << 10;
  config_.options.compression_opts.zstd_max_train_bytes = 64 << 10;
  config_.options.bottommost_compression_opts = config_.options.compression_opts;
  Write();
  EXPECT_EQ(Granules(), kRowGranules);
}

TEST_F(BlockGranulesTest, CountRowsInTablesWithoutBlocks) {
  config_.options.allow_mmap_reads = true;
  config_.options.prefix_extractor.reset(rocksdb::NewFixedPrefixTransform(3));
  rocksdb::Options options = config_.ToOptions();
  options.table_factory.reset(rocksdb::NewPlainTableFactory());
  const TempDir dir;
  const std::string path = dir / "plain.sst";
  TestDb::Model rows;
  for (uint64_t i = 0; i < kRows; ++i) rows[Key(i)] = std::to_string(i);
  WriteSst(options, path, rows);
  rocksdb::SstFileReader reader(options);
  MustBeOk(reader.Open(path));
  const rocksdb_plugin::SstIndex file(reader.GetTableProperties());
  ASSERT_NE(file.index(), nullptr) << file.problem();
  EXPECT_EQ(file.index()->num_granules(), kRowGranules);
}

// Then blocks are written some time after their rows were added.
TEST_F(BlockGranulesTest, AreBoundedIfOtherThreadsCompress) {
  config_.options.compression = rocksdb::kZSTD;
  config_.options.compression_opts.parallel_threads = 4;
  Write();
  EXPECT_GE(Granules(), kRows * 100 / (4 * kDefaultGranuleBytes));
  EXPECT_LE(Granules(), Blocks() + 4);
  for (uint64_t row = 0; row < kRows; row += 500) BlocksReadFor(row);
}

}  // namespace
}  // namespace blocksieve
