#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <rocksdb/db.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

// Which database is meant, in tables of this process. Names do not say it: databases in several
// Envs may have one name, and a name or an address is used again.

namespace blocksieve::rocksdb_plugin {

/// A column family by its id, which RocksDB gives once; a later one may have the name.
struct FamilyId {
  std::string name;
  uint32_t id = 0;
};

/// A database from its opening to its closing.
struct OpenDatabase {
  explicit OpenDatabase(rocksdb::DB* db)
      : OpenDatabase("", db->GetName(), db->GetDBOptions(), db->GetEnv()->GetFileSystem()) {
    db->GetDbSessionId(session).PermitUncheckedError();
  }
  OpenDatabase(std::string session_id, std::string db_name, const rocksdb::DBOptions& options,
               const std::shared_ptr<rocksdb::FileSystem>& fs)
      : session(std::move(session_id)),
        name(std::move(db_name)),
        info_log(options.info_log),
        file_system(fs),
        log_address(options.info_log.get()) {
    if (options.info_log) parts.emplace_back(options.info_log);
    if (options.sst_file_manager) parts.emplace_back(options.sst_file_manager);
    if (options.write_buffer_manager) parts.emplace_back(options.write_buffer_manager);
    for (const auto& listener : options.listeners) parts.emplace_back(listener);
  }

  bool is_closed() const {
    return std::ranges::any_of(parts, [](const auto& part) { return part.expired(); });
  }

  std::string session;  ///< As in DB::GetDbSessionId; unique among all openings.
  std::string name;
  std::weak_ptr<rocksdb::Logger> info_log;
  std::weak_ptr<rocksdb::FileSystem> file_system;
  const rocksdb::Logger* log_address;
  /// RocksDB tells no listener that it closes a database. But of these objects it makes those that
  /// the program does not share, and destroys them with the database.
  std::vector<std::weak_ptr<const void>> parts;
};

/// State of each open database. Not thread-safe.
template <class State>
class OpenDatabases {
 public:
  struct Entry {
    OpenDatabase database;
    State state;
  };

  /// The state of a database, which becomes the first of the list. Forgets those that were closed.
  State& operator[](const OpenDatabase& database) {
    entries_.remove_if([&](const Entry& entry) {
      const OpenDatabase& other = entry.database;
      const bool is_reopened = other.session != database.session && other.name == database.name &&
                               other.file_system.lock() == database.file_system.lock();
      return is_reopened || other.is_closed();
    });
    const auto known = std::ranges::find_if(
        entries_, [&](const Entry& entry) { return entry.database.session == database.session; });
    if (known != entries_.end()) {
      entries_.splice(entries_.begin(), entries_, known);
    } else {
      entries_.push_front({database, {}});
      if (entries_.size() > kMaxDatabases) entries_.pop_back();
    }
    return entries_.front().state;
  }

  auto begin() { return entries_.begin(); }
  auto end() { return entries_.end(); }

 private:
  // A limit for programs that share all parts. A forgotten database that is open comes back when it
  // next flushes or compacts.
  static constexpr size_t kMaxDatabases = 1000;

  std::list<Entry> entries_;  // the most recently used first
};

}  // namespace blocksieve::rocksdb_plugin
