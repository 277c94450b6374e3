#pragma once

#include <rocksdb/listener.h>

#include <memory>

#include "blocksieve/rocksdb/export.h"

namespace blocksieve {

/// A listener that tells filter policies how large the levels are, for policies that spread memory
/// over the levels (FilterPolicyOptions::wasted_reads and bits_per_key). It goes into
/// DBOptions::listeners, or into option strings and OPTIONS files as "listeners={blocksieve}".
///
/// Without it, a policy learns the last level from the files that it builds, starts over whenever
/// the database is opened, and assumes that each level is size-ratio times as large as the one
/// above.
///
/// The listener reads the sizes of all files when a flush or a compaction begins. This takes about
/// a microsecond per file under the database's mutex, and at most a fiftieth of the time. RocksDB
/// does not tell listeners when DB::CompactFiles begins, so its output gets rates for the sizes
/// before it.
///
/// Thread-safe. One listener may serve several databases.
BLOCKSIEVE_EXPORT std::shared_ptr<rocksdb::EventListener> NewLevelListener();

}  // namespace blocksieve
