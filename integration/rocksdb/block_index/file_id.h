#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <rocksdb/table_properties.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>

#include "integration/rocksdb/sidecar/file.h"

// A file's block index and its table properties hold one random id. So a decision by the
// properties, which PruneReads reads, names the index that it is for: RocksDB tells the reader of
// an index nothing about its file.
//
// The index draws the id, and a table properties collector writes it. RocksDB's constructor of a
// table builder makes the index's builder and then the collectors; entries follow later. The
// index's builder therefore leaves its id to the next collector of its thread, and drops it with
// its first entry or its end. The collector of a table that was begun later finds nothing.

namespace blocksieve::rocksdb_plugin {

/// In place of the id of an index that no property names.
inline constexpr SidecarId kNoFileId = {};

/// What the properties of a file say of its block index.
struct IndexNote {
  SidecarId id = kNoFileId;
  std::atomic<uint64_t> num_bytes = 0;    ///< Set before the properties; 0: it was left out.
  std::atomic<bool> is_on_level = false;  ///< Set by the collector: not of an SstFileWriter.
};
using IndexOffer = const std::shared_ptr<IndexNote>;

/// Draws the id of an index, and offers its note to the calling thread's next collector, in place
/// of an earlier offer. Whoever drops the offer, on any thread, ends it. kNoFileId without a source
/// of random numbers. Throws std::bad_alloc.
std::shared_ptr<IndexOffer> OfferFileId();

/// Makes collectors that write the id of their file's block index into its table properties. A file
/// without such an index gets no property.
class FileIdCollectorFactory final : public rocksdb::TablePropertiesCollectorFactory {
 public:
  /// Its id in option strings.
  static const char kName[];

  const char* Name() const override { return kName; }
  rocksdb::TablePropertiesCollector* CreateTablePropertiesCollector(Context context) override;
};

/// Whether it is one, of any version of blocksieve. False for null.
bool IsFileIdCollector(const std::shared_ptr<rocksdb::TablePropertiesCollectorFactory>& collector);

/// The id of the file's block index, by its properties; nothing if they have none.
std::optional<SidecarId> FindFileId(const rocksdb::TableProperties& properties);

}  // namespace blocksieve::rocksdb_plugin
