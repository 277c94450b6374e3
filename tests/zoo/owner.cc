// SPDX-License-Identifier: Apache-2.0
// Writes databases of the zoo and reads them: zoo_owner KIND DIR makes DIR/db, zoo_owner KIND DIR
// NAME prints the rows of DIR/NAME as "FAMILY KEY VALUE" in hexadecimal. KIND is a name of the zoo,
// stock for any other database, or blocksieve: NAME then gets new filters by library calls, and
// their problems are printed.

#include <rocksdb/db.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/merge_operator.h>
#include <rocksdb/slice_transform.h>
#include <rocksdb/table.h>
#include <rocksdb/utilities/checkpoint.h>
#include <rocksdb/utilities/db_ttl.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>

#include "blocksieve/rocksdb.h"
#include "integration/rocksdb/compat/version_differences.h"

namespace {

using namespace rocksdb;  // NOLINT: a program of RocksDB's
using std::string;

void Must(const Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "%s\n", status.ToString().c_str());
  std::exit(1);
}

struct Collector : TablePropertiesCollector {
  const char* Name() const override { return "zoo.Collector"; }
  Status Finish(UserCollectedProperties* properties) override {
    properties->emplace("zoo.range", "a to z");
    return Status::OK();
  }
  UserCollectedProperties GetReadableProperties() const override { return {}; }
};
struct CollectorFactory : TablePropertiesCollectorFactory {
  const char* Name() const override { return "zoo.CollectorFactory"; }
  TablePropertiesCollector* CreateTablePropertiesCollector(Context /*context*/) override {
    return new Collector;
  }
};
struct Append : AssociativeMergeOperator {
  const char* Name() const override { return "zoo.Append"; }
  bool Merge(const Slice& /*key*/, const Slice* existing, const Slice& value, string* merged,
             Logger* /*log*/) const override {
    *merged = (existing == nullptr ? "" : existing->ToString()) + value.ToString();
    return true;
  }
};
struct Extractor : SliceTransform {
  const char* Name() const override { return "zoo.Extractor"; }
  Slice Transform(const Slice& key) const override { return {key.data(), 3}; }
  bool InDomain(const Slice& key) const override { return key.size() >= 3; }
};
struct Reverse : Comparator {
  const char* Name() const override { return "rev:zoo"; }
  int Compare(const Slice& a, const Slice& b) const override { return b.compare(a); }
  void FindShortestSeparator(string* /*start*/, const Slice& /*limit*/) const override {}
  void FindShortSuccessor(string* /*key*/) const override {}
};

struct Owner {
  string kind;
  std::filesystem::path dir;
  string name = "db";
  Options options = {};
  std::map<string, ColumnFamilyOptions> families = {};
  DB* db = nullptr;
  std::vector<ColumnFamilyHandle*> handles = {};

  void SetTable(uint32_t format_version) {
    BlockBasedTableOptions table;
    table.filter_policy.reset(NewBloomFilterPolicy(10));
    table.format_version = format_version;
    options.table_factory.reset(NewBlockBasedTableFactory(table));
  }

  void SetOptions(bool is_made) {
    options.create_if_missing = options.create_missing_column_families = true;
    options.compression = kNoCompression;
    SetTable(5);
    if (kind == "families") families["a"] = families["b"] = options;
    if (kind == "names") {
      for (const char* each : {"a:b", "x#y", "back\\slash", "[two words]", "quo\"te ключ"})
        families[each] = options;
    }
    options.persist_stats_to_disk = kind == "stats";
    options.enable_blob_files = kind == "blobs";
    static const Reverse kReverse;
    if (kind == "reverse") options.comparator = &kReverse;
    if (kind == "merge") options.merge_operator = std::make_shared<Append>();
    if (kind == "extractor") options.prefix_extractor = std::make_shared<Extractor>();
    if (kind == "collector")
      options.table_properties_collector_factories = {std::make_shared<CollectorFactory>()};
    if (kind == "waldir") options.wal_dir = name == "db" ? dir / "wal" : dir / name;
    if (kind == "paths") {
      options.db_paths = {{dir / "fast", 15'000}, {dir / "slow", 1 << 30}};
      options.max_bytes_for_level_base = 10'000;
    }
    options.allow_mmap_reads = kind == "plain" || kind == "cuckoo";
    if (kind == "plain") options.prefix_extractor.reset(NewFixedPrefixTransform(3));
    if (kind == "plain") options.table_factory.reset(NewPlainTableFactory());
    if (kind == "cuckoo") options.table_factory.reset(NewCuckooTableFactory());
    if (kind == "blocksieve") Must(blocksieve::Enable(&options, {.target_fpr = 0.01}));
    families["default"] = options;
    for (uint32_t version = 0; version <= 5 && kind == "formats"; ++version) {
      SetTable(version);
      families["format" + std::to_string(version)] = options;
    }
    std::vector<string> present;
    if (kind == "dropped" && is_made) families["gone"] = options;
    if (kind == "blocksieve" || kind == "stock" || (kind == "dropped" && !is_made))
      Must(DB::ListColumnFamilies(options, dir / name, &present));
    for (const string& each : present) families[each] = options;
  }

  void Open(bool read_only) {
    std::vector<ColumnFamilyDescriptor> descriptors;
    for (const auto& [family, its_options] : families)
      descriptors.emplace_back(family, its_options);
    if (kind == "ttl") {
      DBWithTTL* with_times;
      Must(DBWithTTL::Open(options, dir / name, descriptors, &handles, &with_times, {1 << 30},
                           read_only));
      db = with_times;
      return;
    }
    std::unique_ptr<DB> opened;
    Must(blocksieve::rocksdb_plugin::OpenDb(&opened, [&](auto* into) {
      return read_only ? DB::OpenForReadOnly(options, dir / name, descriptors, &handles, into)
                       : DB::Open(options, dir / name, descriptors, &handles, into);
    }));
    db = opened.release();
  }

  void Make() {
    constexpr int kFlushed = 1400;
    for (auto* family : handles) {
      for (int i = 0; i < 1500; ++i) {
        const string key = "k" + std::to_string(100'000 + i);
        if (i == kFlushed / 2 || i == kFlushed) Must(db->Flush({}, family));
        if (kind == "merge") Must(db->Merge({}, family, i < kFlushed ? "k" : key, "+"));
        Must(db->Put({}, family, key, Value(i) + family->GetName()));
        if (i == kFlushed / 2 && kind == "paths") Must(db->CompactRange({}, nullptr, nullptr));
      }
    }
    if (kind == "dropped") DropGone();
    if (kind != "waldir") return;
    Checkpoint* checkpoint;
    Must(Checkpoint::Create(db, &checkpoint));
    Must(checkpoint->CreateCheckpoint(dir / "with-wal", 1 << 30));
    Must(checkpoint->CreateCheckpoint(dir / "flushed", 0));
    delete checkpoint;
    for (int i = 0; i < 100; ++i)
      Must(db->Put({}, "original" + std::to_string(i), Value(i) + "default"));
  }

  /// Leaves OPTIONS as a crash does before RocksDB writes them anew.
  void DropGone() {
    std::vector<string> options_files;
    for (const auto& entry : std::filesystem::directory_iterator(dir / name)) {
      if (entry.path().filename().string().starts_with("OPTIONS-"))
        options_files.push_back(entry.path());
    }
    const string saved = std::ranges::max(options_files);
    std::filesystem::copy_file(saved, dir / "saved");
    Must(db->DropColumnFamily(*std::ranges::find(handles, "gone", &ColumnFamilyHandle::GetName)));
    for (const string& file : options_files) std::filesystem::remove(file);
    std::filesystem::rename(dir / "saved", dir / name / "OPTIONS-000900");
  }

  /// A family of RocksDB's own, whose options it sets.
  static bool IsHidden(ColumnFamilyHandle* family) {
    return family->GetName().starts_with("___rocksdb");
  }

  // Cuckoo tables need values of one size.
  static string Value(int i) {
    return std::to_string(100 + i % 100) + (i % 3 == 0 ? "\tred\t" : "\ttan\t");
  }

  void Print() {
    for (auto* family : handles) {
      if (IsHidden(family)) continue;
      std::unique_ptr<Iterator> rows(db->NewIterator({}, family));
      for (rows->SeekToFirst(); rows->Valid(); rows->Next()) {
        std::printf("%s %s %s\n", Slice(family->GetName()).ToString(true).c_str(),
                    rows->key().ToString(true).c_str(), rows->value().ToString(true).c_str());
      }
      Must(rows->status());
    }
  }

  void RewriteFilters() {
    for (auto* family : handles) {
      if (IsHidden(family)) continue;
      std::vector<string> problems;
      Must(blocksieve::CheckFilters(db, {family}, &problems));
      problems.clear();
      Must(blocksieve::RewriteFilters(db, {family}));
      Must(blocksieve::CheckFilters(db, {family}, &problems));
      for (const string& problem : problems) std::printf("%s\n", problem.c_str());
    }
  }

  void Run(bool makes) {
    SetOptions(makes);
    Open(!makes && kind != "blocksieve");
    makes ? Make() : kind == "blocksieve" ? RewriteFilters() : Print();
    for (auto* family : handles) Must(db->DestroyColumnFamilyHandle(family));
    Must(db->Close());
    delete db;
  }
};

}  // namespace

int main(int argc, char** argv) {
  Owner{.kind = argv[1], .dir = argv[2], .name = argc > 3 ? argv[3] : "db"}.Run(argc == 3);
}
