#pragma once

#include <rocksdb/db.h>
#include <rocksdb/slice.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

// Where the database keeps what:
//
//   column family   key                 value
//   seen-00 ...     URL                 place in the queue (varint)
//   queue           place, big-endian   URL
//   default         "settings"          version (1), number of shards, URLs designed for (varints)
//                   "queue"             head, URLs popped (varints)
//                   "shard-00" ...      the counts of a ShardRecord
//                   "filter-00" ...     counting filter of a shard, a filter block; deleted when
//                                       the URLs of the shard change

namespace blocksieve::sieve {

struct SieveOptions;

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

/// Keys of the queue sort as their places do.
inline std::string PlaceKey(uint64_t place) {
  std::string key;
  for (int shift = 56; shift >= 0; shift -= 8) key.push_back(static_cast<char>(place >> shift));
  return key;
}

/// Nothing if the key is not eight bytes long.
inline std::optional<uint64_t> ParsePlaceKey(const rocksdb::Slice& key) {
  if (key.size() != sizeof(uint64_t)) return std::nullopt;
  uint64_t place = 0;
  for (size_t i = 0; i < key.size(); ++i) place = place << 8 | static_cast<uint8_t>(key[i]);
  return place;
}

/// The counts of a shard, written in one batch with what they count.
struct ShardRecord {
  uint64_t seen = 0;       ///< URLs in the shard now.
  uint64_t enqueued = 0;   ///< URLs that it ever put into the queue.
  uint64_t withdrawn = 0;  ///< Those of them that were forgotten before they were popped.
  uint64_t new_by_counting_filter = 0;
  uint64_t new_by_file_filters = 0;
  uint64_t new_by_reading = 0;
  uint64_t repeats = 0;
  uint64_t design_urls = 0;  ///< URLs that its counting filter is made for.

  std::string Encode() const;
  static std::optional<ShardRecord> Decode(std::string_view text);
};

/// Settings that a sieve keeps from its creation on.
struct SieveSettings {
  uint32_t num_shards = 0;
  uint64_t design_urls = 0;

  bool operator==(const SieveSettings&) const = default;
};

/// Reads the settings of the sieve at `path`, or takes those of `options` if there is no sieve.
/// Writes nothing. Errors: those of UrlSieve::Open.
rocksdb::Status ReadSettings(const std::string& path, const SieveOptions& options,
                             SieveSettings* settings);

/// Writes the settings unless they are there. Errors: Aborted if there are others, because another
/// process created the sieve after they were read.
rocksdb::Status WriteSettings(rocksdb::DB* db, const SieveSettings& settings);

}  // namespace blocksieve::sieve
