#pragma once

#include <rocksdb/metadata.h>

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace blocksieve::rocksdb_plugin {

/// How often the levels of a column family are asked, from RocksDB's samples: it counts one in
/// 1,024 reads of each file, in memory, whether or not a filter then says no. Not thread-safe.
class ReadSamples {
 public:
  /// Adds what was read since the last call. A file that is gone by then was read last for the call
  /// before it went: to be called when flushes and compactions begin.
  void Note(const rocksdb::ColumnFamilyMetaData& column_family);

  /// For each level, how often it is asked, in proportion to the one that is asked most; of level
  /// 0, each of its files. Nothing while there are too few samples to tell.
  std::optional<std::vector<double>> Shares() const;

 private:
  std::map<uint64_t, uint64_t> counts_;  // by the number of the file
  std::vector<double> asked_;            // by level; of late
};

}  // namespace blocksieve::rocksdb_plugin
