#include "tests/rocksdb/model/broken_filters.h"

#include <string>
#include <string_view>
#include <utility>

#include "blocksieve/filter_reader.h"
#include "blocksieve/range_filter.h"
#include "integration/rocksdb/compat/filter_bits_abi.h"

namespace blocksieve::testing {
namespace {

std::string_view AsView(const rocksdb::Slice& slice) { return {slice.data(), slice.size()}; }

// A key that the extractor was given: where it was, and a copy, because it may be gone once it is
// asked for out of turn.
struct Key {
  const char* place = nullptr;
  std::string text;
};
struct Transformed {
  Key last;
  Key before_last;
};
thread_local Transformed transformed;

class Extractor final : public rocksdb::SliceTransform {
 public:
  // Files of both can then be read with either, and the policy takes it for ours.
  const char* Name() const override { return "blocksieve.range"; }
  rocksdb::Slice Transform(const rocksdb::Slice& key) const override {
    transformed = {{key.data(), key.ToString()}, std::move(transformed.last)};
    return {key.data(), 0};
  }
  bool InDomain(const rocksdb::Slice&) const override { return true; }
  bool SameResultWhenAppended(const rocksdb::Slice&) const override { return true; }
};

class Reader final : public rocksdb::FilterBitsReader {
 public:
  Reader(RangeRule without, ByteView block)
      : without_(without),
        points_(FilterReader::Open(block)),
        ranges_(RangeFilterReader::Open(block)) {}

  bool MayMatch(const rocksdb::Slice& entry) override {
    return entry.empty() ? MayMatchRange(entry) : points_.MayMatch(AsView(entry));
  }
  void MayMatch(int num_keys, rocksdb::Slice** keys, bool* may_match) override {
    for (int i = 0; i < num_keys; ++i) may_match[i] = points_.MayMatch(AsView(*keys[i]));
  }

 private:
  bool MayMatchRange(const rocksdb::Slice& prefix) {
    const Transformed taken = std::exchange(transformed, {});
    const Key& begin = taken.before_last;
    const Key& end = taken.last;
    if (begin.place == nullptr) return true;
    const bool is_pair = begin.place == prefix.data() && end.place != prefix.data();
    if (!is_pair && without_ != RangeRule::kPairing) return true;
    if (begin.text.empty() && without_ != RangeRule::kEmptyBegin) return true;
    switch (ranges_.Ask(begin.text, end.text)) {
      case RangeFilterReader::Answer::kNo:
        return false;
      case RangeFilterReader::Answer::kBeyond:
        return without_ != RangeRule::kPartitions;
      case RangeFilterReader::Answer::kMayMatch:
        break;
    }
    return true;
  }

  const RangeRule without_;
  const FilterReader points_;
  const RangeFilterReader ranges_;
};

class Policy final : public rocksdb::FilterPolicy {
 public:
  explicit Policy(RangeRule without) : without_(without), ours_(RangeFilters::Ours().policy) {}

  const char* Name() const override { return "blocksieve.test.broken"; }
  const char* CompatibilityName() const override { return ours_->CompatibilityName(); }
  rocksdb::FilterBitsBuilder* GetBuilderWithContext(
      const rocksdb::FilterBuildingContext& context) const override {
    return ours_->GetBuilderWithContext(context);
  }
  rocksdb::FilterBitsReader* GetFilterBitsReader(const rocksdb::Slice& contents) const override {
    const ByteView block = AsBytes(AsView(contents));
    if (!RangeFilterReader::Open(block).is_ready()) return ours_->GetFilterBitsReader(contents);
    return new Reader(without_, block);
  }

 private:
  const RangeRule without_;
  const std::shared_ptr<const rocksdb::FilterPolicy> ours_;
};

}  // namespace

RangeFilters FiltersWithout(RangeRule rule) {
  return {std::make_shared<Policy>(rule), std::make_shared<Extractor>()};
}

}  // namespace blocksieve::testing
