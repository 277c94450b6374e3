// SPDX-License-Identifier: Apache-2.0
#include "bench/ranges/segment_bounds.h"

#include <functional>
#include <type_traits>

#include "bench/ranges/datasets.h"
#include "bench/support/database.h"
#include "bench/support/terminal.h"

#if ROCKSDB_MAJOR >= 9
#include <rocksdb/experimental.h>
#endif

namespace blocksieve::bench::ranges {

#if ROCKSDB_MAJOR >= 9

namespace {

using rocksdb::experimental::KeySegmentsExtractor;
using rocksdb::experimental::SstQueryFilterConfigsManager;

constexpr uint16_t kMaxSegments = 8;

class Segments final : public KeySegmentsExtractor {
 public:
  explicit Segments(const std::string& prefixes) : prefixes_(prefixes) {}

  const char* Name() const override { return "benchmark.segments"; }
  void Extract(const rocksdb::Slice& key, KeyKind, Result* result) const override {
    const std::vector<size_t> ends = BoundariesOf(prefixes_, key.ToStringView());
    result->segment_ends.assign(ends.begin(), ends.end());
    // The upper bound of the range below a prefix ends within what would be its last segment.
    result->segment_ends.push_back(static_cast<uint32_t>(key.size()));
  }

 private:
  const std::string prefixes_;
};

}  // namespace

std::shared_ptr<rocksdb::TablePropertiesCollectorFactory> NewSegmentBounds(
    const std::string& prefixes) {
  rocksdb::experimental::SstQueryFilterConfigs configs;
  configs.extractor = std::make_shared<Segments>(prefixes);
  for (uint16_t i = 0; i < kMaxSegments; ++i) {
    configs.filters.push_back(rocksdb::experimental::MakeSharedBytewiseMinMaxSQFC(
        rocksdb::experimental::SelectKeySegment(i)));
  }
  std::shared_ptr<SstQueryFilterConfigsManager> manager;
  std::shared_ptr<SstQueryFilterConfigsManager::Factory> factory;
  CheckOk(SstQueryFilterConfigsManager::MakeShared({{1, {{"segments", configs}}}}, &manager),
          "SstQueryFilterConfigsManager");
  CheckOk(manager->MakeSharedFactory("segments", 1, &factory), "SstQueryFilterConfigs");
  return factory;
}

void SkipFiles(const rocksdb::TablePropertiesCollectorFactory& bounds, const Range& range,
               rocksdb::ReadOptions* read) {
  // The filter of this thread's next seek: ReadOptions have a pointer to it since 11.9.
  thread_local std::function<bool(const rocksdb::TableProperties&)> filter;
  filter =
      static_cast<const SstQueryFilterConfigsManager::Factory&>(bounds).GetTableFilterForRangeQuery(
          range.begin, range.end);
  const auto set = [](auto* options) {
    if constexpr (std::is_pointer_v<decltype(options->table_filter)>) {
      options->table_filter = &filter;
    } else {
      options->table_filter = filter;
    }
  };
  set(read);
}

#else

std::shared_ptr<rocksdb::TablePropertiesCollectorFactory> NewSegmentBounds(const std::string&) {
  Fail("this RocksDB has no SstQueryFilterConfigs");
}

void SkipFiles(const rocksdb::TablePropertiesCollectorFactory&, const Range&,
               rocksdb::ReadOptions*) {}

#endif

}  // namespace blocksieve::bench::ranges
