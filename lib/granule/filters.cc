#include "lib/granule/filters.h"

#include <algorithm>
#include <array>

#include "lib/base/coding.h"

namespace blocksieve::internal {

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

void GranuleFilters::KeepContainingAny(std::span<const uint64_t> hashes, GranuleSet* candidates,
                                       Kernel kernel) const {
  const std::span<uint64_t> words = candidates->words();
  if (classes_.size() == 1) return classes_.front().KeepContainingAny(hashes, words, kernel);

  // The results of each class, one after the other; those of most indexes fit the array.
  size_t total = 0;
  for (size_t c = 0; c < classes_.size(); ++c) total += tree_.class_words(c);
  std::array<uint64_t, 512> few;
  std::vector<uint64_t> many;
  uint64_t* next = few.data();
  if (total > few.size()) {
    many.resize(total);
    next = many.data();
  }
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
    classes_[c].KeepContainingAny(hashes, {results[c], num_words}, kernel);
  }
  tree_.KeepMerged(std::span(results).first(classes_.size()), words, kernel);
}

}  // namespace blocksieve::internal
