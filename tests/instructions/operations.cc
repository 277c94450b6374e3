// SPDX-License-Identifier: Apache-2.0
// The operations whose instructions instructions.py counts: each between two requests to callgrind.

#include <rocksdb/convenience.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/table.h>
#include <valgrind/callgrind.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "blocksieve/filter.h"
#include "blocksieve/skip_index.h"
#include "integration/rocksdb/compat/filter_bits_abi.h"

namespace blocksieve {
namespace {

constexpr uint64_t kOdd = 0x9E3779B97F4A7C15;  // multiples are spread evenly
constexpr size_t kMaxKeys = 10'000;
constexpr size_t kBatch = 32;  // the most keys that MultiGet probes at once
size_t num_keys = 0;           // or rows; set by main

// Counts the instructions of `run`, which does `times` operations. First calls, with few keys,
// initialise what they use.
template <class Run>
void Count(const std::string& operation, size_t times, Run run) {
  const std::string label = operation + " / " + std::to_string(times);
  CALLGRIND_ZERO_STATS;
  run();
  if (num_keys == kMaxKeys) CALLGRIND_DUMP_STATS_AT(label.c_str());
}

// The same for probe(i), the number of matches from key i on. Ends the program if it is wrong: a
// filter that always or never matches would be fast.
template <class Probe>
void CountProbes(const std::string& operation, bool is_present, size_t step, Probe probe) {
  uint64_t matches = 0;
  Count(operation + (is_present ? ", present" : ", absent"), num_keys, [&] {
    for (size_t i = 0; i < num_keys; i += step) matches += probe(i);
  });
  if (is_present ? matches == num_keys : matches < num_keys / 10) return;
  std::fprintf(stderr, "%s: %llu keys match\n", operation.c_str(), 0ULL + matches);
  std::exit(1);
}

// Sorted random keys of 16 bytes, as many as `per_prefix` with the same first eight.
std::vector<std::string> Keys(size_t first, size_t per_prefix) {
  std::vector<std::string> keys;
  for (size_t i = first; i < first + num_keys; ++i) {
    const uint64_t words[] = {i / per_prefix * kOdd, i};
    keys.emplace_back(reinterpret_cast<const char*>(words), sizeof(words));
  }
  std::sort(keys.begin(), keys.end());
  return keys;
}

// A filter through the core's interface.
struct CoreFilter {
  using Key = std::string_view;

  explicit CoreFilter(const FilterOptions& options) : builder(*FilterBuilder::Create(options)) {}
  void Add(Key key) { builder.AddKey(key); }
  void Finish() { block = std::move(builder.Finish()->block); }
  void Open() { filter = Filter::Open(block.view()); }
  bool Probe(Key key) const { return filter.MayContain(key); }
  void Probe(std::span<Key> keys, bool* may_match) const {
    filter.points().MayContain(keys, may_match);
  }

  FilterBuilder builder;
  OwnedBytes block;
  Filter filter;
};

// A filter through the virtual calls by which RocksDB builds and probes it.
struct RocksDbFilter {
  using Key = rocksdb::Slice;

  explicit RocksDbFilter(const std::string& options) {
    rocksdb::FilterPolicy::CreateFromString({}, options, &policy).PermitUncheckedError();
    const rocksdb::BlockBasedTableOptions table;
    builder.reset(policy->GetBuilderWithContext(rocksdb::FilterBuildingContext(table)));
  }
  void Add(const Key& key) { builder->AddKey(key); }
  void Finish() { block = builder->Finish(&memory, &status); }
  void Open() { reader.reset(policy->GetFilterBitsReader(block)); }
  bool Probe(const Key& key) const { return reader->MayMatch(key); }
  void Probe(std::span<Key> keys, bool* may_match) const {
    Key* pointers[kBatch];
    for (size_t i = 0; i < keys.size(); ++i) pointers[i] = &keys[i];
    reader->MayMatch(static_cast<int>(keys.size()), pointers, may_match);
  }

  std::shared_ptr<const rocksdb::FilterPolicy> policy;
  std::unique_ptr<rocksdb::FilterBitsBuilder> builder;
  std::unique_ptr<const char[]> memory;
  rocksdb::Slice block;
  rocksdb::Status status;
  std::unique_ptr<rocksdb::FilterBitsReader> reader;
};

template <class AnyFilter>
void CountFilter(const std::string& name, AnyFilter&& filter, size_t per_prefix = 1) {
  std::vector<std::string> bytes = Keys(0, per_prefix);
  std::vector<typename std::decay_t<AnyFilter>::Key> keys(bytes.begin(), bytes.end());
  Count(name + "add a key", num_keys, [&] {
    for (const auto& key : keys) filter.Add(key);
  });
  Count(name + "finish, per key", num_keys, [&] { filter.Finish(); });
  Count(name + "open", num_keys, [&] {
    for (size_t i = 0; i < num_keys; ++i) filter.Open();
  });
  for (const bool is_present : {true, false}) {
    bytes = Keys(is_present ? 0 : kMaxKeys, per_prefix);
    keys.assign(bytes.begin(), bytes.end());
    CountProbes(name + "probe", is_present, 1, [&](size_t i) { return filter.Probe(keys[i]); });
    CountProbes(name + "probe in a batch", is_present, kBatch, [&](size_t i) {
      bool may_match[kBatch];
      const size_t size = std::min(kBatch, num_keys - i);
      filter.Probe(std::span(keys).subspan(i, size), may_match);
      return std::count(may_match, may_match + size, true);
    });
  }
}

// Building, and short ranges that begin with absent keys, or are below absent prefixes.
void CountRanges(const std::string& name, const FilterOptions& options, size_t per_prefix) {
  CoreFilter filter(options);
  CountFilter(name, filter, per_prefix);
  const std::vector<std::string> begins = Keys(kMaxKeys, per_prefix);
  std::vector<std::string> ends = begins;
  for (std::string& end : ends) ++end.back();
  CountProbes(name + "query", false, 1,
              [&](size_t i) { return filter.filter.MayContainRange(begins[i], ends[i]); });
}

void CountSkipIndex() {
  SkipIndexOptions options;
  options.columns = {"time=bounds:uint:1", "user=filters:field:2", "status=filters:field:3"};
  SkipIndexBuilder builder = *SkipIndexBuilder::Create(options);
  std::vector<std::string> rows;
  for (size_t i = 0; i < num_keys; ++i) {
    rows.push_back(std::to_string(100'000 + i) + "\tuser" + std::to_string(i * kOdd >> 51) +
                   "\tstatus" + std::to_string(i / 1000));
  }
  Count("index: add a row", num_keys, [&] {
    for (const std::string& row : rows) builder.AddRow(std::string_view(row).substr(0, 6), row);
  });
  std::string index;
  Count("index: finish, per row", num_keys, [&] { index = builder.Finish()->bytes; });
  Count("index: open", 1, [&] { (void)SkipIndex::Open(AsBytes(index)); });
  const SkipIndex reader = *SkipIndex::Open(AsBytes(index));
  for (const std::string where : {"user = 'user0'", "user = 'nobody'", "status = 'status7'",
                                  "time BETWEEN 105000 AND 105100"}) {
    const Predicate predicate = *Predicate::Parse(where, options.columns);
    Count("index: " + where, 1, [&] { (void)reader.Candidates(predicate); });
  }
}

}  // namespace
}  // namespace blocksieve

int main() {
  using namespace blocksieve;
  for (const size_t keys : {size_t{500}, kMaxKeys}) {
    num_keys = keys;
    for (const std::string kind : {"bloom", "ribbon"}) {
      FilterOptions options;
      if (kind == "ribbon") options.kind = FilterKind::kRibbon;
      CountFilter("RocksDB: ", RocksDbFilter("{id=blocksieve;target_fpr=0.01;kind=" + kind + "}"));
      CountFilter("", CoreFilter(options));
      options.ranges = true;
      CountRanges("ranges: ", options, 1);
      options.ranges = false;
      options.prefixes = "lengths:8";
      CountRanges("prefixes: ", options, 10);
    }
    CountSkipIndex();
  }
}
