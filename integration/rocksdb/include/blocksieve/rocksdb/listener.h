#pragma once

#include <rocksdb/listener.h>

#include <memory>

#include "blocksieve/rocksdb/export.h"

namespace blocksieve {

/// A listener by which blocksieve learns what RocksDB tells neither filter policies nor collectors.
/// It goes into DBOptions::listeners, or into option strings and OPTIONS files as
/// "listeners={blocksieve}".
///
/// Filter policies learn how large the levels are and which of them lookups ask, to spread memory
/// over them (FilterPolicyOptions::wasted_reads and bits_per_key). Without it, a policy learns the
/// last level from the files that it builds, starts over whenever the database is opened, and
/// assumes that each level is size-ratio times as large as the one above. The listener reads the
/// sizes of all files when a flush or a compaction begins. This takes about a microsecond per file
/// under the database's mutex, and at most a fiftieth of the time. RocksDB does not tell listeners
/// when DB::CompactFiles begins, so its output gets rates for the sizes before it.
///
/// Skip indexes learn where their SST is written, and are put into a file beside it (sidecar)
/// rather than into its properties: see SkipIndexOptions::max_property_bytes. The listener deletes
/// the sidecars of SSTs that are deleted and, at the first flush or compaction after the database
/// is opened, those that are left of SSTs that are no more.
///
/// Thread-safe. One listener may serve several databases.
BLOCKSIEVE_EXPORT std::shared_ptr<rocksdb::EventListener> NewListener();

}  // namespace blocksieve
