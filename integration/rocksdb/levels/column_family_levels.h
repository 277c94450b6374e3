#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <rocksdb/env.h>
#include <rocksdb/listener.h>
#include <rocksdb/metadata.h>

#include <compare>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "blocksieve/tree.h"
#include "integration/rocksdb/compat/open_databases.h"

namespace blocksieve::rocksdb_plugin {

using Levels = std::vector<TreeLevel>;  ///< By level number.

/// The files of a column family as a tree. Assumes that lookups are distributed like the keys, and
/// that they check every run if keys are not in byte order or no file is known to have keys.
Tree BuildTree(const rocksdb::ColumnFamilyMetaData& column_family);

/// The levels of a column family: the current ones, or, if the input of `compaction` is in this
/// column family, those after it, with its input already on the output level.
Levels ReadLevels(const rocksdb::ColumnFamilyMetaData& column_family,
                  const rocksdb::CompactionJobInfo* compaction);

/// Identifies a column family in a filter policy.
struct ColumnFamilyKey {
  const rocksdb::Logger* info_log = nullptr;  ///< Of the database.
  std::string family;
  /// As in DB::GetName(); empty if RocksDB does not say it. Of databases that share an info log,
  /// the one that flushed or compacted last is then meant.
  std::string database = "";

  auto operator<=>(const ColumnFamilyKey&) const = default;
};

// The levels of all column families of this process that have a listener, until their database is
// closed. Thread-safe.

/// Reads the sizes of all levels before files of `family` are built: the current ones or, with
/// `compaction`, those after it. Does not if it has just read them. Returns whether this is the
/// first call for the family since its database was opened.
bool RefreshLevels(rocksdb::DB* db, const FamilyId& family,
                   const rocksdb::CompactionJobInfo* compaction = nullptr);

/// Replaces the levels of one column family.
void ReplaceLevels(const OpenDatabase& database, const std::string& family, Levels levels);

std::optional<Levels> KnownLevels(const ColumnFamilyKey& column_family);

}  // namespace blocksieve::rocksdb_plugin
