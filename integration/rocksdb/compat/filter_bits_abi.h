#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <rocksdb/rocksdb_namespace.h>
#include <rocksdb/slice.h>
#include <rocksdb/status.h>
#include <rocksdb/version.h>

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

// The two interfaces through which RocksDB builds and probes filters. Since 7.0 they are internal:
// RocksDB's public headers only forward-declare them. They are declared here again, with the
// virtual functions in the order of the RocksDB version compiled for. That order has changed twice:
//
//   generation   versions          difference
//   1 (A)        7.0.3 to 9.5      the base
//   2 (B)        9.6 to 10.8       AddKeyAndAlt after AddKey
//   3 (C)        10.9 to 11.9      CalculateSpace and EstimatedFpRate at the end
//   4            10.9 or later     what a RocksDB tree in the include path declares
//
// The table comes from RocksDB's sources. Without a tree, later versions are compiled as generation
// 3, and AbiProblem keeps these classes from being used with a loaded library of another
// generation, or of a version that is too new for the table. With a tree, the compiler checks, and
// the loaded library must be of its version. Installed headers do not declare enough to compare.

#define BLOCKSIEVE_ROCKSDB_VERSION (ROCKSDB_MAJOR * 10000 + ROCKSDB_MINOR * 100 + ROCKSDB_PATCH)

#if BLOCKSIEVE_ROCKSDB_VERSION < 70003
#error "blocksieve needs RocksDB 7.0.3 or later: earlier versions have no CompatibilityName()"
#elif BLOCKSIEVE_ROCKSDB_VERSION < 90600
#define BLOCKSIEVE_ABI_GENERATION 1
#elif BLOCKSIEVE_ROCKSDB_VERSION < 100900
#define BLOCKSIEVE_ABI_GENERATION 2
#elif __has_include("table/block_based/filter_policy_internal.h")
#include "table/block_based/filter_policy_internal.h"
#define BLOCKSIEVE_ABI_GENERATION 4
#else
#define BLOCKSIEVE_ABI_GENERATION 3
#endif

#if BLOCKSIEVE_ABI_GENERATION < 4
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

  // Called since generation 3. In earlier ones the slot above is the last.
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
#endif

namespace blocksieve::rocksdb_plugin {

/// Base of `Builder`, with the functions that only some generations have or call. Builder::AddKey
/// must drop adjacent duplicates, as every generation requires.
template <class Builder>
class FilterBitsBuilderBase : public ROCKSDB_NAMESPACE::FilterBitsBuilder {
 public:
  using ROCKSDB_NAMESPACE::FilterBitsBuilder::Finish;
  ROCKSDB_NAMESPACE::Slice Finish(std::unique_ptr<const char[]>* buf) final {
    ROCKSDB_NAMESPACE::Status ignored;
    return Finish(buf, &ignored);
  }

#if BLOCKSIEVE_ABI_GENERATION >= 2
  void AddKeyAndAlt(const ROCKSDB_NAMESPACE::Slice& key,
                    const ROCKSDB_NAMESPACE::Slice& alt) final {
    auto& builder = static_cast<Builder&>(*this);
    builder.AddKey(key);
    builder.AddKey(alt);
  }
#endif
};

/// The generation of the filter interface in RocksDB `version` ("7.8.3"). 0 if the version is older
/// than 7.0.3, newer than the table, or malformed.
int ParseAbiGeneration(std::string_view version);

/// Why the classes above must not be used with RocksDB `loaded_version`. Empty if they may be.
std::string AbiProblem(std::string_view loaded_version);

/// The AbiProblem of the RocksDB that this process has loaded.
const std::string& LoadedAbiProblem();

/// Whether this process has loaded the version compiled for, known or not: what public headers
/// declare is then as compiled.
bool LoadedIsCompiled();

/// Whether the loaded RocksDB lays out FilterBuildingContext as compiled, to its end. See
/// building_context.h.
bool KnowsBuildingContext();

/// Whether a RocksDB that the process has loaded lacks the function of this mangled name: programs
/// with a RocksDB of their own may export only a part of it, and a call of another function would
/// end the process. False if RocksDB is linked statically.
bool LacksFunction(const char* mangled_name);

}  // namespace blocksieve::rocksdb_plugin
