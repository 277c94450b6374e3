#include "lib/postings/posting.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "lib/base/block_memory.h"

namespace blocksieve::internal {
namespace {

// Radix sort by the highest bits of a hash, and by two digits below them.
constexpr unsigned kTopBits = 11;
constexpr unsigned kDigitBits = 8;
constexpr unsigned kSecondShift = 64 - kTopBits - kDigitBits;
constexpr unsigned kThirdShift = kSecondShift - kDigitBits;

size_t TopOf(const uint64_t hash) noexcept { return static_cast<size_t>(hash >> (64 - kTopBits)); }

template <unsigned kShift>
size_t DigitOf(const Posting& posting) noexcept {
  return static_cast<size_t>(posting.hash >> kShift & ((1u << kDigitBits) - 1));
}

/// Number of hashes with each value of a digit; then the offset of the next one.
template <unsigned kBits>
using Offsets = std::array<size_t, size_t{1} << kBits>;

template <unsigned kBits>
void MakeOffsets(Offsets<kBits>* counts) noexcept {
  size_t sum = 0;
  for (size_t& count : *counts) sum += std::exchange(count, sum);
}

bool Before(const Posting& a, const Posting& b) noexcept { return a.hash < b.hash; }

/// Stable; fast for few or sorted postings.
void SortFew(std::span<Posting> few) {
  constexpr size_t kInserted = 32;
  if (std::is_sorted(few.begin(), few.end(), &Before)) return;
  if (few.size() > kInserted) return std::stable_sort(few.begin(), few.end(), &Before);
  for (size_t i = 1; i < few.size(); ++i) {
    const Posting posting = few[i];
    size_t to = i;
    for (; to > 0 && posting.hash < few[to - 1].hash; --to) few[to] = few[to - 1];
    few[to] = posting;
  }
}

/// Sorts postings with equal highest bits: by two further digits, which are nearly distinct, then
/// the postings with equal digits. Stable.
void SortBucket(std::span<Posting> bucket, std::vector<Posting>* scratch) {
  constexpr size_t kFew = 64;
  if (bucket.size() <= kFew || std::is_sorted(bucket.begin(), bucket.end(), &Before)) {
    return SortFew(bucket);
  }
  Offsets<kDigitBits> second{};
  Offsets<kDigitBits> third{};
  for (const Posting& posting : bucket) {
    ++second[DigitOf<kSecondShift>(posting)];
    ++third[DigitOf<kThirdShift>(posting)];
  }
  MakeOffsets<kDigitBits>(&second);
  MakeOffsets<kDigitBits>(&third);
  if (scratch->size() < bucket.size()) scratch->resize(bucket.size());
  for (const Posting& posting : bucket)
    (*scratch)[third[DigitOf<kThirdShift>(posting)]++] = posting;
  for (const Posting& posting : std::span(*scratch).first(bucket.size())) {
    bucket[second[DigitOf<kSecondShift>(posting)]++] = posting;
  }
  for (size_t first = 0, last = 0; first < bucket.size(); first = last) {
    const uint64_t digits = bucket[first].hash >> kThirdShift;
    while (last < bucket.size() && bucket[last].hash >> kThirdShift == digits) ++last;
    SortFew(bucket.subspan(first, last - first));
  }
}

}  // namespace

SortedPostings::SortedPostings(const GranuleHashes& values)
    : size_(values.hashes.size()),
      postings_(std::make_unique_for_overwrite<Posting[]>(values.hashes.size())) {
  PreferHugePages(postings_.get(), size_ * sizeof(Posting));  // filled in random order
  Offsets<kTopBits> offsets{};
  for (const uint64_t hash : values.hashes) ++offsets[TopOf(hash)];
  MakeOffsets<kTopBits>(&offsets);
  auto next = values.hashes.begin();
  for (size_t granule = 0; granule < values.counts.size(); ++granule) {
    for (uint64_t i = 0; i < values.counts[granule]; ++i, ++next) {
      postings_[offsets[TopOf(*next)]++] = {*next, static_cast<uint32_t>(granule)};
    }
  }
  // Each offset is now the end of its hashes, which fit the cache.
  std::vector<Posting> scratch;
  size_t begin = 0;
  for (const size_t end : offsets) {
    SortBucket({postings_.get() + begin, end - begin}, &scratch);
    begin = end;
  }
}

}  // namespace blocksieve::internal
