#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace blocksieve::sieve {

/// Counts of a shard, written together with what they count.
struct ShardRecord {
  uint64_t seen = 0;       ///< URLs in it.
  uint64_t enqueued = 0;   ///< URLs that it put into the queue, ever.
  uint64_t withdrawn = 0;  ///< Of these, those that were forgotten before they were popped.
  uint64_t new_by_counting_filter = 0;
  uint64_t new_by_file_filters = 0;
  uint64_t new_by_reading = 0;
  uint64_t repeats = 0;
  uint64_t design_urls = 0;  ///< Of its counting filter.

  std::string Encode() const;
  static std::optional<ShardRecord> Decode(std::string_view text);
};

}  // namespace blocksieve::sieve
