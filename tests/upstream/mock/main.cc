// Registers the plug-ins as RocksDB does on start, then uses a database whose policy is named in a
// string. argv[1]: its directory.

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

int main(int argc, char** argv) {
  if (argc != 2) return 2;
#define PLUGIN(name, function) \
  rocksdb::ObjectRegistry::Default()->AddLibrary(#name)->Register(function, #name);
#include "plugin_functions.inc"
#undef PLUGIN

  rocksdb::BlockBasedTableOptions table;
  const rocksdb::Status created =
      rocksdb::FilterPolicy::CreateFromString({}, "blocksieve:0.01", &table.filter_policy);
  if (!created.ok()) {
    std::puts(created.ToString().c_str());
    return 1;
  }
  rocksdb::Options options;
  options.create_if_missing = true;
  options.statistics = rocksdb::CreateDBStatistics();
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  if (!rocksdb::DestroyDB(argv[1], options).ok()) return 1;
#if ROCKSDB_MAJOR < 11
  rocksdb::DB* opened = nullptr;
#else
  std::unique_ptr<rocksdb::DB> opened;
#endif
  if (!rocksdb::DB::Open(options, argv[1], &opened).ok()) return 1;
  const std::unique_ptr<rocksdb::DB> db(std::move(opened));

  if (!db->Put({}, "a", "1").ok() || !db->Put({}, "c", "3").ok() || !db->Flush({}).ok()) return 1;
  std::string value;
  const bool works = db->Get({}, "a", &value).ok() && value == "1" &&
                     db->Get({}, "b", &value).IsNotFound() &&
                     options.statistics->getTickerCount(rocksdb::BLOOM_FILTER_USEFUL) == 1;
  std::puts(works ? "works" : "wrong answer");
  return works ? 0 : 1;
}
