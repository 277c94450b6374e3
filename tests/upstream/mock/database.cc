// Registers the plug-ins as RocksDB does on start, opens a database in the directory argv[1] with a
// policy that is named in a string, writes, and looks up.

#include <rocksdb/convenience.h>
#include <rocksdb/db.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/statistics.h>
#include <rocksdb/table.h>
#include <rocksdb/utilities/object_registry.h>
#include <rocksdb/version.h>

#include <cstdio>
#include <memory>
#include <string>
#include <utility>

// As in the build_version.cc that RocksDB generates.
extern "C" {
#define PLUGIN(name, function) int function(rocksdb::ObjectLibrary&, const std::string&);
#include "plugin_functions.inc"
#undef PLUGIN
}  // extern "C"

namespace {

// Null if it fails.
std::shared_ptr<const rocksdb::FilterPolicy> MakePolicy() {
#define PLUGIN(name, function) \
  rocksdb::ObjectRegistry::Default()->AddLibrary(#name)->Register(function, #name);
#include "plugin_functions.inc"
#undef PLUGIN
  std::shared_ptr<const rocksdb::FilterPolicy> policy;
  const rocksdb::Status status =
      rocksdb::FilterPolicy::CreateFromString({}, "blocksieve:0.01", &policy);
  return status.ok() ? policy : nullptr;
}

bool LooksUpWhatItWrote(rocksdb::DB& db, const rocksdb::Statistics& statistics) {
  for (int i = 0; i < 1000; ++i) {
    if (!db.Put({}, "key" + std::to_string(i), std::to_string(i)).ok()) return false;
  }
  if (!db.Flush({}).ok()) return false;
  std::string value;
  for (int i = 0; i < 1000; ++i) {
    const std::string number = std::to_string(i);
    if (!db.Get({}, "key" + number, &value).ok() || value != number) return false;
    if (!db.Get({}, "key" + number + "absent", &value).IsNotFound()) return false;
  }
  return statistics.getTickerCount(rocksdb::BLOOM_FILTER_USEFUL) > 900;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  rocksdb::BlockBasedTableOptions table;
  table.filter_policy = MakePolicy();
  if (table.filter_policy == nullptr) return 1;

  rocksdb::Options options;
  options.create_if_missing = true;
  options.statistics = rocksdb::CreateDBStatistics();
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  if (!rocksdb::DestroyDB(argv[1], options).ok()) return 1;  // of an earlier run
#if ROCKSDB_MAJOR < 11
  rocksdb::DB* opened = nullptr;
#else
  std::unique_ptr<rocksdb::DB> opened;
#endif
  if (!rocksdb::DB::Open(options, argv[1], &opened).ok()) return 1;
  const std::unique_ptr<rocksdb::DB> db(std::move(opened));

  const bool works = LooksUpWhatItWrote(*db, *options.statistics);
  std::puts(works ? "database: works" : "database: wrong answer");
  return works ? 0 : 1;
}
