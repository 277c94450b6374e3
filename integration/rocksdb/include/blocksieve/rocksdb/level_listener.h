#pragma once

#include <rocksdb/listener.h>

#include <memory>

#include "blocksieve/rocksdb/export.h"

namespace blocksieve {

/// Tells filter policies that spread memory over the levels (FilterPolicyOptions::wasted_reads and
/// bits_per_key) how large the levels are. For DBOptions::listeners; in option strings and OPTIONS
/// files "listeners={blocksieve}".
///
/// Without it a policy learns from the files it builds which level is the last one, begins anew
/// whenever the database is opened, and takes each level for size ratio times the one above it.
///
/// RocksDB does not tell listeners when DB::CompactFiles begins: its output gets the rates for the
/// sizes of before.
///
/// It reads the sizes of all files when a flush or a compaction begins, at most a fiftieth of the
/// time: about a microsecond a file, under the database's mutex. Thread-safe; one may serve several
/// databases.
BLOCKSIEVE_EXPORT std::shared_ptr<rocksdb::EventListener> NewLevelListener();

}  // namespace blocksieve
