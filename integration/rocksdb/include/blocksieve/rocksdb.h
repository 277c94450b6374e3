#pragma once  // SPDX-License-Identifier: Apache-2.0

/// \file
/// blocksieve in RocksDB: one call to write, one to read.
///
///     rocksdb::Options options;
///     rocksdb::Status status = blocksieve::Enable(
///         &options, {.bits_per_key = 10, .ranges = true, .columns = {"package=field:1"}});
///     ...  // open the database, write to it
///     std::unique_ptr<rocksdb::Iterator> rows;
///     status = blocksieve::NewIterator(db, nullptr, "package = 'bash'", {}, &rows);
///
/// On error a call changes nothing, and the status names the option, its value, what is allowed and
/// what to do; MemoryLimit if memory is short. Threads, ownership and exceptions: the rules in
/// blocksieve/status.h.

#include "blocksieve/rocksdb/enable.h"
#include "blocksieve/rocksdb/maintenance.h"
#include "blocksieve/rocksdb/prune_reads.h"
#include "blocksieve/rocksdb/skip_index.h"
