#include "lib/granule/filters.h"

#include <algorithm>
#include <array>
#include <cassert>

#include "lib/base/coding.h"

namespace blocksieve::internal {
namespace {

// Filters are filled in stripes of 64, one word per row, and then copied to the rows of the matrix.
// A stripe of the usual size stays in the L1 cache; filling the matrix in place would miss it with
// every bit. Filters with more rows than this are filled in place.
constexpr uint64_t kMaxStripeRows = 1 << 17;

/// Hashes of the values in one filter.
using Hashes = std::span<const uint64_t>;

/// ORs `word` into `bytes` at bit offset `bit`.
void OrBits64(uint64_t word, uint64_t bit, uint8_t* bytes) noexcept {
  uint8_t* to = bytes + bit / 8;
  for (auto rest = static_cast<unsigned __int128>(word) << (bit % 8); rest != 0; rest >>= 8) {
    *to++ |= static_cast<uint8_t>(rest);
  }
}

void FillInPlace(std::span<const Hashes> filters, const SizeClass& size_class, uint32_t num_probes,
                 uint8_t* bytes) {
  const uint64_t stride = BitSlices::StrideBits(filters.size());
  for (size_t f = 0; f < filters.size(); ++f) {
    for (const uint64_t hash : filters[f]) {
      Positions positions(hash, size_class.num_bits);
      for (uint32_t j = 0; j < num_probes; ++j) {
        const uint64_t bit = positions.Next() * stride + f;
        bytes[bit / 8] |= static_cast<uint8_t>(1 << (bit % 8));
      }
    }
  }
}

void FillStripes(std::span<const Hashes> filters, const SizeClass& size_class, uint32_t num_probes,
                 uint8_t* bytes) {
  const uint64_t stride = BitSlices::StrideBits(filters.size());
  std::vector<uint64_t> stripe(static_cast<size_t>(size_class.num_bits));
  for (size_t start = 0; start < filters.size(); start += 64) {
    std::fill(stripe.begin(), stripe.end(), 0);
    const size_t end = std::min(filters.size(), start + 64);
    for (size_t f = start; f < end; ++f) {
      const uint64_t bit = uint64_t{1} << (f - start);
      for (const uint64_t hash : filters[f]) {
        Positions positions(hash, size_class.num_bits);
        for (uint32_t j = 0; j < num_probes; ++j) {
          stripe[static_cast<size_t>(positions.Next())] |= bit;
        }
      }
    }
    const bool whole_words = stride % 8 == 0 && end - start == 64;
    for (size_t row = 0; row < stripe.size(); ++row) {
      const uint64_t bit = row * stride + start;
      if (whole_words) {
        StoreLittleEndian(bytes + bit / 8, stripe[row]);
      } else {
        OrBits64(stripe[row], bit, bytes);
      }
    }
  }
}

uint8_t ClassOf(uint64_t count, std::span<const SizeClass> classes) noexcept {
  uint8_t c = 0;
  while (classes[c].max_values < count) ++c;
  assert(c < classes.size());
  return c;
}

}  // namespace

uint64_t FilterBytes(std::span<const SizeClass> classes) {
  uint64_t bytes = (ClassMapBits(classes) + 7) / 8;
  for (const SizeClass& size_class : classes) {
    bytes += BitSlices::NumBytes(size_class.num_bits, size_class.num_granules);
  }
  return bytes;
}

void AppendFilters(const GranuleHashes& values, std::span<const SizeClass> classes,
                   uint32_t num_probes, std::string* out) {
  assert(!classes.empty());
  std::vector<uint8_t> class_of;
  class_of.reserve(values.counts.size());
  for (const uint64_t count : values.counts) class_of.push_back(ClassOf(count, classes));
  ClassTree::Append(classes, class_of, out);

  std::vector<std::vector<Hashes>> filters(classes.size());
  for (size_t c = 0; c < classes.size(); ++c) {
    filters[c].reserve(static_cast<size_t>(classes[c].num_granules));
  }
  size_t next = 0;
  for (size_t granule = 0; granule < class_of.size(); ++granule) {
    const auto size = static_cast<size_t>(values.counts[granule]);
    filters[class_of[granule]].push_back(values.hashes.subspan(next, size));
    next += size;
  }
  for (size_t c = 0; c < classes.size(); ++c) {
    const SizeClass& size_class = classes[c];
    const size_t start = out->size();
    out->resize(start + static_cast<size_t>(
                            BitSlices::NumBytes(size_class.num_bits, size_class.num_granules)));
    uint8_t* bytes = reinterpret_cast<uint8_t*>(out->data()) + start;
    if (size_class.num_bits <= kMaxStripeRows) {
      FillStripes(filters[c], size_class, num_probes, bytes);
    } else {
      FillInPlace(filters[c], size_class, num_probes, bytes);
    }
  }
}

bool GranuleFilters::Open(ByteView bytes, std::span<const SizeClass> classes, uint32_t num_probes,
                          uint64_t num_granules) {
  Decoder decoder(bytes);
  if (!tree_.Read(classes, num_granules, &decoder)) return false;
  for (const SizeClass& size_class : classes) {
    BitSlices slices;
    slices.num_rows = size_class.num_bits;
    slices.num_filters = size_class.num_granules;
    slices.num_probes = num_probes;
    slices.bytes = decoder.Bytes(BitSlices::NumBytes(slices.num_rows, slices.num_filters));
    classes_.push_back(slices);
  }
  return decoder.ok() && decoder.rest().empty();
}

uint64_t GranuleFilters::probe_bytes() const noexcept {
  uint64_t bytes = tree_.map_bytes();
  for (const BitSlices& slices : classes_) {
    if (slices.num_rows != 0) bytes += slices.num_probes * ((slices.num_filters + 7) / 8);
  }
  return bytes;
}

void GranuleFilters::PruneByAny(std::span<const uint64_t> hashes, GranuleSet* candidates,
                                Kernel kernel) const {
  const std::span<uint64_t> words = candidates->words();
  if (classes_.size() == 1) return classes_.front().PruneByAny(hashes, words, kernel);

  // The results of the classes, concatenated.
  size_t total = 0;
  for (size_t c = 0; c < classes_.size(); ++c) total += tree_.class_words(c);
  ScratchWords scratch(total);
  uint64_t* next = scratch.data();
  std::array<uint64_t*, kMaxSizeClasses> results;
  for (size_t c = 0; c < classes_.size(); ++c) {
    const auto num_filters = static_cast<size_t>(classes_[c].num_filters);
    const size_t num_words = (num_filters + 63) / 64;
    results[c] = next;
    next += tree_.class_words(c);
    std::fill(results[c], next, 0);
    std::fill_n(results[c], num_filters / 64, ~uint64_t{0});
    if (num_filters % 64 != 0) {
      results[c][num_filters / 64] = (uint64_t{1} << (num_filters % 64)) - 1;
    }
    classes_[c].PruneByAny(hashes, {results[c], num_words}, kernel);
  }
  tree_.PruneByResults(std::span(results).first(classes_.size()), words, kernel);
}

}  // namespace blocksieve::internal
