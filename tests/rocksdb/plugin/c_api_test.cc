// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <cstring>
#include <functional>
#include <utility>

#include "blocksieve/c.h"
#include "tests/support/logs.h"
#include "tests/support/test_db.h"

// The C interface, with objects that RocksDB's own C interface made and frees.

namespace blocksieve::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// The error of a call that gets this errptr. Empty: none.
std::string CatchError(const std::function<void(char**)>& call) {
  char* error = strdup("an earlier error, which is freed");
  char* const earlier = error;
  call(&error);
  std::string text = error == earlier ? "" : error;
  rocksdb_free(error);
  return text;
}

class CApiTest : public ::testing::Test {
 protected:
  CApiTest() {
    rocksdb_options_set_create_if_missing(options_, 1);
    rocksdb_options_set_write_buffer_size(options_, 1 << 20);
  }
  ~CApiTest() override {
    Close();
    rocksdb_options_destroy(options_);
  }

  std::string SetPolicy(const char* text) {
    return CatchError([&](char** error) {
      rocksdb_filterpolicy_t* const policy = blocksieve_filterpolicy_create(text, error);
      if (policy == nullptr) return;
      rocksdb_block_based_table_options_t* const table = rocksdb_block_based_options_create();
      rocksdb_block_based_options_set_filter_policy(table, policy);
      rocksdb_options_set_block_based_table_factory(options_, table);
      rocksdb_block_based_options_destroy(table);
    });
  }
  std::string Enable(const char* text) {
    return CatchError([&](char** error) { blocksieve_enable(options_, text, error); });
  }

  std::string Open() {
    return CatchError([&](char** error) { db_ = rocksdb_open(options_, path_.c_str(), error); });
  }
  void Close() {
    if (db_ != nullptr) rocksdb_close(std::exchange(db_, nullptr));
  }

  void Put(const std::string& key, const std::string& value) {
    rocksdb_writeoptions_t* const write = rocksdb_writeoptions_create();
    EXPECT_THAT(CatchError([&](char** error) {
                  rocksdb_put(db_, write, key.data(), key.size(), value.data(), value.size(),
                              error);
                }),
                IsEmpty());
    rocksdb_writeoptions_destroy(write);
  }
  void Flush() {
    rocksdb_flushoptions_t* const flush = rocksdb_flushoptions_create();
    EXPECT_THAT(CatchError([&](char** error) { rocksdb_flush(db_, flush, error); }), IsEmpty());
    rocksdb_flushoptions_destroy(flush);
  }

  // The keys that are left, or the error.
  static std::vector<std::string> ReadKeys(rocksdb_iterator_t* iterator) {
    std::vector<std::string> keys;
    for (; rocksdb_iter_valid(iterator) != 0; rocksdb_iter_next(iterator)) {
      size_t size = 0;
      const char* const key = rocksdb_iter_key(iterator, &size);
      keys.emplace_back(key, size);
    }
    const std::string error =
        CatchError([&](char** text) { rocksdb_iter_get_error(iterator, text); });
    if (!error.empty()) keys.push_back(error);
    return keys;
  }

  const TempDir dir_;
  const std::string path_ = dir_ / "db";
  rocksdb_options_t* const options_ = rocksdb_options_create();
  rocksdb_t* db_ = nullptr;
};

TEST_F(CApiTest, PolicyIsWrittenToOptionsFiles) {
  for (const char* const text : {"{id=blocksieve;target_fpr=0.02;kind=bloom;max_build_bytes=64M}",
                                 "{id=blocksieve;bits_per_key=10;kind=stock}"}) {
    EXPECT_THAT(SetPolicy(text), IsEmpty());
    EXPECT_THAT(Open(), IsEmpty());
    EXPECT_EQ(StoredOptions(path_).filter_policy()->ToString(StrictConfig()),
              PolicyFromString(text)->ToString(StrictConfig()));
    Close();
  }
}

TEST_F(CApiTest, CountsRangeQueries) {
  EXPECT_THAT(Enable("blocksieve:0.01"), IsEmpty());  // the last call counts
  EXPECT_THAT(Enable("ranges=true;plain_range_reads=true"), IsEmpty());
  EXPECT_THAT(Open(), IsEmpty());
  for (int i = 0; i < 1000; ++i) Put("key" + std::to_string(1000 + i), "value");
  Flush();
  const uint64_t before = blocksieve_range_filter_count("no", nullptr);
  rocksdb_readoptions_t* const read = rocksdb_readoptions_create();
  rocksdb_readoptions_set_iterate_upper_bound(read, "key1001", 7);
  rocksdb_iterator_t* const iterator = rocksdb_create_iterator(db_, read);
  rocksdb_iter_seek(iterator, "key1000a", 8);
  EXPECT_THAT(ReadKeys(iterator), IsEmpty());
  EXPECT_GT(blocksieve_range_filter_count("no", nullptr), before);
  rocksdb_iter_destroy(iterator);
  rocksdb_readoptions_destroy(read);
}

TEST_F(CApiTest, IteratorsLeaveOutFilesThatCannotMatch) {
  // A file that moves to another level meanwhile is read.
  rocksdb_options_set_disable_auto_compactions(options_, 1);
  EXPECT_THAT(Enable("columns=n=int:value;carrier=filter_and_sidecar"), IsEmpty());
  EXPECT_THAT(Open(), IsEmpty());
  for (int i = 0; i < 10; ++i) {
    Put("k" + std::to_string(i), std::to_string(i / 2));
    if (i % 2 != 0) Flush();
  }
  blocksieve_pruning_t* pruning = nullptr;
  const auto prune = [&](const char* condition) {
    return CatchError([&](char** error) {
      rocksdb_readoptions_t* const base = rocksdb_readoptions_create();
      rocksdb_readoptions_set_iterate_upper_bound(base, "k7", 2);
      pruning = blocksieve_prune_reads(db_, nullptr, condition, base, error);
      rocksdb_readoptions_destroy(base);
    });
  };
  EXPECT_THAT(prune("n = 3 LIMIT 1"), HasSubstr("LIMIT"));
  EXPECT_EQ(pruning, nullptr);
  EXPECT_THAT(prune("n = 3"), IsEmpty());
  rocksdb_iterator_t* const rows =
      rocksdb_create_iterator(db_, blocksieve_pruning_read_options(pruning));
  rocksdb_iter_seek_to_first(rows);
  EXPECT_THAT(ReadKeys(rows), ElementsAre("k6"));
  rocksdb_iter_destroy(rows);
  EXPECT_EQ(blocksieve_pruning_count(pruning, "files_pruned", nullptr), 4u);
  EXPECT_EQ(blocksieve_pruning_count(pruning, "tables_left_out", nullptr), 4u);
  EXPECT_THAT(CatchError([&](char** error) { blocksieve_pruning_count(pruning, "files", error); }),
              HasSubstr("num_files, files_pruned"));
  EXPECT_EQ(blocksieve_pruning_matches(pruning, "k", 1, "3", 1, nullptr), 1);
  EXPECT_EQ(blocksieve_pruning_matches(pruning, "k", 1, "4", 1, nullptr), 0);
  blocksieve_pruning_destroy(pruning);
  blocksieve_pruning_destroy(nullptr);
  EXPECT_EQ(blocksieve_pruning_read_options(nullptr), nullptr);
}

TEST_F(CApiTest, GivesMetricsAsText) {
  EXPECT_THAT(Enable("blocksieve:0.01"), IsEmpty());
  EXPECT_THAT(Open(), IsEmpty());
  Put("key", "value");
  Flush();
  char* error = nullptr;
  char* const text = blocksieve_filter_metrics(db_, nullptr, 0, &error);
  EXPECT_EQ(error, nullptr);
  EXPECT_THAT(text, HasSubstr(",column_family=\"default\",level=\"0\","
                              "filter=\"blocksieve\"} 1\n"));
  rocksdb_free(text);
}

TEST_F(CApiTest, ScansBySkipIndex) {
  EXPECT_THAT(Enable("columns=package=field:1|size=uint:2"), IsEmpty());
  EXPECT_THAT(Open(), IsEmpty());
  for (int i = 0; i < 1000; ++i) {
    Put("key" + std::to_string(1000 + i), "p" + std::to_string(i / 3) + "\t" + std::to_string(i));
  }
  Flush();
  rocksdb_readoptions_t* const read = rocksdb_readoptions_create();
  const rocksdb_snapshot_t* const snapshot = rocksdb_create_snapshot(db_);
  rocksdb_readoptions_set_snapshot(read, snapshot);
  Put("key1001", "gone");
  const auto scan = [&](const char* query, const rocksdb_readoptions_t* options) {
    char* error = nullptr;
    rocksdb_iterator_t* const iterator =
        blocksieve_create_skip_scan(db_, options, nullptr, query, &error);
    EXPECT_EQ(error, nullptr);
    return iterator;
  };
  rocksdb_iterator_t* rows = scan("package = 'p0' AND size > 0", read);
  rocksdb_iter_seek_to_first(rows);  // as many bindings do
  EXPECT_THAT(ReadKeys(rows), ElementsAre("key1001", "key1002"));
  rocksdb_iter_next(rows);
  rocksdb_iter_seek_to_first(rows);
  EXPECT_THAT(ReadKeys(rows), ElementsAre(HasSubstr("a skip scan goes forward once")));
  rocksdb_iter_destroy(rows);
  rows = scan("package = 'p0' ORDER BY size DESC LIMIT 2", nullptr);
  EXPECT_THAT(ReadKeys(rows), ElementsAre("key1002", "key1000"));
  rocksdb_iter_destroy(rows);
  EXPECT_THAT(CatchError([&](char** error) {
                EXPECT_EQ(blocksieve_create_skip_scan(db_, read, nullptr, "size ==", error),
                          nullptr);
              }),
              HasSubstr("position 8: expected"));
  rocksdb_release_snapshot(db_, snapshot);
  rocksdb_readoptions_destroy(read);
}

TEST_F(CApiTest, NullArgumentsAreErrors) {
  const std::function<void(char**)> calls[] = {
      [](char** error) { blocksieve_enable(nullptr, "", error); },
      [](char** error) { blocksieve_create_iterator(nullptr, nullptr, nullptr, "", error); },
      [](char** error) { blocksieve_create_skip_scan(nullptr, nullptr, nullptr, "TRUE", error); },
      [](char** error) { blocksieve_filter_metrics(nullptr, nullptr, 0, error); }};
  for (const auto& call : calls) EXPECT_THAT(CatchError(call), HasSubstr(" is null"));
  EXPECT_THAT(Open(), IsEmpty());
  EXPECT_THAT(CatchError([&](char** error) { blocksieve_filter_metrics(db_, nullptr, 1, error); }),
              HasSubstr("column_families is null"));
  EXPECT_THAT(
      CatchStderr([] { EXPECT_EQ(blocksieve_filterpolicy_create(nullptr, nullptr), nullptr); }),
      HasSubstr("options_text is null"));
}

}  // namespace
}  // namespace blocksieve::testing
