// SPDX-License-Identifier: Apache-2.0
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
void SortBucket(std::span<Posting> bucket, size_t max_scratch, std::vector<Posting>* scratch) {
  constexpr size_t kFew = 64;
  if (bucket.size() <= kFew || std::is_sorted(bucket.begin(), bucket.end(), &Before)) {
    return SortFew(bucket);
  }
  // Sorting by both members is stable without further memory.
  if (bucket.size() > max_scratch) {
    return std::sort(bucket.begin(), bucket.end(), [](const Posting& a, const Posting& b) {
      return a.hash != b.hash ? a.hash < b.hash : a.granule < b.granule;
    });
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

void PostingLog::AddGranule(std::span<const uint64_t> hashes) {
  // Memory first: if it is short, nothing has changed.
  while (chunks_.size() * kChunkHashes < num_hashes_ + hashes.size()) {
    chunks_.push_back(std::unique_ptr<uint64_t[]>(new uint64_t[kChunkHashes]));
  }
  counts_.push_back(static_cast<uint32_t>(hashes.size()));
  while (!hashes.empty()) {
    const size_t at = static_cast<size_t>(num_hashes_) % kChunkHashes;
    const size_t count = std::min(hashes.size(), kChunkHashes - at);
    std::copy_n(hashes.begin(), count,
                chunks_[static_cast<size_t>(num_hashes_) / kChunkHashes].get() + at);
    num_hashes_ += count;
    hashes = hashes.subspan(count);
  }
}

SortedPostings::SortedPostings(PostingLog log)
    : num_granules_(log.num_granules()),
      size_(static_cast<size_t>(log.num_hashes())),
      postings_(new Posting[size_]) {
  PreferHugePages(postings_.get(), size_ * sizeof(Posting));  // filled in random order
  Offsets<kTopBits> offsets{};
  log.ForEach([&](uint64_t hash, uint32_t) { ++offsets[TopOf(hash)]; });
  MakeOffsets<kTopBits>(&offsets);
  log.ForEach([&](uint64_t hash, uint32_t granule) {
    postings_[offsets[TopOf(hash)]++] = {hash, granule};
  });
  log = {};
  // Each offset is now the end of its hashes, which fit the cache.
  constexpr size_t kSmall = 4096;
  const size_t max_scratch = std::max(kSmall, size_ / 16);
  std::vector<Posting> scratch;
  size_t begin = 0;
  for (const size_t end : offsets) {
    SortBucket({postings_.get() + begin, end - begin}, max_scratch, &scratch);
    begin = end;
  }
  const auto same = [](const Posting& a, const Posting& b) {
    return a.hash == b.hash && a.granule == b.granule;
  };
  size_ = static_cast<size_t>(std::unique(postings_.get(), postings_.get() + size_, same) -
                              postings_.get());
}

}  // namespace blocksieve::internal
