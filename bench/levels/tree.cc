#include "bench/levels/tree.h"

#include <rocksdb/cache.h>
#include <rocksdb/table.h>

#include <array>
#include <chrono>
#include <filesystem>
#include <map>
#include <thread>

#include "bench/read_amp/contestants.h"
#include "bench/support/terminal.h"
#include "blocksieve/hash.h"
#include "blocksieve/rocksdb/listener.h"
#include "integration/rocksdb/compat/open_db.h"

namespace blocksieve::bench::levels {
namespace {

constexpr size_t kValueBytes = 20;
constexpr uint64_t kEntryBytes = 40;  // in a file: key, value, and what RocksDB adds

void Check(const rocksdb::Status& status, const char* what) {
  if (!status.ok()) Fail("{}: {}", what, status.ToString());
}

// 16 bytes, in random order, none twice: the number, mixed by a bijection, and more random bytes.
std::string KeyOf(uint64_t number) {
  uint64_t mixed = number;
  for (int round = 0; round < 2; ++round) {
    mixed ^= mixed >> 32;
    mixed *= 0xd6e8feb86659fd93;  // odd
  }
  mixed ^= mixed >> 32;
  const uint64_t more = HashKey({reinterpret_cast<const char*>(&mixed), sizeof(mixed)});
  std::array<char, 16> key;
  for (size_t i = 0; i < 8; ++i) key[i] = static_cast<char>(mixed >> (56 - 8 * i));
  for (size_t i = 0; i < 8; ++i) key[8 + i] = static_cast<char>(more >> (8 * i));
  return {key.data(), key.size()};
}

// Numbers from here on are not in any tree.
constexpr uint64_t kFirstAbsent = uint64_t{1} << 40;

rocksdb::Options MakeOptions(const TreeShape& shape, const std::string& policy) {
  rocksdb::Options options;
  options.create_if_missing = true;
  options.compression = rocksdb::kNoCompression;
  options.max_bytes_for_level_multiplier = shape.size_ratio;
  options.level_compaction_dynamic_level_bytes = shape.has_dynamic_levels;
  options.max_bytes_for_level_base =
      static_cast<uint64_t>(options.level0_file_num_compaction_trigger) * shape.keys_per_flush *
      kEntryBytes;
  options.target_file_size_base = options.max_bytes_for_level_base;
  options.write_buffer_size = 1 << 30;  // flushed by hand
  options.max_background_jobs = 2;
  options.listeners.push_back(NewListener());

  rocksdb::BlockBasedTableOptions table;
  table.filter_policy = read_amp::PolicyFromString(policy);
  table.block_cache = rocksdb::NewLRUCache(1 << 30);
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  return options;
}

}  // namespace

Tree::Tree(const TreeShape& shape, const std::string& policy)
    : shape_(shape),
      env_(rocksdb::NewMemEnv(rocksdb::Env::Default())),
      options_(MakeOptions(shape, policy)) {
  options_.env = env_.get();
  Reopen();
}

void Tree::Reopen() {
  db_.reset();
  statistics_ = rocksdb::CreateDBStatistics();
  options_.statistics = statistics_;
  Check(rocksdb_plugin::OpenDb(options_, "/db", &db_), "open");
}

void Tree::Flushes(int count) {
  rocksdb::WriteOptions write;
  write.disableWAL = true;
  const std::string value(kValueBytes, 'v');
  for (int flush = 0; flush < count; ++flush) {
    CheckInterrupt();
    for (uint64_t i = 0; i < shape_.keys_per_flush; ++i) {
      Check(db_->Put(write, KeyOf(next_key_++), value), "put");
    }
    Check(db_->Flush({}), "flush");
    WaitForCompactions();
  }
}

void Tree::WaitForCompactions() {
  const auto is_zero = [&](const std::string& property) {
    uint64_t value = 0;
    if (!db_->GetIntProperty(property, &value)) Fail("RocksDB does not know {}", property);
    return value == 0;
  };
  while (!is_zero(rocksdb::DB::Properties::kCompactionPending) ||
         !is_zero(rocksdb::DB::Properties::kNumRunningCompactions)) {
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
}

std::vector<Run> Tree::Runs() {
  rocksdb::TablePropertiesCollection all_properties;
  Check(db_->GetPropertiesOfAllTables(&all_properties), "table properties");
  std::map<std::string, const rocksdb::TableProperties*> by_name;
  for (const auto& [path, properties] : all_properties) {
    by_name[std::filesystem::path(path).filename().string()] = properties.get();
  }
  rocksdb::ColumnFamilyMetaData meta;
  db_->GetColumnFamilyMetaData(&meta);
  std::vector<Run> runs;
  for (const auto& level : meta.levels) {
    for (const auto& file : level.files) {
      if (level.level == 0 || runs.empty() || runs.back().level != level.level) {
        runs.push_back({.level = level.level});
      }
      const auto found = by_name.find(std::filesystem::path(file.name).filename().string());
      if (found == by_name.end()) Fail("no properties of {}", file.name);
      runs.back().keys += found->second->num_entries;
      runs.back().filter_bytes += found->second->filter_size;
    }
  }
  return runs;
}

Measurement Tree::Measure(uint64_t lookups) {
  Measurement measurement{.runs = Runs(), .lookups = lookups};
  const auto data_blocks = [&] {
    return statistics_->getTickerCount(rocksdb::BLOCK_CACHE_DATA_HIT) +
           statistics_->getTickerCount(rocksdb::BLOCK_CACHE_DATA_MISS);
  };
  const uint64_t before = data_blocks();
  std::string value;
  for (uint64_t i = 0; i < lookups; ++i) {
    if (i % 65'536 == 0) CheckInterrupt();
    const rocksdb::Status status = db_->Get({}, KeyOf(kFirstAbsent + i), &value);
    if (!status.IsNotFound()) Fail("an absent key was found: {}", status.ToString());
  }
  measurement.wasted_data_blocks = data_blocks() - before;
  return measurement;
}

}  // namespace blocksieve::bench::levels
