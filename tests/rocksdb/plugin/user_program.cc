// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>
#include <rocksdb/convenience.h>
#include <rocksdb/db.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/statistics.h>
#include <rocksdb/table.h>
#include <rocksdb/version.h>

#include <cstdio>
#include <memory>
#include <string>
#include <utility>

// A program like those of users: it knows RocksDB, and blocksieve at most by an option string.
// Built with and without linking the plug-in, and in a mock RocksDB tree (tests/upstream).
//
//   user_program DB POLICY [PLUGIN_TO_DLOPEN]
//
// POLICY is an option string, or "call:bloom" or "call:ribbon" for RocksDB's own functions. Fills
// the database if it is empty, and prints one line: whether it has a policy, how many of the
// written keys it finds, and how many reads of absent keys filters rejected.

namespace {

constexpr int kKeys = 2000;

std::shared_ptr<const rocksdb::FilterPolicy> MakePolicy(const std::string& text) {
  std::shared_ptr<const rocksdb::FilterPolicy> policy;
  if (text == "call:bloom") {
    policy.reset(rocksdb::NewBloomFilterPolicy(10));
  } else if (text == "call:ribbon") {
    policy.reset(rocksdb::NewRibbonFilterPolicy(10));
  } else {
    rocksdb::ConfigOptions config;
    config.ignore_unsupported_options = false;
    if (!rocksdb::FilterPolicy::CreateFromString(config, text, &policy).ok()) policy.reset();
  }
  return policy;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  if (argc > 3) {
    void* plugin = dlopen(argv[3], RTLD_NOW | RTLD_LOCAL);
    if (plugin == nullptr) {
      std::printf("%s\n", dlerror());  // NOLINT(concurrency-mt-unsafe): there is one thread
      return 3;
    }
    // A careless program: the policy's code must stay.
    dlclose(plugin);
  }
  rocksdb::BlockBasedTableOptions table;
  table.filter_policy = MakePolicy(argv[2]);
  rocksdb::Options options;
  options.create_if_missing = true;
  options.statistics = rocksdb::CreateDBStatistics();
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
#if ROCKSDB_MAJOR < 11
  rocksdb::DB* opened = nullptr;
#else
  std::unique_ptr<rocksdb::DB> opened;
#endif
  const rocksdb::Status status = rocksdb::DB::Open(options, argv[1], &opened);
  if (!status.ok()) {
    std::printf("%s\n", status.ToString().c_str());
    return 4;
  }
  const std::unique_ptr<rocksdb::DB> db(std::move(opened));  // NOLINT(performance-move-const-arg)
  std::string value;
  if (db->Get({}, "key 0", &value).IsNotFound()) {
    for (int i = 0; i < kKeys; ++i) db->Put({}, "key " + std::to_string(i), "value");
    db->Flush({});
  }
  int found = 0;
  for (int i = 0; i < kKeys; ++i) found += db->Get({}, "key " + std::to_string(i), &value).ok();
  for (int i = 0; i < kKeys; ++i) db->Get({}, "key " + std::to_string(i) + "+", &value);
  rocksdb::TablePropertiesCollection files;
  db->GetPropertiesOfAllTables(&files);
  std::printf("policy=%s written=%s found=%d rejected=%llu\n",
              table.filter_policy == nullptr ? "none" : table.filter_policy->Name(),
              files.empty() ? "" : files.begin()->second->filter_policy_name.c_str(), found,
              static_cast<unsigned long long>(
                  options.statistics->getTickerCount(rocksdb::BLOOM_FILTER_USEFUL)));
  return 0;
}
