#pragma once

#include <rocksdb/rocksdb_namespace.h>
#include <rocksdb/slice.h>
#include <rocksdb/status.h>
#include <rocksdb/version.h>

#include <cstddef>
#include <memory>

#include "integration/rocksdb/compat/abi_generation.h"

// The two interfaces through which RocksDB builds and probes filters. Since 7.0 they are internal
// to RocksDB: its public headers only forward-declare them. They are declared here once more, with
// the virtual functions in the order of the RocksDB version that this is compiled for.
//
// abi_generation.h knows which version has which order, and abi_guard.h keeps a program whose
// loaded library is of another generation from ever reaching these classes.

namespace ROCKSDB_NAMESPACE {

class FilterBitsBuilder {
 public:
  virtual ~FilterBitsBuilder() {}

  virtual void AddKey(const Slice& key) = 0;

#if BLOCKSIEVE_ABI_GENERATION >= 2
  // Adds a key and another entry derived from it, such as its prefix.
  virtual void AddKeyAndAlt(const Slice& key, const Slice& alt) = 0;
#endif

  // Zero exactly when nothing was added since the last Finish.
  virtual size_t EstimateEntriesAdded() = 0;

  virtual Slice Finish(std::unique_ptr<const char[]>* buf) = 0;
  virtual Slice Finish(std::unique_ptr<const char[]>* buf, Status* /*status*/) {
    return Finish(buf);
  }

  virtual Status MaybePostVerify(const Slice& /*filter_content*/) { return Status::OK(); }

  virtual size_t ApproximateNumEntries(size_t bytes) = 0;

  // Called by the library since generation 3; earlier ones have nothing behind the slot above.
  virtual size_t CalculateSpace(size_t num_entries) = 0;
  virtual double EstimatedFpRate(size_t num_entries, size_t bytes) = 0;
};

class FilterBitsReader {
 public:
  virtual ~FilterBitsReader() {}

  virtual bool MayMatch(const Slice& entry) = 0;
  virtual void MayMatch(int num_keys, Slice** keys, bool* may_match) {
    for (int i = 0; i < num_keys; ++i) may_match[i] = MayMatch(*keys[i]);
  }
};

}  // namespace ROCKSDB_NAMESPACE
