#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <rocksdb/slice.h>

#include <cstdint>
#include <optional>
#include <string>

// Layout of the database:
//
//   column family   key                 value
//   seen-0 ...      URL                 position in the queue (varint)
//   queue           position, big-endian   URL
//   default         "version"           1
//                   "queue"             head, URLs popped (varints)
//                   "shard-0" ...       a ShardRecord
//                   "filter-0" ...      serialized counting filter of a shard; deleted when the
//                                       URLs of the shard change

namespace blocksieve::sieve {

/// Number of shards, which work in parallel: column families for URLs.
inline constexpr size_t kNumShards = 4;

inline constexpr const char* kQueueFamily = "queue";
inline constexpr const char* kVersionKey = "version";
inline constexpr const char* kQueueKey = "queue";

inline std::string SeenFamily(size_t shard) { return "seen-" + std::to_string(shard); }
inline std::string ShardKey(size_t shard) { return "shard-" + std::to_string(shard); }
inline std::string FilterKey(size_t shard) { return "filter-" + std::to_string(shard); }

/// Key of the queue: sorts like the position.
inline std::string PositionKey(uint64_t position) {
  std::string key;
  for (int shift = 56; shift >= 0; shift -= 8) key.push_back(static_cast<char>(position >> shift));
  return key;
}

/// nullopt if the key is not eight bytes long.
inline std::optional<uint64_t> ParsePositionKey(const rocksdb::Slice& key) {
  if (key.size() != sizeof(uint64_t)) return std::nullopt;
  uint64_t position = 0;
  for (size_t i = 0; i < key.size(); ++i) position = position << 8 | static_cast<uint8_t>(key[i]);
  return position;
}

}  // namespace blocksieve::sieve
