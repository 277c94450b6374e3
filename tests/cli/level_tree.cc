// SPDX-License-Identifier: Apache-2.0
// Builds RocksDB databases of given sorted runs, and measures the wasted reads of their lookups,
// which `blocksieve advise` predicts.
//
//   level_tree build DIR LEVEL[/PART]:KEYS:POLICY...
//                                               a run for each, in this order: the deepest first
//   level_tree measure DIR LOOKUPS              prints JSON
//   level_tree seek DIR SEEKS                   the same for seeks in empty ranges
//   level_tree seek DIR -                       the same for ranges "BEGIN END" of standard input
//
// POLICY is as in option strings, or "none". Keys are random, so that all runs have the same key
// range; a run with a PART has keys from the first 1/PART of it.

#include <rocksdb/convenience.h>
#include <rocksdb/memtablerep.h>
#include <rocksdb/perf_context.h>
#include <rocksdb/slice_transform.h>

#include <cstdint>
#include <iostream>
#include <nlohmann/json.hpp>
#include <regex>
#include <utility>

#include "blocksieve/rocksdb.h"
#include "integration/rocksdb/policy/filter_bits.h"
#include "tests/support/test_db.h"

namespace {

using namespace blocksieve::testing;  // NOLINT: test support

// No WAL: databases are flushed before they are closed.
void Put(rocksdb::DB* db, const std::string& key) {
  rocksdb::WriteOptions options;
  options.disableWAL = true;
  MustBeOk(db->Put(options, key, "a value of some bytes"));
}

// Permutes the 64-bit numbers (splitmix64, Steele et al., 2014): even ones are present.
std::string KeyOf(uint64_t number) {
  uint64_t x = number + 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  x ^= x >> 31;
  return {reinterpret_cast<const char*>(&x), sizeof(x)};
}

std::string PresentKey(uint64_t number) { return KeyOf(2 * number); }
std::string AbsentKey(uint64_t number) { return KeyOf(2 * number + 1); }

struct Run {
  int level;
  unsigned part;
  uint64_t num_keys;
  std::string policy;
};

Run ParseRun(const std::string& text) {
  static const std::regex pattern("(\\d+)(?:/(\\d+))?:(\\d+):(.*)");
  std::smatch parts;
  std::regex_match(text, parts, pattern);
  return {.level = std::stoi(parts[1]),
          .part = parts[2].matched ? static_cast<unsigned>(std::stoul(parts[2])) : 1,
          .num_keys = std::stoull(parts[3]),
          .policy = parts[4]};
}

rocksdb::Options OptionsWith(const std::string& policy) {
  rocksdb::Options options;
  options.create_if_missing = true;
  options.disable_auto_compactions = true;
  options.write_buffer_size = 256 << 20;
  options.listeners.push_back(blocksieve::NewListener());
  rocksdb::BlockBasedTableOptions table;
  table.no_block_cache = true;  // every data block is read; filters and indexes are held
  table.block_size = 512;       // small ones are read faster
  options.compression = rocksdb::kNoCompression;
  options.memtable_factory = std::make_shared<rocksdb::VectorRepFactory>();
  options.allow_concurrent_memtable_write = false;  // vectors do not support it
  if (policy != "none") table.filter_policy = PolicyFromString(policy);
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  if (policy.find("ranges=true") != std::string::npos ||
      policy.find("prefixes=") != std::string::npos) {
    MustBeOk(rocksdb::SliceTransform::CreateFromString({}, "blocksieve.range",
                                                       &options.prefix_extractor));
  }
  return options;
}

// Rewrites the files of a level into another one, or into itself. RocksDB does not call listeners
// when CompactFiles begins, as it does for its own compactions.
void Rewrite(rocksdb::DB* db, int from, int to) {
  rocksdb::ColumnFamilyMetaData family;
  db->GetColumnFamilyMetaData(&family);
  std::vector<std::string> files;
  for (const auto& file : family.levels[static_cast<size_t>(from)].files)
    files.push_back(file.name);
  if (files.empty()) return;
  for (const auto& listener : db->GetOptions().listeners) listener->OnFlushBegin(db, {});
  rocksdb::CompactionOptions options;
  options.output_file_size_limit = 512 << 10;  // several files to a level
  MustBeOk(db->CompactFiles(options, files, to));
}

void Build(const std::string& path, const std::vector<Run>& runs) {
  uint64_t next_key = 0;
  for (const Run& run : runs) {
    const auto db = OpenDb(OptionsWith(run.policy), path);
    for (uint64_t i = 0; i < run.num_keys; ++next_key) {
      const std::string key = PresentKey(next_key);
      if (static_cast<uint8_t>(key[0]) >= 256 / run.part) continue;
      Put(db.get(), key);
      ++i;
    }
    MustBeOk(db->Flush({}));
    if (run.level > 0) Rewrite(db.get(), 0, run.level);
  }
  // Again, now that policies that depend on the tree know all of it.
  for (const Run& run : runs) {
    if (run.level == 0 || run.policy[0] != '{') continue;  // others are the same again
    Rewrite(OpenDb(OptionsWith(run.policy), path).get(), run.level, run.level);
  }
}

// Data blocks read by lookups, minus those that had the key.
template <class Key>
uint64_t WastedReads(rocksdb::DB* db, uint64_t lookups, const Key& key) {
  rocksdb::SetPerfLevel(rocksdb::kEnableCount);
  rocksdb::get_perf_context()->Reset();
  uint64_t found = 0;
  for (uint64_t i = 0; i < lookups; ++i) {
    rocksdb::PinnableSlice value;
    const rocksdb::Status status = db->Get({}, db->DefaultColumnFamily(), key(i), &value);
    if (!status.IsNotFound()) MustBeOk(status);
    found += status.ok();
  }
  return rocksdb::get_perf_context()->block_read_count - found;
}

void Measure(const std::string& path, uint64_t lookups) {
  const auto db = OpenReadOnly(OptionsWith("blocksieve:0.01"), path);  // reads all filters
  uint64_t filter_bytes = 0;
  for (const auto& [file, properties] : FilesOf(*db)) filter_bytes += properties->filter_size;
  std::vector<std::string> present;
  for (const auto& [key, value] : ReadRows(db.get())) present.push_back(key);
  const nlohmann::json document = {
      {"filter_bytes", filter_bytes},
      {"wasted_reads_absent", WastedReads(db.get(), lookups, AbsentKey)},
      {"wasted_reads_present", WastedReads(db.get(), lookups, [&](uint64_t i) {
         return present[i * present.size() / lookups];
       })}};
  std::cout << document << "\n";
}

using Ranges = std::vector<std::pair<std::string, std::string>>;

// Wide empty ranges that begin at an absent key.
Ranges EmptyRanges(uint64_t number) {
  Ranges ranges;
  for (uint64_t i = 0; i < number; ++i) {
    const std::string begin = AbsentKey(i);
    ranges.emplace_back(begin, begin.substr(0, begin.size() - 2) + "\xff\xff\xff");
  }
  return ranges;
}

Ranges RangesOf(std::istream& lines) {
  Ranges ranges;
  for (std::string begin, end; lines >> begin >> end;) ranges.emplace_back(begin, end);
  return ranges;
}

void Seek(const std::string& path, const Ranges& ranges) {
  const auto db = OpenReadOnly(OptionsWith("{id=blocksieve;ranges=true}"), path);
  blocksieve::rocksdb_plugin::TestRangesOnce();  // its reads do not count
  rocksdb::SetPerfLevel(rocksdb::kEnableCount);
  rocksdb::get_perf_context()->Reset();
  uint64_t found = 0;
  for (const auto& [begin, end] : ranges) {
    const rocksdb::Slice bound = end;
    rocksdb::ReadOptions options;
    blocksieve::PrepareRangeRead(&bound, &options);
    const std::unique_ptr<rocksdb::Iterator> entry(db->NewIterator(options));
    entry->Seek(begin);
    MustBeOk(entry->status());
    found += entry->Valid();
  }
  const rocksdb::PerfContext& counts = *rocksdb::get_perf_context();
  const uint64_t blocks = counts.block_read_count - counts.index_block_read_count -
                          counts.filter_block_read_count;  // partitions of indexes and filters
  const nlohmann::json document = {{"found", found}, {"blocks", blocks}};
  std::cout << document << "\n";
}

}  // namespace

int main(int argc, char** argv) {
  blocksieve_rocksdb_register();
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (arguments.size() >= 3 && arguments[0] == "build") {
    std::vector<Run> runs;
    for (size_t i = 2; i < arguments.size(); ++i) runs.push_back(ParseRun(arguments[i]));
    Build(arguments[1], runs);
  } else if (arguments.size() == 3 && arguments[0] == "measure") {
    Measure(arguments[1], std::stoull(arguments[2]));
  } else if (arguments.size() == 3 && arguments[0] == "seek") {
    Seek(arguments[1],
         arguments[2] == "-" ? RangesOf(std::cin) : EmptyRanges(std::stoull(arguments[2])));
  } else {
    std::cerr << "usage: see the head of level_tree.cc\n";
    return 2;
  }
  return 0;
}
