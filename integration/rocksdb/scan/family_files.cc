// SPDX-License-Identifier: Apache-2.0
#include "integration/rocksdb/scan/family_files.h"

#include <algorithm>
#include <atomic>
#include <cassert>
#include <map>
#include <mutex>
#include <numeric>
#include <set>
#include <string>

#include "integration/rocksdb/block_index/factory.h"
#include "integration/rocksdb/compat/open_databases.h"
#include "integration/rocksdb/compat/table_properties.h"
#include "integration/rocksdb/index/skip_index_properties.h"
#include "lib/base/altered_answers.h"
#include "lib/base/errors.h"

namespace blocksieve::rocksdb_plugin {
namespace {

using Tables = FamilyFiles::Tables;

uint64_t NextSerialNumber() {
  static std::atomic<uint64_t> last = 0;
  return ++last;
}

/// The files of column families that were listed last, by the ids of these.
using FilesOfFamilies = std::map<uint32_t, std::shared_ptr<const FamilyFiles>>;

struct FilesCatalog {
  std::mutex mutex;
  OpenDatabases<FilesOfFamilies> databases;
};

FilesCatalog& Kept() {
  // Never destroyed: databases may be read while static destructors run.
  static auto& kept = *new FilesCatalog;
  return kept;
}

std::shared_ptr<const FamilyFiles> FindKept(const std::string& session, uint32_t family) {
  if (internal::FailsAt("find_index")) throw std::bad_alloc();
  const std::lock_guard lock(Kept().mutex);
  for (const auto& [database, state] : Kept().databases) {
    if (database.session != session) continue;
    const auto known = state.find(family);
    return known == state.end() ? nullptr : known->second;
  }
  return nullptr;
}

// Forgets other databases and families instead, those of the least recently changed first.
void Keep(rocksdb::DB* db, uint32_t family, const std::shared_ptr<const FamilyFiles>& files) {
  constexpr uint64_t kMaxBytes = 128 << 20;
  if (internal::FailsAt("keep_index")) throw std::bad_alloc();
  const OpenDatabase database(db);
  const std::lock_guard lock(Kept().mutex);
  FilesOfFamilies& own = Kept().databases[database];
  own.erase(family);
  uint64_t bytes = files->memory_bytes();
  if (bytes <= kMaxBytes) own.emplace(family, files);
  for (auto& [other, state] : Kept().databases) {
    std::erase_if(state, [&, is_own = &state == &own](const auto& entry) {
      if (is_own && entry.first == family) return false;
      bytes += entry.second->memory_bytes();
      return bytes > kMaxBytes;
    });
  }
}

std::shared_ptr<const KnownTable> FindTable(const Tables& tables, uint64_t number) {
  const auto found = std::ranges::lower_bound(tables, number, {}, &KnownTable::number);
  return found == tables.end() || (*found)->number != number ? nullptr : *found;
}

void Append(const rocksdb::TablePropertiesCollection& found, Tables* tables) {
  for (const auto& [path, properties] : found)
    tables->push_back(std::make_shared<const KnownTable>(path, properties));
}

// The tables of `metadata`: the earlier ones, and those of new files, unless these are most. False
// if some were not found.
bool ReadNewTables(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* family,
                   const rocksdb::ColumnFamilyMetaData& metadata, const Tables& earlier,
                   Tables* tables) {
  std::set<uint64_t> lacking;
  std::vector<rocksdb::Range> ranges;
  for (const rocksdb::LevelMetaData& level : metadata.levels) {
    for (const rocksdb::SstFileMetaData& file : level.files) {
      const uint64_t number = ParseFileNumber(file.name);
      if (auto known = FindTable(earlier, number)) {
        tables->push_back(std::move(known));
      } else {
        lacking.insert(number);
        ranges.emplace_back(file.smallestkey, file.largestkey);
      }
    }
  }
  if (lacking.empty()) return true;
  if (lacking.size() > metadata.file_count / 4) return false;
  rocksdb::TablePropertiesCollection found;
  if (!db->GetPropertiesOfTablesInRange(family, ranges.data(), ranges.size(), &found).ok())
    return false;
  std::erase_if(found, [&](const auto& table) {
    return table.second == nullptr || lacking.erase(ParseFileNumber(table.first)) == 0;
  });
  Append(found, tables);
  return lacking.empty();
}

}  // namespace

KnownTable::KnownTable(std::string table_path,
                       std::shared_ptr<const rocksdb::TableProperties> of_table)
    : path(std::move(table_path)),
      properties(std::move(of_table)),
      number(ParseFileNumber(path)),
      num_entries(properties->num_entries),
      id(IdOfSst(*properties)),
      block_index(FindFileId(*properties)),
      is_of_writer(properties->user_collected_properties.contains(kExternalFileProperty)) {
  constexpr uint64_t kOverhead = 2048;  // metadata, the rest of the properties, and places
  memory_bytes = kOverhead + path.size();
  for (const auto& [name, value] : properties->user_collected_properties)
    memory_bytes += name.size() + value.size();
}

FamilyFiles::FamilyFiles(const rocksdb::Comparator* comparator,
                         rocksdb::ColumnFamilyMetaData metadata, Tables tables)
    : comparator_(comparator),
      metadata_(std::move(metadata)),
      tables_(std::move(tables)),
      serial_number_(NextSerialNumber()) {
  std::ranges::sort(tables_, {}, &KnownTable::number);
  std::vector<SidecarId> ids;
  for (const auto& table : tables_) {
    for (const auto& id : {table->id, table->block_index}) {
      if (id) ids.push_back(*id);
    }
    have_properties_ = have_properties_ && !LacksProperties(*table->properties);
    memory_bytes_ += table->memory_bytes;
  }
  std::ranges::sort(ids);
  // A file whose id is that of another, too, cannot be told from it by those who read it.
  const auto is_unique = [&](const std::optional<SidecarId>& id) {
    return id && std::ranges::equal_range(ids, *id).size() == 1;
  };
  for (const rocksdb::LevelMetaData& level : metadata_.levels) {
    for (const rocksdb::SstFileMetaData& file : level.files) {
      const uint64_t number = ParseFileNumber(file.name);
      const auto& table = files_.emplace_back(number, &file, FindTable(tables_, number)).table;
      places_.push_back({.level = level.level,
                         .first_key = file.smallestkey,
                         .last_key = file.largestkey,
                         .smallest_sequence = file.smallest_seqno,
                         .largest_sequence = file.largest_seqno,
                         .has_unique_id = table != nullptr && is_unique(table->id),
                         .has_unique_block_id = table != nullptr && is_unique(table->block_index),
                         .is_of_writer = table != nullptr && table->is_of_writer});
    }
  }
  older_ = FindOlderEntries(*comparator, places_);
  for (size_t i = 0; i < files_.size(); ++i) {
    const auto& table = files_[i].table;
    by_id_.push_back({table == nullptr ? std::nullopt : table->id, i, files_[i].metadata->size});
    by_number_.emplace_back(files_[i].number, i);
  }
  std::ranges::sort(by_id_, {}, &FileById::id);
  std::ranges::sort(by_number_);

  level_0_.resize(files_.size());
  std::iota(level_0_.begin(), level_0_.end(), size_t{0});
  std::erase_if(level_0_, [&](size_t i) { return places_[i].level != 0; });
  std::ranges::sort(level_0_, [&](size_t a, size_t b) {
    return comparator_->Compare(places_[a].first_key, places_[b].first_key) < 0;
  });
  for (const size_t i : level_0_) {
    Reach reach = reaches_.empty() ? Reach() : reaches_.back();
    const auto is_further = [&](const std::optional<size_t>& other) {
      return !other || comparator_->Compare(places_[*other].last_key, places_[i].last_key) < 0;
    };
    if (is_further(reach.furthest)) {
      reach.second = std::exchange(reach.furthest, i);
    } else if (is_further(reach.second)) {
      reach.second = i;
    }
    reaches_.push_back(reach);
  }
}

rocksdb::Status FamilyFiles::Read(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* family,
                                  std::shared_ptr<const FamilyFiles>* files) {
  // RocksDB makes a new super version of each change of files, and of memtables and options.
  uint64_t version = 0;
  const auto read_version = [&](uint64_t* number) {
    return db->GetIntProperty(family, rocksdb::DB::Properties::kCurrentSuperVersionNumber, number);
  };
  std::string session;
  const bool can_keep =
      db->GetDbSessionId(session).ok() && !session.empty() && read_version(&version);
  const auto earlier = can_keep ? FindKept(session, family->GetID()) : nullptr;
  if (earlier != nullptr && earlier->version_ == version) {
    *files = earlier;
    return rocksdb::Status::OK();
  }
  rocksdb::ColumnFamilyMetaData metadata;
  Tables tables;
  bool is_read = false;
  uint64_t later = 0;
  if (earlier != nullptr) {
    db->GetColumnFamilyMetaData(family, &metadata);
    is_read = ReadNewTables(db, family, metadata, earlier->tables_, &tables) &&
              read_version(&later) && later == version;
  }
  if (!is_read) {
    rocksdb::TablePropertiesCollection found;
    BLOCKSIEVE_RETURN_IF_ERROR(ReadTableProperties(db, family, &found));
    tables.clear();
    Append(found, &tables);
    db->GetColumnFamilyMetaData(family, &metadata);
    is_read = can_keep && read_version(&later) && later == version;
  }
  const auto read = std::make_shared<FamilyFiles>(family->GetComparator(), std::move(metadata),
                                                  std::move(tables));
  read->version_ = version;
  if (earlier != nullptr) read->earlier_serial_number_ = earlier->serial_number_;
  // Lists of different moments serve this call alone.
  if (is_read) Keep(db, family->GetID(), read);
  *files = read;
  return rocksdb::Status::OK();
}

std::optional<size_t> FamilyFiles::FindFile(uint64_t number) const {
  const auto found = std::ranges::lower_bound(by_number_, std::pair(number, size_t{0}));
  return found == by_number_.end() || found->first != number ? std::nullopt
                                                             : std::optional(found->second);
}

std::optional<size_t> FamilyFiles::Locate(const rocksdb::TableProperties& properties) const {
  // A table that was ingested or imported has another number.
  const std::optional<size_t> file = FindFile(properties.orig_file_number);
  const bool is_found = file && files_[*file].table != nullptr &&
                        files_[*file].table->properties.get() == &properties;
  return is_found ? file : std::nullopt;
}

bool FamilyFiles::OthersOverlap(const ScanRange& range, uint64_t file_number) const {
  assert(range.low && range.high);
  const auto begins_by = [&](size_t i) {
    return comparator_->Compare(places_[i].first_key, *range.high) <= 0;
  };
  const auto ends_before = [&](const PlacedFile& file) {
    return comparator_->Compare(file.last_key, *range.low) < 0;
  };
  const auto num_begun = std::ranges::partition_point(level_0_, begins_by) - level_0_.begin();
  if (num_begun != 0) {
    const Reach& reach = reaches_[static_cast<size_t>(num_begun) - 1];
    const bool is_own = files_[*reach.furthest].number == file_number;
    const std::optional<size_t> other = is_own ? reach.second : reach.furthest;
    if (other && !ends_before(places_[*other])) return true;
  }
  // From level 1 on, files are in key order and do not overlap.
  for (size_t begin = level_0_.size(); begin < files_.size();) {
    const auto level =
        std::ranges::equal_range(places_.begin() + static_cast<ptrdiff_t>(begin), places_.end(),
                                 places_[begin].level, {}, &PlacedFile::level);
    auto file = std::ranges::partition_point(level, ends_before);
    for (; file != level.end(); ++file) {
      const auto i = static_cast<size_t>(file - places_.begin());
      if (!begins_by(i)) break;
      if (files_[i].number != file_number) return true;
    }
    begin = static_cast<size_t>(level.end() - places_.begin());
  }
  return false;
}

}  // namespace blocksieve::rocksdb_plugin
