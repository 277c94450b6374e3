#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <rocksdb/env.h>

#include <thread>

#include "bench/support/database.h"
#include "bench/support/job.h"
#include "bench/support/keys.h"
#include "blocksieve/rocksdb/enable.h"
#include "blocksieve/rocksdb/maintenance.h"
#include "blocksieve/tree.h"

namespace blocksieve::bench::levels {

/// Sizes of a tree. Level 1, or with dynamic level sizes the smallest one in use, has the keys of
/// about four flushes, the number that triggers a compaction.
struct Sizes {
  double size_ratio = 10;
  bool has_dynamic_levels = false;
  uint64_t keys_per_flush = 0;
};

/// A sorted run of the database: a file on level 0, or a deeper level.
struct Run {
  int level = 0;
  uint64_t keys = 0;
};

/// The runs of a tree, the size of its filters, and its wasted reads.
struct Measurement {
  std::vector<Run> runs = {};
  double bits_per_key = 0;
  double wasted_reads = 0;  ///< Data blocks read per lookup of an absent key.
  double blocks_read = 0;   ///< The same of blocks of all kinds, without those in the block cache.

  /// The fewest wasted reads possible with ribbons of the same total size: computed from the sizes
  /// of these runs, as if every lookup probed all of them. Only some lookups probe a partially
  /// filled level, so the measured figure may be lower.
  double optimum() const {
    std::vector<TreeLevel> levels;
    for (const Run& run : runs) levels.push_back({.keys_per_run = static_cast<double>(run.keys)});
    return Must(AllocateRates(levels, {.bits_per_key = bits_per_key}), "the optimum").wasted_reads;
  }
};

/// A database that is filled flush by flush, in random key order. Each flush waits until nothing is
/// left to compact, so that the tree depends on its sizes and keys only: all contestants have the
/// same one. It is in memory: blocks are counted, times are not measured.
class Tree : public Database {
 public:
  /// `path`: an existing directory. `set_up`: changes the options; may be empty.
  Tree(const Sizes& sizes, const std::shared_ptr<const rocksdb::FilterPolicy>& policy,
       std::filesystem::path path, const std::function<void(rocksdb::Options&)>& set_up = {})
      : Database({policy->Name(),
                  [sizes, policy, set_up,
                   memory = std::shared_ptr<rocksdb::Env>(
                       rocksdb::NewMemEnv(rocksdb::Env::Default()))](rocksdb::Options& options) {
                    options.env = memory.get();
                    TableOptions(options).filter_policy = policy;
                    SetUp(sizes, options);
                    if (set_up) set_up(options);
                  }},
                 /*num_bytes=*/0, std::move(path)),
        keys_per_flush_(sizes.keys_per_flush) {
    Open(Reads::kCached);
  }

  void Flushes(int count) {
    rocksdb::WriteOptions write;
    write.disableWAL = true;
    const std::string value(20, 'v');
    for (int flush = 0; flush < count; ++flush) {
      CheckInterrupt();
      for (uint64_t i = 0; i < keys_per_flush_; ++i) {
        // Mix is a bijection: keys are unique, and in random order.
        Check(db().Put(write, Key16(Mix(next_key_++)).view(), value), "put into");
      }
      Check(db().Flush({}), "flush");
      WaitForCompactions();
    }
  }

  void RewriteFilters() { Check(blocksieve::RewriteFilters(&db(), {}), "rewrite the filters of"); }

  /// Looks up absent keys, spread over the whole key range, and the same for all trees.
  Measurement Measure(uint64_t lookups) {
    const CounterWindow window(statistics());
    for (uint64_t i = 0; i < lookups; ++i) {
      if (i % 65'536 == 0) CheckInterrupt();
      CheckGet(Key16(Mix(kFirstAbsent + i)).view(), std::nullopt);
    }
    const Counters counted = window.Stop();
    const TreeShape shape = Shape();
    return {.runs = Runs(),
            .bits_per_key = Ratio(8 * shape.filter_bytes, shape.num_entries),
            .wasted_reads = Ratio(counted.data_blocks(), lookups),
            .blocks_read = Ratio(counted.blocks_read, lookups)};
  }

 private:
  static void SetUp(const Sizes& sizes, rocksdb::Options& options) {
    constexpr uint64_t kEntryBytes = 40;  // in a file: key, value, and RocksDB's overhead
    options.disable_auto_compactions = false;
    options.max_bytes_for_level_multiplier = sizes.size_ratio;
    options.level_compaction_dynamic_level_bytes = sizes.has_dynamic_levels;
    options.max_bytes_for_level_base =
        static_cast<uint64_t>(options.level0_file_num_compaction_trigger) * sizes.keys_per_flush *
        kEntryBytes;
    options.target_file_size_base = options.max_bytes_for_level_base;
    options.listeners.push_back(NewListener());
  }

  void WaitForCompactions() {
    const auto is_zero = [&](const std::string& property) {
      uint64_t value = 0;
      if (!db().GetIntProperty(property, &value)) Fail("RocksDB does not know {}", property);
      return value == 0;
    };
    while (!is_zero(rocksdb::DB::Properties::kCompactionPending) ||
           !is_zero(rocksdb::DB::Properties::kNumRunningCompactions)) {
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
  }

  std::vector<Run> Runs() {
    rocksdb::ColumnFamilyMetaData meta;
    db().GetColumnFamilyMetaData(&meta);
    std::vector<Run> runs;
    for (const auto& level : meta.levels) {
      for (const auto& file : level.files) {
        if (level.level == 0 || runs.empty() || runs.back().level != level.level) {
          runs.push_back({.level = level.level});
        }
        runs.back().keys += file.num_entries;
      }
    }
    return runs;
  }

  const uint64_t keys_per_flush_;
  uint64_t next_key_ = 0;
};

}  // namespace blocksieve::bench::levels
