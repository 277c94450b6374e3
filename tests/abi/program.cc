// usage: program DIRECTORY
//
// A user's program, which knows the public headers and the plug-in alone: filters of keys and
// ranges, a skip index, scans, what they tell, option strings. Prints "works", or the first thing
// that is wrong.

#include <blocksieve/bloom.h>
#include <blocksieve/filter.h>
#include <blocksieve/rocksdb.h>
#include <blocksieve/rocksdb/skip_index.h>
#include <rocksdb/convenience.h>
#include <rocksdb/db.h>
#include <rocksdb/version.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace {

constexpr int kRows = 5000;

void Require(bool holds, const char* what) {
  if (holds) return;
  std::printf("wrong: %s\n", what);
  std::exit(1);
}

void UseFilters() {
  const std::vector<std::string> keys = {"apple", "pear"};
  for (const auto kind : {blocksieve::FilterKind::kRibbon, blocksieve::FilterKind::kBlockedBloom}) {
    const auto built = blocksieve::Filter::Build(keys, {.kind = kind, .target_fpr = 0.001});
    Require(built.ok(), "filter");
    const auto opened = blocksieve::Filter::Open(built->bytes());
    Require(opened.MayContain("pear") && !opened.MayContain("stone"), "answers of the filter");
  }
  auto bloom = blocksieve::ClassicBloom::Create(*blocksieve::BloomLayout::ForKeys(10, 0.001));
  Require(bloom.ok() && bloom->Add("pear"), "Bloom filter");
  Require(bloom->MayContain("pear") && !bloom->MayContain("stone"), "answers of the Bloom filter");
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
  blocksieve::ScanExplanation by_text;
  Require(Count(db, std::string_view("package = 'p7' AND size > 100"), &by_text) == 9,
          "scan by text");
  const auto package = blocksieve::Column::Parse("package=field:1");
  const auto size = blocksieve::Column::Parse("size=uint:2");
  Require(package.ok() && size.ok(), "columns");
  const std::vector<blocksieve::Predicate> both = {
      *blocksieve::Predicate::Equals(*package, blocksieve::Value::Bytes("p7")),
      *blocksieve::Predicate::Greater(*size, blocksieve::Value::Uint(100))};
  blocksieve::ScanExplanation by_objects;
  Require(Count(db, *blocksieve::Predicate::And(both), &by_objects) == 9, "scan by objects");
  for (const auto& explanation : {by_text, by_objects}) {
    Require(explanation.comparisons.size() == 2 && explanation.comparisons[0].column == "package" &&
                explanation.rows_returned == 9 && explanation.rows_read < kRows / 2 &&
                explanation.ToText().find("package = 'p7'") != std::string::npos,
            "explanation");
  }
}

std::unique_ptr<rocksdb::DB> Open(const rocksdb::Options& options, const char* directory) {
  Require(blocksieve::DestroyDbWithSkipIndexes(directory, options).ok(), "end of an earlier run");
#if ROCKSDB_MAJOR < 11
  rocksdb::DB* db = nullptr;
#else
  std::unique_ptr<rocksdb::DB> db;
#endif
  Require(rocksdb::DB::Open(options, directory, &db).ok(), "opened database");
  return std::unique_ptr<rocksdb::DB>(std::move(db));  // NOLINT(performance-move-const-arg)
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
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  UseFilters();
  rocksdb::Options options;
  options.create_if_missing = true;
  Require(blocksieve::EnableRangeFilter(&options).ok(), "range filter");
  Require(
      blocksieve::EnableSkipIndex(&options, {.columns = {"package=field:1", "size=uint:2"}}).ok(),
      "skip index");
  UseDatabase(options, argv[1]);
  std::shared_ptr<const rocksdb::FilterPolicy> policy;
  Require(rocksdb::FilterPolicy::CreateFromString({}, "blocksieve:0.01", &policy).ok() &&
              policy != nullptr,
          "option string");
  std::puts("works");
}
