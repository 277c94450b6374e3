// SPDX-License-Identifier: Apache-2.0
#include <rocksdb/experimental.h>

#include <algorithm>
#include <random>

#include "bench/skip/experiment.h"
#include "bench/skip/scan_database.h"
#include "bench/support/keys.h"
#include "bench/support/measure.h"
#include "integration/rocksdb/compat/version_differences.h"
#include "lib/column/values.h"

namespace blocksieve::bench::skip {
namespace {

constexpr size_t kRuns = 8, kWindows = 10;
constexpr uint64_t kTimes = 1000;
constexpr uint64_t kFew = 16;  // as many numbers of BETWEEN ask filters

// Keys of a series, or what takes its place, and a time.
struct Layout {
  const char* name;
  const char* column;
  uint64_t step = 1;  // between times
  const char* suffix = "";
  bool is_hashed = false;    // a hash of series and time takes the place of the series
  bool is_inverted = false;  // the time has its bits complemented; conditions ask for changes since

  std::string Encode(uint64_t time) const { return BigEndian(is_inverted ? ~time : time); }
};

// The first has the targets, and ten times as many series.
constexpr Layout kLayouts[] = {
    {"series, time", "t=key:uint64be(8)"},
    {"hash, time", "t=key:uint64be(8)", 1, "", true},
    {"TiKV: row, inverted version", "t=key:descending_uint64be(-8)", 1 << 18, "", false, true},
    {"Kafka: record, window start, number", "t=key:uint64be(-12)", 60'000, "0000"}};

// Eight runs, each with the rows of its time and a tenth as many updates of older rows: every file
// and many blocks hold times from first to last.
void MeasureLayout(const Layout& layout, uint64_t num_series, Job& job) {
  Dataset dataset;
  const Column column = Must(Column::Parse(layout.column), "column");
  dataset.columns = {{column, layout.name}};
  for (uint64_t number = 0; number < num_series * kTimes; ++number) {
    const uint64_t hash = number * 0x9e3779b97f4a7c15U;  // 2^64 / the golden ratio
    dataset.rows.Add(BigEndian(layout.is_hashed ? hash : number / kTimes) +
                         layout.Encode(number % kTimes * layout.step) + layout.suffix,
                     fmt::format("value {}", hash % 1'000'000'007));
  }
  dataset.rows.Seal();
  std::vector<uint64_t> times;  // by row
  std::vector<std::vector<uint32_t>> runs(kRuns);
  std::mt19937_64 random(job.options.seed);
  for (uint32_t row = 0; row < dataset.rows.size(); ++row) {
    internal::ForEachIndexed(column, Row(dataset.rows.key(row), {}), [&](const Value& time) {
      times.push_back(time.as_uint());
      return true;
    });
    for (size_t run = times[row] / layout.step * kRuns / kTimes, of = run; run < kRuns; ++run) {
      if (run == of || random() % (10 * run) == 0) runs[run].push_back(row);
    }
  }
  const SkipIndexOptions index{.columns = {column}};
  const TempDir dir(job.db_dir);
  const auto open = [&](const char* name, auto... how) {
    return std::make_unique<ScanDatabase>(dataset, dir.path() / name, how...);
  };
  const auto skip = open("skip", index);
  const auto by_block = kHasBlockIndexes ? open("block", index, true) : nullptr;
  std::unique_ptr<ScanDatabase> stock;
  std::function<rocksdb_plugin::TableFilter(const std::string& low, const std::string& high)> find;
#if ROCKSDB_MAJOR >= 9  // RocksDB's own filters of files by a segment of the key
  using namespace rocksdb::experimental;
  using Manager = SstQueryFilterConfigsManager;
  const SstQueryFilterConfigs configs{{MakeSharedBytewiseMinMaxSQFC(SelectKeySegment(1))},
                                      MakeSharedCappedKeySegmentsExtractor({8, 8})};
  std::shared_ptr<Manager> manager;
  std::shared_ptr<Manager::Factory> factory;
  CheckOk(Manager::MakeShared({{1, {{"times", configs}}}}, &manager), "segment filters");
  CheckOk(manager->MakeSharedFactory("times", 1, &factory), "segment filters");
  find = [=](const auto& low, const auto& high) {
    return factory->GetTableFilterForRangeQuery(low, high);
  };
  stock = open("stock", std::nullopt, false, factory);
#endif
  for (size_t run = 0; run < kRuns; ++run) {
    for (ScanDatabase* database : {skip.get(), by_block.get(), stock.get()}) {
      if (database) database->FillLevel(dataset.rows, runs[run], static_cast<int>(kRuns - run));
    }
  }
  std::vector<std::vector<uint64_t>> blocks;  // times of all entries
  ForEachEntry(skip->db(), dataset.rows, [&](size_t row, uint64_t block) {
    blocks.resize(std::max<size_t>(blocks.size(), block));
    blocks[block - 1].push_back(times[row]);
  });
  for (const uint64_t num_times : {kTimes / 1000, kTimes / 100, kTimes / 10}) {
    uint64_t oracle = 0, in_bounds = 0;  // blocks with such a time, blocks whose bounds allow one
    uint64_t skipped = 0, by_file = 0, of_block = 0, of_stock = 0;
    for (size_t i = 0; i < kWindows; ++i) {
      const uint64_t last = kTimes - num_times;
      const uint64_t start = layout.is_inverted ? last : random() % (last + 1);
      const uint64_t low = start * layout.step, end = (start + num_times) * layout.step;
      std::string condition = fmt::format("t >= {} AND t < {}", low, end);
      if (layout.is_inverted) condition = fmt::format("t >= {}", low);
      if (layout.step != 1 && !layout.is_inverted && num_times <= kFew) {
        // The starts of windows are few, although the numbers between them are many.
        condition = fmt::format("t IN ({}", low);
        for (uint64_t next = low + layout.step; next < end; next += layout.step) {
          condition += fmt::format(", {}", next);
        }
        condition += ")";
      }
      const auto is_in = [=](uint64_t time) { return low <= time && time < end; };
      Query query{Must(Predicate::Parse(condition, dataset.Columns()), "predicate"), {}};
      for (uint32_t row = 0; row < times.size(); ++row) {
        if (is_in(times[row])) query.rows.push_back(row);
      }
      for (const std::vector<uint64_t>& block : blocks) {
        const auto [min, max] = std::ranges::minmax(block);
        in_bounds += min < end && low <= max;
        oracle += std::ranges::any_of(block, is_in);
      }
      skip->ForgetReads();
      skipped += skip->Scan(query, /*use_index=*/true).data_blocks;
      skip->ForgetReads();
      by_file += skip->ReadPruned(query).data_blocks;
      if (by_block) of_block += by_block->ReadPruned(query).data_blocks;
      if (by_block) by_block->ForgetReads();
      if (!stock) continue;
      // It filters nothing between two series, but its answer for one is that for all: it knows the
      // first and the last time of a file.
      std::string from = BigEndian(uint64_t{0}) + layout.Encode(low),
                  to = BigEndian(uint64_t{0}) + layout.Encode(end);
      if (to < from) from.swap(to);
      const rocksdb_plugin::TableFilter filter = find(from, to);
      rocksdb::ReadOptions by_filter;
      rocksdb_plugin::SetTableFilter(filter, &by_filter);
      of_stock += stock->Read(query, [&] { return by_filter; }).data_blocks;
      stock->ForgetReads();
    }
    const auto mean = [&](uint64_t sum) { return Ratio(sum, kWindows); };
    Line& line = job.results.In(
        "Windows of a time in the key, in eight runs, on average",
        "Key, window")[fmt::format("{}, {:.1f} %", layout.name, 100 * Ratio(num_times, kTimes))];
    line.Add("data blocks: full iterator", "", blocks.size())
        .Add("data blocks: files left out", "", mean(by_file))
        .Add("data blocks: skip index", "", mean(skipped));
    if (stock) line.Add("data blocks: SstQueryFilterConfigs", "", mean(of_stock));
    if (by_block) line.Add("data blocks: block index", "", mean(of_block));
    line.Add("bounds of blocks", "", mean(in_bounds)).Add("oracle", "", mean(oracle));
    if (!by_block) continue;
    line.Add("block index: relative to the oracle", "x", Ratio(of_block, oracle),
             &layout == kLayouts && num_times <= kFew ? NotAbove(1.2) : Target{})
        .Add("relative to bounds", "x", Ratio(of_block, in_bounds),
             &layout == kLayouts && num_times > kFew ? NotAbove(1.1) : Target{});
  }
}

}  // namespace

void MeasureKeyParts(uint64_t num_series, Job& job) {
  for (const Layout& layout : kLayouts) {
    job.progress.Show(fmt::format("windows of a time: {}", layout.name));
    MeasureLayout(layout, num_series / (&layout == kLayouts ? 1 : 10), job);
  }
}

}  // namespace blocksieve::bench::skip
