#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace blocksieve::internal {

/// The hashes of the values of all granules, in the order of the granules; those of a granule may
/// repeat. Grows in chunks, so that
/// it never takes more than 8 bytes per hash and 4 KiB. Functions throw std::bad_alloc.
class PostingLog {
 public:
  /// Appends the hashes of the next granule.
  void AddGranule(std::span<const uint64_t> hashes);

  uint64_t num_hashes() const noexcept { return num_hashes_; }
  uint64_t num_granules() const noexcept { return counts_.size(); }
  uint64_t memory_bytes() const noexcept {
    return (chunks_.size() * kChunkHashes + chunks_.capacity()) * sizeof(uint64_t) +
           counts_.capacity() * sizeof(uint32_t);
  }

  /// Calls visit(hash, granule) for each hash.
  template <class Visit>
  void ForEach(Visit visit) const {
    size_t at = 0;
    for (size_t granule = 0; granule < counts_.size(); ++granule) {
      for (uint32_t i = 0; i < counts_[granule]; ++i, ++at) {
        visit(chunks_[at / kChunkHashes][at % kChunkHashes], static_cast<uint32_t>(granule));
      }
    }
  }

 private:
  static constexpr size_t kChunkHashes = 512;  // an index may have 256 columns

  std::vector<std::unique_ptr<uint64_t[]>> chunks_;
  std::vector<uint32_t> counts_;  // hashes of each granule
  uint64_t num_hashes_ = 0;
};

/// The hash of a value, and a granule that has it.
struct Posting {
  uint64_t hash;
  uint32_t granule;
};

/// The granules of one value, ascending; all hashes are equal.
using PostingList = std::span<const Posting>;

/// All postings of a column, each once, sorted by hash, then by granule.
class SortedPostings {
 public:
  /// Memory: 16 bytes per hash while the log is read, which is then destroyed, and up to 16 bytes
  /// for a sixteenth of the hashes while sorting. Throws std::bad_alloc.
  explicit SortedPostings(PostingLog log);

  std::span<const Posting> all() const noexcept { return {postings_.get(), size_}; }
  uint64_t num_granules() const noexcept { return num_granules_; }

 private:
  uint64_t num_granules_;
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
