#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numbers>
#include <utility>
#include <vector>

#include "lib/granule/granule_list.h"
#include "lib/granule/postings.h"

namespace blocksieve::internal {
namespace {

/// A value of a granule.
struct Posting {
  uint64_t hash = 0;
  uint32_t granule = 0;
};

/// Sorts by hash; equal hashes stay in their order, which is that of granules.
void SortByHash(std::vector<Posting>* postings) {
  const auto by_hash = [](const Posting& a, const Posting& b) { return a.hash < b.hash; };
  constexpr size_t kFew = 4096;
  if (postings->size() < kFew) {
    std::stable_sort(postings->begin(), postings->end(), by_hash);
    return;
  }
  // By the highest 33 bits, digit by digit; then what those leave equal, which is nearly nothing.
  constexpr unsigned kDigitBits = 11;
  constexpr unsigned kFirstShift = 64 - 3 * kDigitBits;
  std::vector<Posting> sorted(postings->size());
  for (unsigned shift = kFirstShift; shift < 64; shift += kDigitBits) {
    const auto digit = [shift](const Posting& posting) {
      return static_cast<size_t>(posting.hash >> shift & ((1u << kDigitBits) - 1));
    };
    std::array<size_t, 1u << kDigitBits> next{};
    for (const Posting& posting : *postings) ++next[digit(posting)];
    size_t sum = 0;
    for (size_t& count : next) sum += std::exchange(count, sum);
    for (const Posting& posting : *postings) sorted[next[digit(posting)]++] = posting;
    postings->swap(sorted);
  }
  for (auto first = postings->begin(); first != postings->end();) {
    auto last = first + 1;
    bool is_sorted = true;
    for (; last != postings->end() && last->hash >> kFirstShift == first->hash >> kFirstShift;
         ++last) {
      is_sorted = is_sorted && (last - 1)->hash <= last->hash;
    }
    if (!is_sorted) std::stable_sort(first, last, by_hash);
    first = last;
  }
}

std::vector<Posting> SortedPostings(const GranuleHashes& values) {
  std::vector<Posting> postings;
  postings.reserve(values.hashes.size());
  auto hash = values.hashes.begin();
  for (size_t granule = 0; granule < values.counts.size(); ++granule) {
    for (uint64_t i = 0; i < values.counts[granule]; ++i) {
      postings.push_back({*hash++, static_cast<uint32_t>(granule)});
    }
  }
  SortByHash(&postings);
  return postings;
}

/// The granules of one value.
using List = std::span<const Posting>;

/// Calls `visit(list)` for each value.
template <class Visit>
void ForEachList(std::span<const Posting> postings, Visit visit) {
  while (!postings.empty()) {
    size_t count = 1;
    while (count < postings.size() && postings[count].hash == postings[0].hash) ++count;
    visit(postings.first(count));
    postings = postings.subspan(count);
  }
}

/// Bits of a remainder, so that an absent value, which meets one of the about 16 of its bucket and
/// then gets its granules, is expected to get no more than the wanted share of all; and no more
/// than a seventh of a granule, since a bit more per value is little where values are in several
/// granules.
uint32_t RemainderBits(double granules_per_value, uint64_t num_granules, double target_fpr) {
  const double most =
      std::min(0.15, target_fpr * static_cast<double>(std::max<uint64_t>(1, num_granules)));
  const double bits = PostingsShape::kBucketBits + std::ceil(std::log2(granules_per_value / most));
  return static_cast<uint32_t>(std::clamp(bits, double{PostingsShape::kMinRemainderBits},
                                          double{PostingsShape::kMaxRemainderBits}));
}

/// Natural, by Stirling's series. (std::lgamma writes a global variable.)
double LogOfFactorial(double n) {
  return n == 0 ? 0 : n * std::log(n) - n + std::log(2 * std::numbers::pi * n) / 2 + 1 / (12 * n);
}

/// The bits of a list of k granules of n that cannot be avoided: how many such lists there are.
double ListBits(double n, double k) {
  return (LogOfFactorial(n) - LogOfFactorial(k) - LogOfFactorial(n - k)) * std::numbers::log2e;
}

class PostingsWriter {
 public:
  PostingsWriter(std::span<const Posting> postings, uint64_t num_granules, double target_fpr) {
    std::array<uint64_t, 65> by_width{};  // lists whose number of granules has so many bits
    ForEachList(postings, [&](List list) {
      ++num_values_;
      ++by_width[static_cast<size_t>(std::bit_width(list.size()))];
    });
    shape_.num_granules = num_granules;
    shape_.num_buckets = std::max<uint64_t>(1, num_values_ / PostingsShape::kValuesPerBucket);
    shape_.remainder_bits =
        RemainderBits(static_cast<double>(postings.size()) /
                          static_cast<double>(std::max<uint64_t>(1, num_values_)),
                      num_granules, target_fpr);
    uint64_t least_bits = ~uint64_t{0};
    for (uint32_t k = 0; k <= PostingsShape::kMaxCountBits; ++k) {
      uint64_t bits = 0;
      for (size_t width = 1; width < by_width.size(); ++width) {
        bits += by_width[width] * ExpGolombBits((uint64_t{1} << (width - 1)) - 1, k);
      }
      if (bits < least_bits) {
        least_bits = bits;
        shape_.count_bits = k;
      }
    }
  }

  /// False if it takes `max_bytes` or more, or no seed keeps the values of a bucket apart.
  bool Append(std::span<const Posting> postings, uint64_t max_bytes, std::string* out) {
    std::vector<uint64_t> offsets;
    offsets.reserve(static_cast<size_t>(shape_.num_buckets));
    std::vector<List> bucket;
    const auto append_up_to = [&](uint64_t end) {
      while (offsets.size() < end) {
        offsets.push_back(stream_.num_bits());
        AppendBucket(&bucket);
        bucket.clear();
      }
    };
    ForEachList(postings, [&](List list) {
      if (!is_possible_ || stream_.num_bits() / 8 >= max_bytes) return;
      append_up_to(shape_.BucketOf(list[0].hash));
      bucket.push_back(list);
    });
    append_up_to(shape_.num_buckets);
    if (!is_possible_) return false;
    std::string head;
    head.push_back(static_cast<char>(shape_.remainder_bits));
    head.push_back(static_cast<char>(shape_.count_bits));
    AppendVarint(&head, shape_.num_buckets);
    PackedInts::Append(offsets, &head);
    const std::string stream = std::move(stream_).Finish();
    if (head.size() + stream.size() >= max_bytes) return false;
    *out += head;
    *out += stream;
    return true;
  }

 private:
  void AppendBucket(std::vector<List>* bucket) {
    stream_.ExpGolomb(bucket->size(), PostingsShape::kBucketBits);
    if (bucket->empty() || !is_possible_) return;
    stream_.ExpGolomb(ChooseSeed(bucket), 0);
    uint64_t next = 0;
    for (const auto& [remainder, list] : by_remainder_) {
      stream_.Rice(remainder - next, shape_.gap_bits());
      next = remainder + 1;
    }
    for (const auto& [remainder, list] : by_remainder_) AppendList(list);
  }

  /// Fills by_remainder_, with distinct remainders.
  uint64_t ChooseSeed(std::vector<List>* bucket) {
    constexpr uint64_t kMaxSeed = 4096;
    for (uint64_t seed = 0; seed < kMaxSeed; ++seed) {
      by_remainder_.clear();
      for (const List& list : *bucket) {
        by_remainder_.emplace_back(shape_.RemainderOf(list[0].hash, seed), list);
      }
      const auto before = [](const auto& a, const auto& b) { return a.first < b.first; };
      const auto equal = [](const auto& a, const auto& b) { return a.first == b.first; };
      std::sort(by_remainder_.begin(), by_remainder_.end(), before);
      if (std::adjacent_find(by_remainder_.begin(), by_remainder_.end(), equal) ==
          by_remainder_.end()) {
        return seed;
      }
    }
    is_possible_ = false;
    return 0;
  }

  void AppendList(List list) {
    stream_.ExpGolomb(list.size() - 1, shape_.count_bits);
    granules_.clear();
    for (const Posting& posting : list) granules_.push_back(posting.granule);
    if (granules_.size() < PostingsShape::kLongList) {
      return AppendGranules(granules_, shape_.num_granules, &stream_);
    }
    BitWriter interpolative;
    AppendGranules(granules_, shape_.num_granules, &interpolative);
    const uint64_t bits = interpolative.num_bits();
    // A bitmap is read many times as fast.
    const bool is_bitmap = bits + bits / 8 >= shape_.num_granules;
    stream_.Bits(is_bitmap, 1);
    if (is_bitmap) return AppendBitmap();
    stream_.ExpGolomb(bits, PostingsShape::kLengthBits);
    stream_.Append(std::move(interpolative));
  }

  void AppendBitmap() {
    auto granule = granules_.begin();
    for (uint64_t first = 0; first < shape_.num_granules; first += 32) {
      const uint64_t end = std::min(first + 32, shape_.num_granules);
      uint64_t word = 0;
      for (; granule != granules_.end() && *granule < end; ++granule) {
        word |= uint64_t{1} << (*granule - first);
      }
      stream_.Bits(word, static_cast<unsigned>(end - first));
    }
  }

  PostingsShape shape_;
  uint64_t num_values_ = 0;
  bool is_possible_ = true;
  BitWriter stream_;
  std::vector<std::pair<uint64_t, List>> by_remainder_;
  std::vector<uint32_t> granules_;
};

}  // namespace

double EstimatePostingsBytes(const GranuleHashes& values, double target_fpr) {
  constexpr size_t kManyHashes = 1 << 16;
  const uint64_t mask = values.hashes.size() < kManyHashes ? 0 : 15;
  std::vector<uint64_t> sample;
  for (const uint64_t hash : values.hashes) {
    if ((hash & mask) == 0) sample.push_back(hash);
  }
  std::sort(sample.begin(), sample.end());
  const uint64_t num_granules = values.counts.size();
  double num_values = 0;
  double list_bits = 0;
  for (size_t first = 0, last = 0; first < sample.size(); first = last) {
    while (last < sample.size() && sample[last] == sample[first]) ++last;
    ++num_values;
    const auto count = static_cast<double>(last - first);
    list_bits += ListBits(static_cast<double>(num_granules), count);
  }
  if (num_values == 0) return 0;
  const uint32_t remainder_bits =
      RemainderBits(static_cast<double>(sample.size()) / num_values, num_granules, target_fpr);
  // Codes of gaps and counts, and the offsets of buckets, add about four bits a value.
  const double value_bits = remainder_bits - PostingsShape::kBucketBits + 4;
  return (list_bits + num_values * value_bits) * static_cast<double>(mask + 1) / 8;
}

bool AppendPostings(const GranuleHashes& values, double target_fpr, uint64_t max_bytes,
                    std::string* out) {
  const uint64_t num_granules = values.counts.size();
  if (num_granules > kMaxListedGranules) return false;
  const std::vector<Posting> postings = SortedPostings(values);
  PostingsWriter writer(postings, num_granules, target_fpr);
  return writer.Append(postings, max_bytes, out);
}

}  // namespace blocksieve::internal
