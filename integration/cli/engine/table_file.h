#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

// What `inspect` and `verify` see of a file of sorted keys, whatever engine it is of.

namespace blocksieve::cli {

/// Whether a key comes before another one.
using KeyLess = std::function<bool(std::string_view, std::string_view)>;

/// The first and the last key for which lookups ask a file, in its column family's order.
struct KeyRange {
  std::string smallest;
  std::string largest;
  KeyLess less;
};

struct FilePlace {
  std::string path;
  std::string family;  ///< Of a database's column family; empty: none, or not known.
  int level = -1;      ///< -1: not known.

  /// A flush wrote it, and the next compaction takes it away. Under kind=auto such files have Bloom
  /// filters, others ribbons.
  bool is_short_lived = false;

  std::optional<KeyRange> keys;  ///< Not of all single files.
};

enum class FilterOrigin {
  kNone,
  kBlocksieve,
  kStock,       ///< RocksDB's own.
  kUnreadable,  ///< There is one, but it is damaged or unknown: it matches everything.
};

/// All key filters of a file together.
struct FilterReport {
  FilterOrigin origin = FilterOrigin::kNone;
  std::string kind;   ///< "ribbon", "bloom", "legacy bloom"; several are joined by '+'.
  std::string shape;  ///< "full", "partitioned" or "per granule".
  std::string of;     ///< "keys", "prefixes" or "keys and prefixes".
  uint64_t num_filters = 0;
  uint64_t num_entries = 0;  ///< Keys and prefixes that they were made of.
  uint64_t num_bytes = 0;    ///< In the file.

  /// Of an absent key that the file is asked for, by the model of the kind; 1 if nothing is ruled
  /// out. Of several filters the mean.
  double predicted_fpr = 1;

  std::vector<std::string> problems;  ///< Filters that cannot be read, and why.

  double bits_per_entry() const {
    return num_entries == 0 ? 0
                            : 8 * static_cast<double>(num_bytes) / static_cast<double>(num_entries);
  }
};

struct IndexColumnReport {
  std::string definition;
  uint64_t filter_bytes = 0;
  uint64_t bounds_bytes = 0;
};

/// The value index of a file.
struct IndexReport {
  uint64_t num_granules = 0;  ///< 0: there is none.
  uint64_t num_bytes = 0;     ///< In the file.
  std::vector<IndexColumnReport> columns;
  std::string note;     ///< Why there is none, if it was tried.
  std::string problem;  ///< It is damaged.
};

struct FileReport {
  FilePlace place;
  uint64_t num_entries = 0;  ///< Versions of keys, deletes included; not deletes of ranges.
  uint64_t num_bytes = 0;
  FilterReport filter;
  IndexReport index;
};

/// An open file. Not thread-safe.
class TableFile {
 public:
  virtual ~TableFile() = default;

  /// Read without the data.
  virtual const FileReport& report() const = 0;

  /// Checks all checksums, and what else can be wrong without asking the filters for keys. Empty:
  /// all is well.
  virtual std::vector<std::string> FindDamage() = 0;

  /// Every entry's key, in the order of the file, with whether its filters let it through, as they
  /// must. Throws Failure if it cannot be read to the end. Returns why some entries were not seen,
  /// or "".
  using KeyVisitor = std::function<void(std::string_view key, bool may_match)>;
  virtual std::string ForEachKey(const KeyVisitor& visit) = 0;

  /// Whether a lookup of the key would go on after asking the filters.
  virtual bool MayMatch(std::string_view key) = 0;

  /// A key next to `present` that the file does not have, and for filters of prefixes one whose
  /// prefix it does not have either; nothing if none was found.
  virtual std::optional<std::string> AbsentKey(std::string_view present,
                                               std::mt19937_64* random) = 0;

  /// The share of its entries that are before the key, 0 to 1, as far as can be told by reading one
  /// data block. Throws Failure if that cannot be read.
  virtual double ShareBefore(std::string_view key) = 0;
};

/// A key that is behind `present`, and equal to an existing one with a chance of 2^-64.
std::string RandomExtension(std::string_view present, std::mt19937_64* random);

}  // namespace blocksieve::cli
