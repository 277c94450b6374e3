#pragma once

#include <cstdint>
#include <memory>
#include <span>

namespace blocksieve::internal {

/// Hashes of the values of all granules: counts[0] hashes of granule 0, counts[1] of granule 1, ...
struct GranuleHashes {
  std::span<const uint64_t> hashes;
  std::span<const uint64_t> counts;
};

/// The hash of a value, and a granule that has it.
struct Posting {
  uint64_t hash;
  uint32_t granule;
};

/// The granules of one value, ascending; all hashes are equal.
using PostingList = std::span<const Posting>;

/// All postings of a column, sorted by hash, then by granule.
class SortedPostings {
 public:
  /// Memory: 16 bytes per hash, and temporarily as much again if few values have most granules.
  /// Throws std::bad_alloc.
  explicit SortedPostings(const GranuleHashes& values);

  std::span<const Posting> all() const noexcept { return {postings_.get(), size_}; }

 private:
  size_t size_;
  std::unique_ptr<Posting[]> postings_;
};

/// Calls `visit(list)` for each value of sorted postings.
template <class Visit>
void ForEachList(std::span<const Posting> postings, Visit visit) {
  while (!postings.empty()) {
    const uint64_t hash = postings.front().hash;
    size_t count = 1;
    while (count < postings.size() && postings[count].hash == hash) ++count;
    visit(PostingList(postings.first(count)));
    postings = postings.subspan(count);
  }
}

}  // namespace blocksieve::internal
