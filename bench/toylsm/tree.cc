#include "bench/toylsm/tree.h"

#include <algorithm>
#include <numeric>
#include <random>
#include <string>

#include "bench/support/failure.h"
#include "bench/support/interrupt.h"

namespace blocksieve::bench::toy {

toylsm::Options TreeOptions(const Rows& rows) {
  toylsm::Options options;
  options.memtable_bytes = std::clamp<uint64_t>(rows.num_bytes() / 40, 64 << 10, 4 << 20);
  options.level1_bytes = options.memtable_bytes;
  options.size_ratio = 4;
  options.file_bytes = std::clamp<uint64_t>(rows.num_bytes() / 40, 64 << 10, 4 << 20);
  options.key_filters = {};
  return options;
}

std::unique_ptr<toylsm::Db> OpenDb(const toylsm::Options& options,
                                   const std::filesystem::path& path) {
  return Must(toylsm::Db::Open(options, path.string()), "open");
}

void WriteRows(toylsm::Db& db, const Rows& rows, uint64_t seed) {
  std::vector<uint32_t> order(rows.size());
  std::iota(order.begin(), order.end(), 0U);
  std::shuffle(order.begin(), order.end(), std::mt19937_64(seed));
  for (size_t i = 0; i < order.size(); ++i) {
    if (i % 1'024 == 0) CheckInterrupt();
    Check(db.Put(rows.key(order[i]), rows.value(order[i])), "write to");
  }
  Check(db.Flush(), "flush");
}

void ForgetReads(toylsm::Db& db) {
  db.cache().Clear();
  db.counters().Reset();
}

void Check(const Status& status, const char* what) {
  if (!status.ok()) Fail("the toy LSM failed to {} the database: {}", what, status.message());
}

}  // namespace blocksieve::bench::toy
