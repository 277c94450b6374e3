#include "bench/skip/scan_database.h"

#include <memory>
#include <span>
#include <utility>

#include "bench/support/measure.h"
#include "bench/support/terminal.h"
#include "blocksieve/rocksdb.h"

namespace blocksieve::bench::skip {
namespace {

constexpr int kBottomLevel = 2;
constexpr size_t kLevel0Files = 4;

}  // namespace

void SetUp(const std::optional<SkipIndexOptions>& index, rocksdb::Options& options) {
  TableOptions(options).filter_policy = *NewFilterPolicy({});  // re-checks are lookups
  if (!index) return;
  const rocksdb::Status status = EnableSkipIndex(&options, *index);
  if (!status.ok()) Fail("skip index: {}", status.ToString());
}

ScanDatabase::ScanDatabase(const Dataset& dataset, std::filesystem::path path,
                           const std::optional<SkipIndexOptions>& index)
    : Database({index ? "skip index" : "no index",
                [index](rocksdb::Options& options) { SetUp(index, options); }},
               dataset.rows.num_bytes(), std::move(path)),
      dataset_(dataset) {
  Open(Reads::kColdOnce);
}

void ScanDatabase::Fill(const std::vector<uint32_t>& order) {
  FillLevel(dataset_.rows, order, kBottomLevel);
}

void ScanDatabase::Rewrite() {
  const Rows& rows = dataset_.rewritten;
  const std::vector<uint32_t> order = RandomOrder(rows.size(), /*seed=*/1);
  const std::span<const uint32_t> all = order;
  const size_t half = order.size() / 2;
  FillLevel(rows, all.first(half), 1);
  for (size_t file = 0; file < kLevel0Files; ++file) {
    const auto part = [&](size_t n) { return half + (order.size() - half) * n / kLevel0Files; };
    PutAndFlush(rows, all.subspan(part(file), part(file + 1) - part(file)));
  }
}

ScanCost ScanDatabase::Scan(const Query& query, const std::vector<std::string_view>& values,
                            bool use_index) {
  CheckInterrupt();
  SkipScanOptions options;
  options.use_index = use_index;
  ScanCost cost;
  const CounterWindow window(statistics());
  const Stopwatch stopwatch;
  std::unique_ptr<SkipScan> scan;
  Check(SkipScan::Create(&db(), nullptr, query.predicate, options, &scan), "scan");
  auto expected = query.rows.begin();
  for (; scan->Valid() && expected != query.rows.end(); scan->Next(), ++expected) {
    if (scan->key().ToStringView() != dataset_.rows.key(*expected) ||
        scan->value().ToStringView() != values[*expected]) {
      Fail("{}: a scan returned a row that does not match, or is not the next one",
           query.predicate.ToText());
    }
  }
  Check(scan->status(), "scan");
  if (scan->Valid() || expected != query.rows.end()) {
    Fail("{}: a scan returned {} rows than match", query.predicate.ToText(),
         scan->Valid() ? "more" : "fewer");
  }
  cost.seconds = stopwatch.Seconds();
  cost.data_blocks = window.Stop().data_blocks_read;
  cost.explanation = scan->Explain();
  return cost;
}

}  // namespace blocksieve::bench::skip
