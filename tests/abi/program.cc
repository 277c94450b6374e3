// usage: program DIRECTORY
//
// A user's program, which knows the public headers and the plug-in alone: filters of keys and
// ranges, a skip index, scans, what they tell, option strings. Prints "works", or the first thing
// that is wrong.

#include <blocksieve/rocksdb.h>
#include <blocksieve/rocksdb/skip_index_files.h>
#include <rocksdb/convenience.h>
#include <rocksdb/db.h>
#include <rocksdb/version.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>

namespace {

constexpr int kRows = 5000;

void Require(bool holds, const char* what) {
  if (holds) return;
  std::printf("wrong: %s\n", what);
  std::exit(1);
}

int Count(rocksdb::DB* db, const auto& query, blocksieve::ScanExplanation* explanation) {
  blocksieve::SkipScanOptions options;
  options.explain = true;
  std::unique_ptr<blocksieve::SkipScan> scan;
  Require(blocksieve::SkipScan::Create(db, nullptr, query, options, &scan).ok(), "scan");
  int count = 0;
  for (; scan->Valid(); scan->Next()) ++count;
  Require(scan->status().ok(), "status of the scan");
  *explanation = scan->Explain();
  return count;
}

void Scan(rocksdb::DB* db) {
  blocksieve::ScanExplanation explanation;
  Require(Count(db, std::string_view("package = 'p7' AND size > 100"), &explanation) == 9,
          "scan by text");
  Require(explanation.comparisons.size() == 2 && explanation.comparisons[0].column == "package" &&
              explanation.rows_returned == 9 && explanation.rows_read < kRows / 2,
          "explanation");
}

std::unique_ptr<rocksdb::DB> Open(const rocksdb::Options& options, const char* directory) {
  Require(blocksieve::DestroyDbWithSkipIndexes(directory, options).ok(), "end of an earlier run");
#if ROCKSDB_MAJOR < 11
  rocksdb::DB* db = nullptr;
#else
  std::unique_ptr<rocksdb::DB> db;
#endif
  Require(rocksdb::DB::Open(options, directory, &db).ok(), "opened database");
  return std::unique_ptr<rocksdb::DB>(std::move(db));
}

void UseDatabase(const rocksdb::Options& options, const char* directory) {
  const std::unique_ptr<rocksdb::DB> db = Open(options, directory);
  for (int i = 0; i < kRows; ++i) {
    const std::string number = std::to_string(10000 + i);
    const std::string row = "p" + std::to_string(i / 10) + "\t" + std::to_string(i % 10 + 100);
    Require(db->Put({}, "key" + number, row).ok(), "write");
  }
  Require(db->Flush({}).ok(), "flush");
  std::string value;
  Require(db->Get({}, "key10000", &value).ok() && value == "p0\t100", "lookup");
  Require(db->Get({}, "key10000+", &value).IsNotFound(), "lookup of an absent key");

  const rocksdb::Slice end("key10001");
  rocksdb::ReadOptions read;
  blocksieve::PrepareRangeRead(&end, &read);
  const uint64_t no = blocksieve::GetRangeFilterCounts().no;
  const std::unique_ptr<rocksdb::Iterator> iterator(db->NewIterator(read));
  iterator->Seek("key10000a");
  Require(!iterator->Valid() && iterator->status().ok(), "seek");
  Require(blocksieve::GetRangeFilterCounts().no > no, "answers of the range filter");
  Scan(db.get());
  blocksieve::SkipIndexSummary summary;
  Require(blocksieve::ReadSkipIndexes(db.get(), nullptr, &summary).ok() &&
              summary.files_with_index == 1 && summary.columns.size() == 2,
          "summary");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  rocksdb::Options options;
  options.create_if_missing = true;
  Require(blocksieve::EnableRangeFilter(&options).ok(), "range filter");
  const rocksdb::Status status = rocksdb::TablePropertiesCollectorFactory::CreateFromString(
      {}, "{id=blocksieve.skip_index;columns=package=field:1|size=uint:2}",
      &options.table_properties_collector_factories.emplace_back());
  Require(status.ok(), "skip index");
  UseDatabase(options, argv[1]);
  std::shared_ptr<const rocksdb::FilterPolicy> policy;
  Require(rocksdb::FilterPolicy::CreateFromString({}, "blocksieve:0.01", &policy).ok() &&
              policy != nullptr,
          "option string");
  std::puts("works");
}
