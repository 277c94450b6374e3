#pragma once

#include <rocksdb/db.h>
#include <rocksdb/slice.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

// Layout of the database:
//
//   column family   key                 value
//   seen-00 ...     URL                 position in the queue (varint)
//   queue           position, big-endian   URL
//   default         "settings"          version (1), number of shards, URLs designed for (varints)
//                   "queue"             head, URLs popped (varints)
//                   "shard-00" ...      a ShardRecord
//                   "filter-00" ...     serialized counting filter of a shard; deleted when the
//                                       URLs of the shard change

namespace blocksieve::sieve {

inline constexpr const char* kQueueFamily = "queue";
inline constexpr const char* kSettingsKey = "settings";
inline constexpr const char* kQueueKey = "queue";

inline std::string NumberedName(const char* prefix, size_t number) {
  return std::string(prefix) + static_cast<char>('0' + number / 10) +
         static_cast<char>('0' + number % 10);
}
inline std::string SeenFamily(size_t shard) { return NumberedName("seen-", shard); }
inline std::string ShardKey(size_t shard) { return NumberedName("shard-", shard); }
inline std::string FilterKey(size_t shard) { return NumberedName("filter-", shard); }

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

/// The counts of a shard, written in one batch with the URLs that they count.
struct ShardRecord {
  uint64_t seen = 0;       ///< URLs in the shard now.
  uint64_t enqueued = 0;   ///< URLs that the shard ever enqueued.
  uint64_t withdrawn = 0;  ///< Enqueued URLs that were forgotten before they were popped.
  uint64_t new_by_counting_filter = 0;
  uint64_t new_by_file_filters = 0;
  uint64_t new_by_reading = 0;
  uint64_t repeats = 0;
  uint64_t design_urls = 0;  ///< Design size of the counting filter, in URLs.

  std::string Encode() const;
  static std::optional<ShardRecord> Decode(std::string_view text);
};

/// The first two are fixed when a sieve is created.
struct SieveOptions {
  /// Number of column families for URLs. Pushes work on them in parallel. 1 to 64; an existing
  /// sieve accepts only its own number. 0: that number, or 4 for a new sieve.
  uint32_t num_shards = 0;

  /// Initial design size of a new sieve's counting filters, in URLs. They grow with the sieve, each
  /// time by reading all URLs of their shard once. 1 to 10^10; 0: 65,536.
  uint64_t design_urls = 0;

  /// Whether Open creates a missing sieve.
  bool create_if_missing = true;
};

/// Sets the options to those of the sieve at `path`; if there is no sieve, sets defaults. Writes
/// nothing. Errors: those of UrlSieve::Open.
rocksdb::Status ReadSettings(const std::string& path, SieveOptions* options);

/// Writes the settings unless they exist. Errors: Aborted if others exist, because another process
/// created the sieve after ReadSettings.
rocksdb::Status WriteSettings(rocksdb::DB* db, const SieveOptions& options);

}  // namespace blocksieve::sieve
