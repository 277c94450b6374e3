// SPDX-License-Identifier: Apache-2.0
#include "blocksieve/c.h"

#include <rocksdb/db.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/iterator.h>
#include <rocksdb/version.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <utility>

#include "blocksieve/rocksdb.h"
#include "integration/rocksdb/compat/filter_bits_abi.h"
#include "integration/rocksdb/compat/log.h"
#include "integration/rocksdb/compat/option_type.h"
#include "integration/rocksdb/index/skip_index_collector.h"
#include "integration/rocksdb/index/skip_index_properties.h"
#include "integration/rocksdb/plugin/registry.h"
#include "integration/rocksdb/policy/policy.h"
#include "integration/rocksdb/ranges/range_extractor.h"
#include "lib/base/errors.h"

// Two structs that rocksdb/c.h only declares, as RocksDB's db/c.cc defines them: the definitions
// must agree, because db/c.cc deletes the objects made here, and a static RocksDB contains both.
// They are the same in all releases from 7.0.3 to 11.9. In these releases, the other structs used
// here begin with the object that they wrap.
struct rocksdb_filterpolicy_t : public ROCKSDB_NAMESPACE::FilterPolicy {
  void* state_;
  void (*destructor_)(void*);
  const char* (*name_)(void*);

  ~rocksdb_filterpolicy_t() override { (*destructor_)(state_); }

  const char* Name() const override { return (*name_)(state_); }
};

struct rocksdb_iterator_t {
  ROCKSDB_NAMESPACE::Iterator* rep;
};

struct blocksieve_pruning_t {
  std::shared_ptr<blocksieve::ReadPruning> rep;
};

namespace blocksieve::rocksdb_plugin {
namespace {

// Errors: NotSupported unless the structs are known to be those of the loaded RocksDB.
rocksdb::Status CheckLayouts() {
  std::string problem = LoadedAbiProblem();
  const std::string loaded = rocksdb::GetRocksVersionAsString();
  const std::string compiled = std::to_string(ROCKSDB_MAJOR) + "." + std::to_string(ROCKSDB_MINOR);
  if (problem.empty() && !loaded.starts_with(compiled + ".")) {
    problem = "the loaded RocksDB is " + loaded + "; blocksieve was compiled for " + compiled;
  }
  if (problem.empty()) return rocksdb::Status::OK();
  return rocksdb::Status::NotSupported("blocksieve: " + problem);
}

// Runs `call`, which returns a Status, if all `arguments` are given, and reports an error as
// rocksdb/c.h does.
template <class Call>
void Report(char** errptr, Arguments arguments, const Call& call) noexcept {
  std::string error = "out of memory";
  try {
    rocksdb::Status status = CheckGiven(arguments);
    if (status.ok()) status = CheckLayouts();
    if (status.ok()) status = call();
    if (status.ok()) return;
    error = status.ToString();
  } catch (const std::bad_alloc&) {
  }
  if (errptr == nullptr) return LogLoudly(nullptr, error);
  std::free(*errptr);
  *errptr = strdup(error.c_str());
}

template <class Object, class Struct>
Object& Wrapped(Struct* c_struct) {
  return *reinterpret_cast<Object*>(c_struct);
}

// Null if there is none, which stands for the default one.
rocksdb::ColumnFamilyHandle* UnwrapFamily(rocksdb_column_family_handle_t* handle) {
  return handle == nullptr ? nullptr : Wrapped<rocksdb::ColumnFamilyHandle*>(handle);
}

rocksdb::Status ParseFilter(const char* text, EnableOptions* options) {
  rocksdb::Status status = PolicyOptionTable().ParseAll(text, Policy::kName, options);
  return status.ok() ? ValidatePolicyOptions(*options) : status;
}

// The field of `counts` with this name in a table of {name, field}. Errors: InvalidArgument.
template <class Names, class Counts>
rocksdb::Status GetCount(const char* argument, const std::string& name, const Names& names,
                         const Counts& counts, uint64_t* value) {
  std::string allowed;
  for (const auto& [known, field] : names) {
    if (name == known) {
      *value = counts.*field;
      return rocksdb::Status::OK();
    }
    allowed += (allowed.empty() ? "" : ", ") + std::string(known);
  }
  return OptionOutOfRange(argument, name, allowed);
}

constexpr std::pair<const char*, uint64_t ReadPruningCounts::*> kPruningCounts[] = {
    {"num_files", &ReadPruningCounts::num_files},
    {"files_pruned", &ReadPruningCounts::files_pruned},
    {"files_by_block", &ReadPruningCounts::files_by_block},
    {"num_blocks", &ReadPruningCounts::num_blocks},
    {"blocks_left_out", &ReadPruningCounts::blocks_left_out},
    {"files_matching", &ReadPruningCounts::files_matching},
    {"files_above_older", &ReadPruningCounts::files_above_older},
    {"files_sharing_keys", &ReadPruningCounts::files_sharing_keys},
    {"files_without_index", &ReadPruningCounts::files_without_index},
    {"files_of_writers", &ReadPruningCounts::files_of_writers},
    {"files_not_unique", &ReadPruningCounts::files_not_unique},
    {"num_bytes", &ReadPruningCounts::num_bytes},
    {"bytes_pruned", &ReadPruningCounts::bytes_pruned},
    {"tables_asked", &ReadPruningCounts::tables_asked},
    {"tables_left_out", &ReadPruningCounts::tables_left_out},
};

// A policy in the struct that db/c.cc knows.
class CPolicy final : public rocksdb_filterpolicy_t {
 public:
  explicit CPolicy(const EnableOptions& options) : options_(options), policy_(MakePolicy(options)) {
    state_ = nullptr;
    destructor_ = [](void*) {};
    name_ = nullptr;
    RegisterOptions("BlocksieveFilterPolicyOptions", &options_, &PolicyOptionTable().types());
  }

  // A copy, because As<Policy> takes Policy::kName itself for that of a Policy.
  const char* Name() const override { return name_copy_.c_str(); }
  const char* CompatibilityName() const override { return policy_->CompatibilityName(); }
  std::string GetPrintableOptions() const override { return policy_->GetPrintableOptions(); }
  rocksdb::Status ValidateOptions(
      const rocksdb::DBOptions& db,
      const rocksdb::ColumnFamilyOptions& column_family) const override {
    return policy_->ValidateOptions(db, column_family);
  }
  rocksdb::FilterBitsBuilder* GetBuilderWithContext(
      const rocksdb::FilterBuildingContext& context) const override {
    return policy_->GetBuilderWithContext(context);
  }
  rocksdb::FilterBitsReader* GetFilterBitsReader(const rocksdb::Slice& contents) const override {
    return policy_->GetFilterBitsReader(contents);
  }

 private:
  const std::string name_copy_ = Policy::kName;
  EnableOptions options_;
  const std::unique_ptr<Policy> policy_;
};

class ScanIterator final : public rocksdb::Iterator {
 public:
  explicit ScanIterator(std::unique_ptr<SkipScan> scan) : scan_(std::move(scan)) {}

  bool Valid() const override { return refused_.ok() && scan_->Valid(); }
  void SeekToFirst() override {
    if (has_moved_) Refuse();
  }
  void Next() override {
    has_moved_ = true;
    if (Valid()) scan_->Next();
  }
  void SeekToLast() override { Refuse(); }
  void Seek(const rocksdb::Slice&) override { Refuse(); }
  void SeekForPrev(const rocksdb::Slice&) override { Refuse(); }
  void Prev() override { Refuse(); }
  rocksdb::Slice key() const override { return scan_->key(); }
  rocksdb::Slice value() const override { return scan_->value(); }
  rocksdb::Status status() const override { return refused_.ok() ? scan_->status() : refused_; }

 private:
  void Refuse() {
    refused_ = rocksdb::Status::NotSupported(
        "blocksieve: a skip scan goes forward once; create another one to start again");
  }

  const std::unique_ptr<SkipScan> scan_;
  rocksdb::Status refused_;
  bool has_moved_ = false;
};

}  // namespace

// These call no function of rocksdb/c.h: programs that embed RocksDB may not export them.
extern "C" {

BLOCKSIEVE_EXPORT rocksdb_filterpolicy_t* blocksieve_filterpolicy_create(const char* options_text,
                                                                         char** errptr) {
  rocksdb_filterpolicy_t* policy = nullptr;
  Report(errptr, {{"options_text", options_text}}, [&] {
    EnableOptions options;
    BLOCKSIEVE_RETURN_IF_ERROR(ParseFilter(options_text, &options));
    RegisterUnlessRegistered();
    policy = new CPolicy(options);
    return rocksdb::Status::OK();
  });
  return policy;
}

BLOCKSIEVE_EXPORT void blocksieve_enable(rocksdb_options_t* options, const char* features,
                                         char** errptr) {
  Report(errptr, {{"options", options}, {"features", features}}, [&] {
    EnableOptions parsed;
    if (*features != '\0') {
      BLOCKSIEVE_RETURN_IF_ERROR(EnableOptionTable().ParseAll(features, Policy::kName, &parsed));
    }
    return Enable(&Wrapped<rocksdb::Options>(options), parsed);
  });
}

BLOCKSIEVE_EXPORT rocksdb_iterator_t* blocksieve_create_iterator(
    rocksdb_t* db, const rocksdb_readoptions_t* read_options,
    rocksdb_column_family_handle_t* column_family, const char* condition, char** errptr) {
  rocksdb_iterator_t* iterator = nullptr;
  Report(errptr, {{"db", db}, {"condition", condition}}, [&] {
    std::unique_ptr<rocksdb::Iterator> rows;
    rocksdb::Status status =
        NewIterator(Wrapped<rocksdb::DB*>(db), UnwrapFamily(column_family), condition,
                    read_options == nullptr ? rocksdb::ReadOptions()
                                            : Wrapped<const rocksdb::ReadOptions>(read_options),
                    &rows);
    if (status.ok()) {
      iterator = new rocksdb_iterator_t{rows.get()};
      static_cast<void>(rows.release());
    }
    return status;
  });
  return iterator;
}

BLOCKSIEVE_EXPORT rocksdb_iterator_t* blocksieve_create_skip_scan(
    rocksdb_t* db, const rocksdb_readoptions_t* read_options,
    rocksdb_column_family_handle_t* column_family, const char* query, char** errptr) {
  rocksdb_iterator_t* iterator = nullptr;
  Report(errptr, {{"db", db}, {"query", query}}, [&] {
    SkipScanOptions options;
    if (read_options != nullptr) {
      options.read_options = Wrapped<const rocksdb::ReadOptions>(read_options);
      options.snapshot = std::exchange(options.read_options.snapshot, nullptr);
    }
    std::unique_ptr<SkipScan> scan;
    rocksdb::Status status = SkipScan::Create(Wrapped<rocksdb::DB*>(db),
                                              UnwrapFamily(column_family), query, options, &scan);
    if (status.ok()) {
      auto rows = std::make_unique<ScanIterator>(std::move(scan));
      iterator = new rocksdb_iterator_t{rows.get()};
      static_cast<void>(rows.release());
    }
    return status;
  });
  return iterator;
}

BLOCKSIEVE_EXPORT blocksieve_pruning_t* blocksieve_prune_reads(
    rocksdb_t* db, rocksdb_column_family_handle_t* column_family, const char* condition,
    const rocksdb_readoptions_t* base, char** errptr) {
  blocksieve_pruning_t* pruning = nullptr;
  Report(errptr, {{"db", db}, {"condition", condition}}, [&] {
    auto made = std::make_unique<blocksieve_pruning_t>();
    rocksdb::Status status = PruneReads(
        Wrapped<rocksdb::DB*>(db), UnwrapFamily(column_family), condition,
        base == nullptr ? rocksdb::ReadOptions() : Wrapped<const rocksdb::ReadOptions>(base),
        &made->rep);
    if (status.ok()) pruning = made.release();
    return status;
  });
  return pruning;
}

BLOCKSIEVE_EXPORT const rocksdb_readoptions_t* blocksieve_pruning_read_options(
    const blocksieve_pruning_t* pruning) {
  // RocksDB's C interface reads the options of an iterator from the beginning of its struct alone.
  return pruning == nullptr
             ? nullptr
             : reinterpret_cast<const rocksdb_readoptions_t*>(&pruning->rep->read_options());
}

BLOCKSIEVE_EXPORT unsigned char blocksieve_pruning_matches(const blocksieve_pruning_t* pruning,
                                                           const char* key, size_t key_bytes,
                                                           const char* value, size_t value_bytes,
                                                           char** errptr) {
  bool matches = false;
  Report(errptr, {{"pruning", pruning}, {"key", key}, {"value", value}}, [&] {
    matches = pruning->rep->Matches({key, key_bytes}, {value, value_bytes});
    return rocksdb::Status::OK();
  });
  return matches;
}

BLOCKSIEVE_EXPORT uint64_t blocksieve_pruning_count(const blocksieve_pruning_t* pruning,
                                                    const char* count, char** errptr) {
  uint64_t value = 0;
  Report(errptr, {{"pruning", pruning}, {"count", count}},
         [&] { return GetCount("count", count, kPruningCounts, pruning->rep->counts(), &value); });
  return value;
}

BLOCKSIEVE_EXPORT void blocksieve_pruning_destroy(blocksieve_pruning_t* pruning) { delete pruning; }

BLOCKSIEVE_EXPORT uint64_t blocksieve_range_filter_count(const char* result, char** errptr) {
  uint64_t count = 0;
  Report(errptr, {{"result", result}},
         [&] { return GetCount("result", result, kRangeResults, GetRangeFilterCounts(), &count); });
  return count;
}

BLOCKSIEVE_EXPORT char* blocksieve_filter_metrics(
    rocksdb_t* db, rocksdb_column_family_handle_t* const* column_families,
    size_t num_column_families, char** errptr) {
  char* text = nullptr;
  Report(errptr, {{"db", db}}, [&]() -> rocksdb::Status {
    if (num_column_families != 0)
      BLOCKSIEVE_RETURN_IF_ERROR(CheckGiven({{"column_families", column_families}}));
    std::vector<rocksdb::ColumnFamilyHandle*> families;
    for (size_t i = 0; i < num_column_families; ++i) {
      families.push_back(UnwrapFamily(column_families[i]));
    }
    std::vector<FilterMetric> metrics;
    rocksdb::Status status = GetFilterMetrics(Wrapped<rocksdb::DB*>(db), families, &metrics);
    if (status.ok()) text = ::strdup(FilterMetricsText(metrics).c_str());
    return status.ok() && text == nullptr ? rocksdb::Status::MemoryLimit() : status;
  });
  return text;
}

BLOCKSIEVE_EXPORT const char* blocksieve_version(void) { return BLOCKSIEVE_VERSION; }

}  // extern "C"

}  // namespace blocksieve::rocksdb_plugin
