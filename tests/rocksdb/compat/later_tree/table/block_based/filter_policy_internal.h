#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <rocksdb/slice.h>
#include <rocksdb/status.h>

#include <memory>

// What the tree of a later RocksDB could declare: with functions in other slots, and one more.

namespace ROCKSDB_NAMESPACE {

class FilterBitsBuilder {
 public:
  virtual ~FilterBitsBuilder() {}
  virtual void Later() {}
  virtual double EstimatedFpRate(size_t num_entries, size_t bytes) = 0;
  virtual size_t CalculateSpace(size_t num_entries) = 0;
  virtual void AddKeyAndAlt(const Slice& key, const Slice& alt) = 0;
  virtual void AddKey(const Slice& key) = 0;
  virtual size_t EstimateEntriesAdded() = 0;
  virtual size_t ApproximateNumEntries(size_t bytes) = 0;
  virtual Status MaybePostVerify(const Slice& filter_content) = 0;
  virtual Slice Finish(std::unique_ptr<const char[]>* buf) = 0;
  virtual Slice Finish(std::unique_ptr<const char[]>* buf, Status* status) = 0;
};

class FilterBitsReader {
 public:
  virtual ~FilterBitsReader() {}
  virtual void MayMatch(int num_keys, Slice** keys, bool* may_match) = 0;
  virtual bool MayMatch(const Slice& entry) = 0;
};

}  // namespace ROCKSDB_NAMESPACE
