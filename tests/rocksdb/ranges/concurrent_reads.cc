#include "tests/rocksdb/ranges/concurrent_reads.h"

#include <memory>

#include "tests/rocksdb/ranges/checked_iterator.h"

namespace blocksieve::testing {

ConcurrentReads::ConcurrentReads(rocksdb::DB* db, int threads, bool timestamps, bool plain_reads,
                                 uint64_t seed)
    : db_(db),
      timestamps_(timestamps),
      plain_reads_(plain_reads),
      reports_(static_cast<size_t>(threads)) {
  for (ModelReport& report : reports_) {
    threads_.emplace_back([this, &report, seed] {
      Read(&report, seed + static_cast<uint64_t>(&report - reports_.data()));
    });
  }
}

void ConcurrentReads::Stop(ModelReport* report) {
  stop_ = true;
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
  if (report == nullptr) return;
  for (const ModelReport& own : reports_) {
    report->operations += own.operations;
    report->seeks += own.seeks;
    report->num_wrong += own.num_wrong;
    if (own.num_wrong > 0)
      report->first_wrong += report->where + ", in a thread " + own.first_wrong;
  }
}

void ConcurrentReads::Read(ModelReport* report, uint64_t seed) {
  Dice dice(seed);
  ModelKeys keys(&dice);
  const std::string latest(8, '\xff');
  const rocksdb::Slice timestamp(latest);
  while (!stop_ && report->num_wrong == 0) {
    rocksdb::ReadOptions unbounded;
    unbounded.total_order_seek = true;
    unbounded.snapshot = db_->GetSnapshot();
    if (timestamps_) unbounded.timestamp = &timestamp;
    for (int i = 0; i < 20; ++i) {
      const auto [begin, end] = keys.Range();
      const rocksdb::Slice bound(end);
      rocksdb::ReadOptions bounded = unbounded;
      bounded.total_order_seek = false;
      bounded.auto_prefix_mode = !plain_reads_;
      bounded.iterate_upper_bound = &bound;
      Rows rows;
      std::unique_ptr<rocksdb::Iterator> iterator(db_->NewIterator(unbounded));
      for (iterator->Seek(begin); iterator->Valid() && iterator->key().compare(bound) < 0;
           iterator->Next()) {
        rows.emplace_back(iterator->key().ToString(), iterator->value().ToString());
      }
      if (!iterator->status().ok()) report->Wrong(iterator->status().ToString());
      iterator.reset(db_->NewIterator(bounded));
      CheckScan(iterator.get(), rows, begin, end, "a scan beside the writer", report);
    }
    db_->ReleaseSnapshot(unbounded.snapshot);
  }
}

}  // namespace blocksieve::testing
