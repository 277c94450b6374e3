// SPDX-License-Identifier: Apache-2.0
#include "tests/support/test_db.h"

#include <rocksdb/convenience.h>
#include <rocksdb/merge_operator.h>
#include <rocksdb/slice_transform.h>
#include <rocksdb/sst_file_writer.h>
#include <rocksdb/table_properties.h>
#include <rocksdb/utilities/backup_engine.h>
#include <rocksdb/utilities/options_util.h>

#include "integration/rocksdb/compat/version_differences.h"
#include "tests/support/faulty_disks.h"

namespace blocksieve::testing {
namespace {

template <class Open>
std::unique_ptr<rocksdb::DB> MustOpen(const std::string& path, const Open& open) {
  std::unique_ptr<rocksdb::DB> db;
  MustBeOk(rocksdb_plugin::OpenDb(&db, open), "open " + path);
  return db;
}

}  // namespace

rocksdb::Options DbConfig::ToOptions() const {
  rocksdb::Options result = options;
  result.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  return result;
}

rocksdb::Env* UnsyncedEnv() {
  static const auto& env = *new std::unique_ptr<rocksdb::Env>(
      rocksdb::NewCompositeEnv(std::make_shared<UnsyncedFiles>()));
  return env.get();
}

DbConfig MakeConfig(FilterShape shape, std::shared_ptr<const rocksdb::FilterPolicy> policy) {
  DbConfig config;
  config.options.create_if_missing = true;
  config.options.env = UnsyncedEnv();
  config.options.disable_auto_compactions = true;
  config.options.compression = rocksdb::kNoCompression;
  config.options.statistics = rocksdb::CreateDBStatistics();
  config.table.filter_policy = std::move(policy);
  config.table.block_size = 1024;
  if (shape == FilterShape::kPartitioned) {
    config.table.index_type = rocksdb::BlockBasedTableOptions::kTwoLevelIndexSearch;
    config.table.partition_filters = true;
    config.table.metadata_block_size = 512;
  }
  return config;
}

void UsePrefixes(DbConfig* config, size_t bytes, bool whole_keys) {
  config->options.prefix_extractor.reset(rocksdb::NewFixedPrefixTransform(bytes));
  config->table.whole_key_filtering = whole_keys;
}

void UseMergeOperator(DbConfig* config, const std::string& name) {
  std::shared_ptr<rocksdb::MergeOperator>* const place = &config->options.merge_operator;
  MustBeOk(rocksdb::MergeOperator::CreateFromString({}, name, place), name);
}

std::shared_ptr<const rocksdb::FilterPolicy> PolicyFromString(const std::string& text) {
  std::shared_ptr<const rocksdb::FilterPolicy> policy;
  MustBeOk(rocksdb::FilterPolicy::CreateFromString(rocksdb::ConfigOptions(), text, &policy), text);
  if (policy == nullptr) MustBeOk(rocksdb::Status::NotFound(), text);
  return policy;
}

std::unique_ptr<rocksdb::DB> OpenDb(const rocksdb::Options& options, const std::string& path) {
  return MustOpen(path, [&](auto* db) { return rocksdb::DB::Open(options, path, db); });
}

std::unique_ptr<rocksdb::DB> OpenReadOnly(const rocksdb::Options& options,
                                          const std::string& path) {
  return MustOpen(path, [&](auto* db) { return rocksdb::DB::OpenForReadOnly(options, path, db); });
}

std::unique_ptr<rocksdb::DB> OpenSecondary(const rocksdb::Options& options, const std::string& path,
                                           const std::string& secondary_path) {
  return MustOpen(path, [&](auto* db) {
    return rocksdb::DB::OpenAsSecondary(options, path, secondary_path, db);
  });
}

std::unique_ptr<rocksdb::TransactionDB> OpenTransactionDb(const rocksdb::Options& options,
                                                          rocksdb::TxnDBWritePolicy policy,
                                                          const std::string& path) {
  rocksdb::TransactionDBOptions transactions;
  transactions.write_policy = policy;
  rocksdb::TransactionDB* db = nullptr;
  MustBeOk(rocksdb::TransactionDB::Open(options, transactions, path, &db), "open " + path);
  return std::unique_ptr<rocksdb::TransactionDB>(db);
}

rocksdb::ConfigOptions StrictConfig() {
  rocksdb::ConfigOptions strict;
  strict.ignore_unknown_options = false;
  strict.ignore_unsupported_options = false;
  return strict;
}

std::string DumpOptions(const rocksdb::Options& options) {
  rocksdb::ConfigOptions config;
  config.delimiter = "\n";
  std::string db;
  std::string family;
  MustBeOk(rocksdb::GetStringFromDBOptions(config, options, &db));
  MustBeOk(rocksdb::GetStringFromColumnFamilyOptions(config, options, &family));
  return db + "\n" + family + "\n" +
         (options.table_factory == nullptr ? "" : options.table_factory->ToString(config)) +
         "\nlisteners: " + std::to_string(options.listeners.size()) +
         ", collectors: " + std::to_string(options.table_properties_collector_factories.size());
}

StoredOptions::StoredOptions(const std::string& db_path) {
  MustBeOk(rocksdb::LoadLatestOptions(rocksdb::ConfigOptions(), db_path, &db, &families));
}

std::shared_ptr<const rocksdb::FilterPolicy> StoredOptions::filter_policy() const {
  return column_family()
      .table_factory->GetOptions<rocksdb::BlockBasedTableOptions>()
      ->filter_policy;
}

void MustBeOk(const rocksdb::Status& status, const std::string& what,
              const std::source_location& caller) {
  if (status.ok()) return;
  std::fprintf(stderr, "%s:%u: %s: %s\n", caller.file_name(), caller.line(), what.c_str(),
               status.ToString().c_str());
  std::abort();
}

FilterUse FilterUseSoFar(const rocksdb::Statistics& statistics) {
  FilterUse use;
  use.rejected = statistics.getTickerCount(rocksdb::BLOOM_FILTER_USEFUL);
  use.passed = statistics.getTickerCount(rocksdb::BLOOM_FILTER_FULL_POSITIVE);
  use.passed_present = statistics.getTickerCount(rocksdb::BLOOM_FILTER_FULL_TRUE_POSITIVE);
  return use;
}

void TestDb::Open(const DbConfig& config) {
  rocksdb::Options options = config.ToOptions();
  options.statistics = statistics_ = rocksdb::CreateDBStatistics();
  db_ = OpenDb(options, path());
}

void TestDb::Put(const std::string& key, const std::string& value) {
  MustBeOk(db_->Put({}, key, value));
  model_[key] = value;
}

void TestDb::Delete(const std::string& key) {
  MustBeOk(db_->Delete({}, key));
  model_.erase(key);
}

void TestDb::MergeAppend(const std::string& key, const std::string& operand) {
  MustBeOk(db_->Merge({}, key, operand));
  const auto [entry, is_new] = model_.try_emplace(key, operand);
  if (!is_new) entry->second += "," + operand;
}

void TestDb::Flush() { MustBeOk(db_->Flush({})); }

void TestDb::Compact() {
  rocksdb::CompactRangeOptions options;
  options.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForce;
  MustBeOk(db_->CompactRange(options, nullptr, nullptr));
}

void TestDb::CompactInto(int level) {
  rocksdb::ColumnFamilyMetaData metadata;
  db_->GetColumnFamilyMetaData(&metadata);
  std::vector<std::string> files;
  for (const auto& file : metadata.levels[0].files) files.push_back(file.name);
  MustBeOk(db_->CompactFiles({}, files, level));
}

uint64_t TestDb::FilterBytes() {
  uint64_t bytes = 0;
  for (const auto& [path, file] : FilesOf(*db_)) bytes += file->filter_size;
  return bytes;
}

std::unique_ptr<rocksdb::Checkpoint> NewCheckpoint(rocksdb::DB* db) {
  rocksdb::Checkpoint* made = nullptr;
  MustBeOk(rocksdb::Checkpoint::Create(db, &made));
  return std::unique_ptr<rocksdb::Checkpoint>(made);
}

rocksdb::TablePropertiesCollection FilesOf(rocksdb::DB& db) {
  rocksdb::TablePropertiesCollection files;
  MustBeOk(db.GetPropertiesOfAllTables(&files));
  return files;
}

TestDb::Model ReadRows(rocksdb::DB* db, const rocksdb::ReadOptions& read) {
  TestDb::Model rows;
  const std::unique_ptr<rocksdb::Iterator> it(db->NewIterator(read));
  for (it->SeekToFirst(); it->Valid(); it->Next()) {
    rows[it->key().ToString()] = it->value().ToString();
  }
  MustBeOk(it->status());
  return rows;
}

void BackUp(rocksdb::DB* db, const std::string& directory, const std::string& to) {
  rocksdb::BackupEngine* opened = nullptr;
  const rocksdb::BackupEngineOptions backup(directory);
  MustBeOk(rocksdb::BackupEngine::Open(rocksdb::Env::Default(), backup, &opened));
  const std::unique_ptr<rocksdb::BackupEngine> engine(opened);
  MustBeOk(engine->CreateNewBackup(db));
  MustBeOk(engine->RestoreDBFromLatestBackup(to, to));
}

void WriteSst(const rocksdb::Options& options, const std::string& path, const TestDb::Model& rows) {
  rocksdb::SstFileWriter writer(rocksdb::EnvOptions(), options);
  MustBeOk(writer.Open(path), path);
  for (const auto& [key, value] : rows) MustBeOk(writer.Put(key, value), path);
  MustBeOk(writer.Finish(), path);
}

void WaitForCompactions(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* family) {
  using Properties = rocksdb::DB::Properties;
  if (family == nullptr) family = db->DefaultColumnFamily();
  for (const std::string& property :
       {Properties::kMemTableFlushPending, Properties::kCompactionPending,
        Properties::kNumRunningFlushes, Properties::kNumRunningCompactions}) {
    uint64_t number = 1;
    while (db->GetIntProperty(family, property, &number) && number != 0) {
      rocksdb::Env::Default()->SleepForMicroseconds(200);
    }
  }
}

std::string CheckGets(rocksdb::DB* db, const TestDb::Model& model,
                      const std::vector<std::string>& absent) {
  std::vector<std::string> keys = absent;
  for (const auto& [key, value] : model) keys.push_back(key);
  for (const std::string& key : keys) {
    std::string value;
    const rocksdb::Status status = db->Get({}, key, &value);
    const auto row = model.find(key);
    if (row == model.end() ? status.IsNotFound() : status.ok() && value == row->second) continue;
    return "key 0x" + rocksdb::Slice(key).ToString(true) + " should be " +
           (row == model.end() ? "absent" : "'" + row->second + "'") + " but is " +
           status.ToString() + " '" + value + "'";
  }
  return "";
}

std::string CheckReads(rocksdb::DB* db, const TestDb::Model& model,
                       const std::vector<std::string>& absent) {
  if (std::string wrong = CheckGets(db, model, absent); !wrong.empty()) return wrong;
  rocksdb::ReadOptions everything;
  everything.total_order_seek = true;
  return ReadRows(db, everything) == model ? "" : "an iterator shows other rows than were written";
}

}  // namespace blocksieve::testing
