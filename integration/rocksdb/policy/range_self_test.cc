// SPDX-License-Identifier: Apache-2.0
#include "integration/rocksdb/policy/filter_bits.h"

#include <rocksdb/sst_file_reader.h>
#include <rocksdb/sst_file_writer.h>
#include <rocksdb/table.h>

#include <utility>

#include "integration/rocksdb/compat/log.h"
#include "integration/rocksdb/policy/policy.h"
#include "integration/rocksdb/ranges/range_extractor.h"

namespace blocksieve::rocksdb_plugin {
namespace {

std::atomic<bool> trusted = false;

// Makes the filters of this thread answer before the test has passed.
thread_local bool is_testing = false;

struct Testing {
  ~Testing() { is_testing = before; }
  const bool before = std::exchange(is_testing, true);
};

constexpr int kKeys = 200;

std::string KeyOf(int i) { return "self-test " + std::to_string(1000 + 7 * i); }

/// Seeks as applications do, and compares with the known keys. Returns the problem, or "".
std::string SeekProblem(rocksdb::SstFileReader* file, bool partitioned) {
  uint64_t empty = 0;
  const ScopedRangeCounts scope;
  for (int i = 0; i + 1 < kKeys; ++i) {
    for (const bool holds_key : {false, true}) {
      // The range begins after a key and ends before or after the next one.
      const std::string begin = KeyOf(i) + "~";
      const std::string end = KeyOf(i + 1) + (holds_key ? "~" : "");
      const rocksdb::Slice bound(end);
      rocksdb::ReadOptions read;
      PrepareRangeRead(&bound, &read);
      const std::unique_ptr<rocksdb::Iterator> iterator(file->NewIterator(read));
      iterator->Seek(begin);
      const bool found = iterator->Valid() && iterator->key() == KeyOf(i + 1);
      if (!iterator->status().ok()) return iterator->status().ToString();
      if (found != holds_key) {
        return "a seek from " + begin + " to " + end + " finds " + (found ? "a key" : "no key");
      }
      empty += holds_key ? 0 : 1;
    }
  }
  const RangeFilterCounts& counts = scope.counts;
  const uint64_t answered = counts.no + counts.may_match + counts.beyond_partition;
  if (answered < empty) {
    return "only " + std::to_string(answered) + " of " + std::to_string(2 * (kKeys - 1)) +
           " seeks reached a " + (partitioned ? "partitioned " : "") + "filter with their range";
  }
  return "";
}

std::string Problem(bool partitioned,
                    const std::shared_ptr<const rocksdb::SliceTransform>& extractor) {
  const std::unique_ptr<rocksdb::Env> env(rocksdb::NewMemEnv(rocksdb::Env::Default()));
  rocksdb::Options options;
  options.env = env.get();
  options.compression = rocksdb::kNoCompression;
  rocksdb::BlockBasedTableOptions table;
  table.block_size = 256;
  if (partitioned) {
    table.index_type = rocksdb::BlockBasedTableOptions::kTwoLevelIndexSearch;
    table.partition_filters = true;
    table.metadata_block_size = 512;
  }
  table.filter_policy = MakePolicy({.ranges = true});
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  options.prefix_extractor = extractor;
  const std::string path = "/blocksieve-self-test.sst";
  rocksdb::SstFileWriter writer(rocksdb::EnvOptions(), options);
  rocksdb::Status status = writer.Open(path);
  for (int i = 0; i < kKeys && status.ok(); ++i) status = writer.Put(KeyOf(i), "value");
  if (status.ok()) status = writer.Finish();
  rocksdb::SstFileReader file(options);
  if (status.ok()) status = file.Open(path);
  return status.ok() ? SeekProblem(&file, partitioned) : status.ToString();
}

}  // namespace

bool RangesAreTrusted() noexcept { return is_testing || trusted.load(std::memory_order_acquire); }

std::string RangeSelfTestProblem(const std::shared_ptr<const rocksdb::SliceTransform>& extractor) {
  if (LacksFunction("_ZN7rocksdb13SstFileReaderC1ERKNS_7OptionsE")) {
    return "the program does not export rocksdb::SstFileReader, which the self-test needs";
  }
  const Testing testing;
  for (const bool partitioned : {false, true}) {
    std::string problem = Problem(partitioned, extractor);
    if (!problem.empty()) return problem;
  }
  return "";
}

const std::string& TestRangesOnce() {
  static std::once_flag once;
  static std::string problem;
  if (is_testing) return problem;  // the test opens range filters itself
  std::call_once(once, [] {
    problem = RangeSelfTestProblem(RangeExtractor::Get());
    trusted.store(problem.empty(), std::memory_order_release);
    if (!problem.empty()) {
      LogLoudly(nullptr,
                "range filters fail the self-test with this RocksDB and are not used: ", problem);
    }
  });
  return problem;
}

}  // namespace blocksieve::rocksdb_plugin
