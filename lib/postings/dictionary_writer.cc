// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cmath>
#include <utility>
#include <vector>

#include "lib/postings/dictionary.h"

namespace blocksieve::internal {
namespace {

/// The parameter, from 0 to `highest`, with the fewest bits.
template <class BitsOf>
uint32_t BestParameter(uint32_t highest, const BitsOf& bits_of) {
  uint32_t best = 0;
  uint64_t min_bits = ~uint64_t{0};
  for (uint32_t parameter = 0; parameter <= highest; ++parameter) {
    const uint64_t bits = bits_of(parameter);
    if (bits < min_bits) {
      min_bits = bits;
      best = parameter;
    }
  }
  return best;
}

/// The best parameter of the code of list lengths.
uint32_t CountBits(std::span<const PostingList> lists, uint32_t min_count) {
  std::array<uint64_t, 65> by_width{};  // lists by bit width of the coded length
  for (const PostingList& list : lists) {
    ++by_width[static_cast<size_t>(std::bit_width(list.size() - min_count))];
  }
  return BestParameter(DictionaryShape::kMaxCountBits, [&](uint32_t k) {
    uint64_t bits = 0;
    for (size_t width = 0; width < by_width.size(); ++width) {
      bits += by_width[width] * ExpGolombBits(width == 0 ? 0 : uint64_t{1} << (width - 1), k);
    }
    return bits;
  });
}

/// The best closeness for a sample of the short lists.
uint32_t Closeness(std::span<const PostingList> lists, uint64_t num_granules) {
  constexpr size_t kMaxLists = 4096;
  const size_t step = lists.size() / kMaxLists + 1;
  return BestParameter(DictionaryShape::kMaxCloseness, [&](uint32_t closeness) {
    const GranuleLists coder(num_granules, closeness);
    uint64_t bits = 0;
    for (size_t i = 0; i < lists.size(); i += step) {
      const PostingList& list = lists[i];
      if (list.size() >= GranuleLists::kLongList) continue;
      for (size_t g = 1; g < list.size(); ++g) {
        bits +=
            ExpGolombBits(list[g].granule - list[g - 1].granule - 1, coder.gap_bits(list.size()));
      }
    }
    return bits;
  });
}

class DictionaryWriter {
 public:
  explicit DictionaryWriter(const DictionaryShape& shape)
      : shape_(shape), lists_(shape.num_granules, shape.closeness) {}

  /// False if the remainders of a bucket cannot be made distinct.
  bool Append(std::span<const PostingList> lists, std::string* out) {
    std::vector<uint64_t> starts;
    starts.reserve(static_cast<size_t>(shape_.num_buckets));
    size_t first = 0;
    for (uint64_t bucket = 0; bucket < shape_.num_buckets; ++bucket) {
      size_t last = first;
      while (last < lists.size() && shape_.BucketOf(lists[last][0].hash) == bucket) ++last;
      starts.push_back(stream_.num_bits());
      if (!AppendBucket(lists.subspan(first, last - first))) return false;
      first = last;
    }
    assert(first == lists.size());
    out->push_back(static_cast<char>(shape_.remainder_bits));
    out->push_back(static_cast<char>(shape_.count_bits));
    out->push_back(static_cast<char>(shape_.closeness));
    AppendVarint(out, shape_.num_buckets);
    AppendOffsets(&starts, out);
    *out += std::move(stream_).Finish();
    return true;
  }

 private:
  bool AppendBucket(std::span<const PostingList> lists) {
    uint64_t seed = 0;
    if (lists.size() > DictionaryShape::kMaxBucketValues || !ChooseSeed(lists, &seed)) return false;
    stream_.ExpGolomb(seed, 0);
    auto next = by_remainder_.begin();
    for (uint64_t top = 0; top < 1u << DictionaryShape::kBucketBits; ++top) {
      uint64_t ones = 0;
      for (; next != by_remainder_.end() && next->first >> shape_.low_bits() == top; ++next) ++ones;
      stream_.Bits(LowBits(static_cast<unsigned>(ones)), static_cast<unsigned>(ones) + 1);
    }
    for (const auto& [remainder, list] : by_remainder_) {
      stream_.Bits(remainder & LowBits(shape_.low_bits()), shape_.low_bits());
    }
    for (const auto& [remainder, list] : by_remainder_) {
      stream_.ExpGolomb(list->size() - shape_.min_count, shape_.count_bits);
      granules_.clear();
      for (const Posting& posting : *list) granules_.push_back(posting.granule);
      lists_.Append(granules_, &stream_);
    }
    return true;
  }

  /// Fills by_remainder_ with distinct remainders.
  bool ChooseSeed(std::span<const PostingList> lists, uint64_t* seed) {
    constexpr uint64_t kMaxSeed = 4096;
    for (*seed = 0; *seed < kMaxSeed; ++*seed) {
      by_remainder_.clear();
      for (const PostingList& list : lists) {
        by_remainder_.emplace_back(shape_.RemainderOf(list[0].hash, *seed), &list);
      }
      const auto before = [](const auto& a, const auto& b) { return a.first < b.first; };
      const auto equal = [](const auto& a, const auto& b) { return a.first == b.first; };
      std::sort(by_remainder_.begin(), by_remainder_.end(), before);
      if (std::adjacent_find(by_remainder_.begin(), by_remainder_.end(), equal) ==
          by_remainder_.end()) {
        return true;
      }
    }
    return false;
  }

  /// Starts grow nearly evenly, so the differences from equal distances take few bits.
  void AppendOffsets(std::vector<uint64_t>* starts, std::string* out) const {
    const uint64_t distance = stream_.num_bits() / shape_.num_buckets;
    uint64_t ahead = 0;
    for (size_t i = 0; i < starts->size(); ++i) {
      if (i * distance > (*starts)[i]) ahead = std::max(ahead, i * distance - (*starts)[i]);
    }
    for (size_t i = 0; i < starts->size(); ++i) (*starts)[i] += ahead - i * distance;
    AppendVarint(out, distance);
    AppendVarint(out, ahead);
    PackedInts::Append(*starts, out);
  }

  DictionaryShape shape_;
  GranuleLists lists_;
  BitWriter stream_;
  std::vector<std::pair<uint64_t, const PostingList*>> by_remainder_;
  std::vector<uint32_t> granules_;
};

}  // namespace

uint32_t RemainderBits(double granules_per_value, double max_granules) noexcept {
  // The hash is compared with about 16 remainders in its bucket.
  const double bits =
      DictionaryShape::kBucketBits + std::ceil(std::log2(granules_per_value / max_granules));
  return static_cast<uint32_t>(std::clamp(bits, double{DictionaryShape::kMinRemainderBits},
                                          double{DictionaryShape::kMaxRemainderBits}));
}

bool AppendDictionary(std::span<const PostingList> lists, uint64_t num_granules, uint32_t min_count,
                      uint32_t remainder_bits, std::string* out) {
  // Random hashes need one attempt. Chosen ones may fill a bucket, or be alike.
  constexpr int kMaxAttempts = 4;
  DictionaryShape shape;
  shape.num_granules = num_granules;
  shape.num_buckets = std::max<uint64_t>(1, lists.size() / DictionaryShape::kValuesPerBucket);
  shape.remainder_bits = remainder_bits;
  shape.count_bits = CountBits(lists, min_count);
  shape.closeness = Closeness(lists, num_granules);
  shape.min_count = min_count;
  for (int attempt = 0; attempt < kMaxAttempts; ++attempt) {
    if (DictionaryWriter(shape).Append(lists, out)) return true;
    shape.num_buckets *= 2;
    shape.remainder_bits = std::min(shape.remainder_bits + 2, DictionaryShape::kMaxRemainderBits);
  }
  return false;
}

}  // namespace blocksieve::internal
