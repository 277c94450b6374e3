#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <rocksdb/utilities/stackable_db.h>
#include <rocksdb/version.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>

namespace blocksieve::testing {

/// Changes the database before and after each call that a scan makes. RocksDB 9.0 changed which
/// MultiGet functions can be overridden.
class InterferingDb final : public rocksdb::StackableDB {
 public:
  InterferingDb(rocksdb::DB* db, std::function<void()> interfere)
      : StackableDB(std::shared_ptr<rocksdb::DB>(db, [](rocksdb::DB*) {})),
        interfere_(std::move(interfere)) {}

  /// So that readers take it for a database that wraps none.
  rocksdb::DB* GetRootDB() override { return this; }

  rocksdb::Iterator* NewIterator(const rocksdb::ReadOptions& options,
                                 rocksdb::ColumnFamilyHandle* column_family) override {
    interfere_();
    rocksdb::Iterator* const iterator = StackableDB::NewIterator(options, column_family);
    interfere_();
    return iterator;
  }
  rocksdb::Status GetPropertiesOfAllTables(rocksdb::ColumnFamilyHandle* column_family,
                                           rocksdb::TablePropertiesCollection* files) override {
    interfere_();
    rocksdb::Status status = StackableDB::GetPropertiesOfAllTables(column_family, files);
    interfere_();
    return status;
  }
  void GetColumnFamilyMetaData(rocksdb::ColumnFamilyHandle* column_family,
                               rocksdb::ColumnFamilyMetaData* metadata) override {
    interfere_();
    StackableDB::GetColumnFamilyMetaData(column_family, metadata);
    interfere_();
  }
#if ROCKSDB_MAJOR >= 9
  void MultiGet(const rocksdb::ReadOptions& options, size_t num_keys,
                rocksdb::ColumnFamilyHandle** families, const rocksdb::Slice* keys,
                rocksdb::PinnableSlice* values, std::string* timestamps, rocksdb::Status* statuses,
                bool sorted_input) override {
    interfere_();
    StackableDB::MultiGet(options, num_keys, families, keys, values, timestamps, statuses,
                          sorted_input);
    interfere_();
  }
#else
  void MultiGet(const rocksdb::ReadOptions& options, rocksdb::ColumnFamilyHandle* column_family,
                size_t num_keys, const rocksdb::Slice* keys, rocksdb::PinnableSlice* values,
                rocksdb::Status* statuses, bool sorted_input) override {
    interfere_();
    StackableDB::MultiGet(options, column_family, num_keys, keys, values, statuses, sorted_input);
    interfere_();
  }
#endif

 private:
  const std::function<void()> interfere_;
};

}  // namespace blocksieve::testing
