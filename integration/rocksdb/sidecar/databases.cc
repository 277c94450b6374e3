// SPDX-License-Identifier: Apache-2.0
#include "integration/rocksdb/sidecar/databases.h"

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string_view>
#include <utility>

#include "integration/rocksdb/compat/log.h"
#include "integration/rocksdb/compat/written_ssts.h"

namespace blocksieve::rocksdb_plugin {
namespace {

constexpr size_t kMaxWrittenSsts = 8;  // see WrittenSsts

constexpr std::string_view kSstSuffix = ".sst";

std::string DirName(const std::string& path) { return path.substr(0, path.find_last_of('/')); }

struct SidecarState {
  std::vector<const rocksdb::EventListener*> listeners;
  std::set<std::string> directories;         // known to have its SSTs
  std::map<std::string, uint32_t> families;  // ids of column families by name
  bool has_warned = false;                   // of another database with its name and listener
};

// Ids that are forgotten come back with the next flush or compaction of their column family.
constexpr size_t kMaxFamilies = 1000;

struct Registry {
  std::mutex mutex;
  OpenDatabases<SidecarState> databases;
};

Registry& Registered() {
  // Never destroyed: databases may be closed while static destructors run.
  static auto& registry = *new Registry;
  return registry;
}

void WarnOnce(const OpenDatabase& database, bool* has_warned) {
  if (std::exchange(*has_warned, true)) return;
  LogLoudly(database.info_log.lock().get(),
            "two open databases in different Envs have the name " + database.name +
                " and the same listener, so skip indexes stay in the table properties; give each "
                "database a blocksieve::NewListener() of its own");
}

// Sets which database writes an SST. Leaves the note as it is if the database is unknown, or if it
// cannot be told from another one. It is unknown, too, if the SST is elsewhere, as that of a worker
// of a remote compaction, also of one in this process: the database then moves SSTs without their
// sidecars.
void Identify(const rocksdb::EventListener* listener, WrittenSst* note) {
  const std::lock_guard lock(Registered().mutex);
  OpenDatabases<SidecarState>::Entry* found = nullptr;
  for (auto& entry : Registered().databases) {
    auto& [database, state] = entry;
    if (database.name != note->db_name || database.is_closed() || database.file_system.expired() ||
        !state.directories.contains(DirName(note->path)) ||
        std::ranges::find(state.listeners, listener) == state.listeners.end()) {
      continue;
    }
    if (found != nullptr) {
      WarnOnce(database, &state.has_warned);
      return WarnOnce(found->database, &found->state.has_warned);
    }
    found = &entry;
  }
  if (found == nullptr) return;
  note->session = found->database.session;
  note->file_system = found->database.file_system;
  note->info_log = found->database.info_log;
  const auto id = found->state.families.find(note->family);
  if (id != found->state.families.end()) note->family_id = id->second;
}

// The directories in which a database may have SSTs, each once.
std::set<std::string> SstDirectories(rocksdb::DB* db) {
  const rocksdb::DBOptions options = db->GetDBOptions();
  std::set<std::string> directories{db->GetName()};
  for (const rocksdb::DbPath& path : options.db_paths) directories.insert(path.path);
  // The paths of column families follow from their live files.
  std::vector<rocksdb::LiveFileMetaData> files;
  db->GetLiveFilesMetaData(&files);
  for (const rocksdb::LiveFileMetaData& file : files) directories.insert(file.db_path);
  return directories;
}

// "000012.bsx" with suffix ".bsx": "000012". Empty if that is not a number.
std::string_view NumberInName(std::string_view name, std::string_view suffix) {
  if (!name.ends_with(suffix)) return {};
  name.remove_suffix(suffix.size());
  const bool is_number =
      std::all_of(name.begin(), name.end(), [](char c) { return c >= '0' && c <= '9'; });
  return is_number ? name : std::string_view();
}

// Deletes sidecars without an SST, finished or temporary. A sidecar is written after its SST was
// created.
void DeleteOrphans(rocksdb::FileSystem* file_system, const std::string& directory) {
  const rocksdb::IOOptions io;
  std::vector<std::string> names;
  if (!file_system->GetChildren(directory, io, &names, nullptr).ok()) return;
  std::set<std::string_view> ssts;
  for (const std::string& name : names) ssts.insert(NumberInName(name, kSstSuffix));
  for (const std::string& name : names) {
    std::string_view sidecar = name;
    if (sidecar.ends_with(kTemporarySuffix)) sidecar.remove_suffix(kTemporarySuffix.size());
    const std::string_view number = NumberInName(sidecar, kSidecarSuffix);
    if (number.empty() || ssts.contains(number)) continue;
    const std::string sst = directory + "/" + std::string(number) + std::string(kSstSuffix);
    const rocksdb::Status exists = file_system->FileExists(sst, io, nullptr);
    if (!exists.IsNotFound()) continue;
    file_system->DeleteFile(directory + "/" + name, io, nullptr).PermitUncheckedError();
  }
}

}  // namespace

void RegisterForSidecars(rocksdb::DB* db, const FamilyId& family,
                         const std::vector<std::string>& ssts) {
  const OpenDatabase database(db);
  bool is_new = false;
  {
    const std::lock_guard lock(Registered().mutex);
    is_new = Registered().databases[database].listeners.empty();
  }
  std::set<std::string> directories = is_new ? SstDirectories(db) : std::set<std::string>();
  const std::set<std::string> known = directories;
  for (const std::string& sst : ssts) directories.insert(DirName(sst));
  {
    const std::lock_guard lock(Registered().mutex);
    SidecarState& state = Registered().databases[database];
    state.listeners.clear();
    for (const auto& one : db->GetDBOptions().listeners) state.listeners.push_back(one.get());
    state.directories.merge(directories);
    if (state.families.size() >= kMaxFamilies) state.families.clear();
    state.families[family.name] = family.id;
  }
  for (const std::string& directory : known) {
    DeleteOrphans(db->GetEnv()->GetFileSystem().get(), directory);
  }
}

void OnSstStarted(const rocksdb::EventListener* listener,
                  const rocksdb::TableFileCreationBriefInfo& sst) {
  std::vector<WrittenSst>& notes = WrittenSsts();
  if (notes.size() >= kMaxWrittenSsts) notes.erase(notes.begin());
  WrittenSst& note =
      notes.emplace_back(WrittenSst{sst.db_name, sst.cf_name, sst.job_id, sst.file_path});
  // The database may have been closed and opened on another file system.
  if (sst.reason == rocksdb::TableFileCreationReason::kRecovery) return;
  Identify(listener, &note);
}

void OnSstCreated(const WrittenSst& note, const rocksdb::TableFileCreationInfo& sst) {
  const auto file_system = note.file_system.lock();
  if (!note.is_taken || file_system == nullptr) return;
  if (!sst.status.ok()) return DeleteSidecar(file_system.get(), note.path);
  // The collector of another SST may have taken the note, and the database may be another one.
  const auto& properties = sst.table_properties;
  const auto& user = properties.user_collected_properties;
  const auto ours = user.lower_bound("blocksieve.");
  const std::string& collectors = properties.property_collectors_names;
  const bool has_ours = collectors.empty() || collectors.find("blocksieve.") != std::string::npos;
  // Tables that are not block-based do not report what collectors stored.
  if (has_ours && (ours == user.end() || !ours->first.starts_with("blocksieve."))) return;
  const auto named = user.find(kSidecarProperty);
  const std::string id = named == user.end() ? "" : named->second;
  const auto sidecar = SidecarFile::OpenAny(file_system.get(), SidecarPath(note.path));
  if (sidecar == nullptr) return;
  if (id == ToHex(sidecar->header().id) && note.session == properties.db_session_id) return;
  DeleteSidecar(file_system.get(), note.path);
  LogLoudly(note.info_log.lock().get(),
            "deleted sidecar " + SidecarPath(note.path) +
                ", which belongs to another SST than the one beside it; scans read that SST as a "
                "whole until RebuildSkipIndexes");
}

std::string OnSstDeleted(const rocksdb::EventListener* listener,
                         const rocksdb::TableFileDeletionInfo& sst) {
  if (!sst.status.ok()) return "";
  WrittenSst note{sst.db_name, "", sst.job_id, sst.file_path};
  Identify(listener, &note);
  const auto file_system = note.file_system.lock();
  if (file_system != nullptr) DeleteSidecar(file_system.get(), note.path);
  return note.session;
}

StartedSst TakeStartedSst(uint32_t family_id, int level) {
  std::vector<WrittenSst>& notes = WrittenSsts();
  // Files of an SstFileWriter have no level.
  if (notes.empty() || notes.back().is_taken || level < 0) return {};
  WrittenSst& note = notes.back();
  StartedSst sst{true, std::nullopt};
  if (note.family_id != family_id) return sst;
  SstPlace place{note.file_system.lock(), note.path};
  if (place.file_system == nullptr) return sst;
  note.is_taken = true;
  sst.place = std::move(place);
  return sst;
}

}  // namespace blocksieve::rocksdb_plugin
