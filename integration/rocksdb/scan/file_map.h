#pragma once

#include <rocksdb/comparator.h>
#include <rocksdb/metadata.h>

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "integration/rocksdb/scan/scan_context.h"

namespace blocksieve::rocksdb_plugin {

/// Which files of a column family lie where. RocksDB hands out metadata and table properties one
/// after the other, and files may come and go in between, so files may be unknown here.
class FileMap {
 public:
  FileMap(const rocksdb::Comparator* comparator, rocksdb::ColumnFamilyMetaData metadata);

  /// Null if the file is unknown.
  const rocksdb::SstFileMetaData* Find(uint64_t file_number) const;

  /// Whether a known file other than that one has keys, or tombstones, in the range.
  /// REQUIRES: both ends
  bool OthersOverlap(const ScanRange& range, uint64_t file_number) const;

 private:
  bool Overlaps(const rocksdb::SstFileMetaData& file, const ScanRange& range) const;

  const rocksdb::Comparator* const comparator_;
  const rocksdb::ColumnFamilyMetaData metadata_;
  std::map<uint64_t, const rocksdb::SstFileMetaData*> by_number_;
  std::vector<std::vector<const rocksdb::SstFileMetaData*>> levels_;  // [0] in any order
};

}  // namespace blocksieve::rocksdb_plugin
