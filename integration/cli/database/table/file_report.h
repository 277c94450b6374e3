#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// What `inspect`, `verify` and `advise` see of a table file.

namespace blocksieve::cli {

/// Whether a key comes before another one.
using KeyLess = std::function<bool(std::string_view, std::string_view)>;

/// The first and the last key for which lookups ask a file, in the order of its column family.
struct LookupRange {
  std::string smallest;
  std::string largest;
  KeyLess less;
};

struct FilePlace {
  std::string path;
  std::string family;  ///< Name of the column family; empty: none, or not known.
  int level = -1;      ///< -1: not known.

  /// A flush wrote it, and the next compaction removes it. Under kind=auto such files have Bloom
  /// filters, others ribbons.
  bool is_short_lived = false;

  std::optional<LookupRange> keys;  ///< Missing for some single files.
};

enum class FilterOrigin {
  kNone,
  kBlocksieve,
  kStock,       ///< RocksDB's own.
  kUnknown,     ///< Of a kind that is not known here, which is no damage: it matches everything.
  kUnreadable,  ///< Damaged: it matches everything.
};

/// All key filters of a file together.
struct FilterReport {
  FilterOrigin origin = FilterOrigin::kNone;
  std::string kind;     ///< "ribbon", "bloom", "legacy bloom"; several are joined by '+'.
  std::string shape;    ///< "full", "partitioned" or "per granule".
  std::string entries;  ///< "keys", "prefixes" or "keys and prefixes".
  uint64_t num_filters = 0;
  uint64_t num_entries = 0;  ///< Keys and prefixes that they were made from.
  uint64_t num_bytes = 0;    ///< In the file.

  /// The chance that an absent key passes, by the model of the kind; 1 if nothing is ruled out. Of
  /// several filters it is the mean over what they cover.
  double predicted_fpr = 1;

  /// Parts for ranges: how many filters have one, their bytes among those above, and the estimated
  /// share of short ranges without keys that pass, the mean over the keys of such filters.
  uint64_t num_range_filters = 0;
  uint64_t range_bytes = 0;
  double range_fpr = 1;

  std::string policy;                 ///< Of the program that wrote the file; empty: it had none.
  std::string note;                   ///< Why filters are unknown.
  std::vector<std::string> problems;  ///< Filters that cannot be read, and why.
};

struct IndexColumnReport {
  std::string definition;
  std::string filters;  ///< "bit slices", "postings", or why there are none.
  uint64_t filter_bytes = 0;
  uint64_t bounds_bytes = 0;
};

/// The skip index of a file.
struct IndexReport {
  uint64_t num_granules = 0;  ///< 0: there is none.
  uint64_t num_bytes = 0;     ///< As stored.
  std::string place;          ///< "sst": in the file, or "sidecar": in one beside it.
  std::vector<IndexColumnReport> columns;
  std::string note;     ///< Why there is none, although one was built.
  std::string problem;  ///< What is wrong with it; empty: nothing.
};

struct FileReport {
  FilePlace place;
  uint64_t num_entries = 0;  ///< Versions of keys, with deletes but without deletes of ranges.
  uint64_t num_bytes = 0;
  FilterReport filter;
  IndexReport index;
};

}  // namespace blocksieve::cli
