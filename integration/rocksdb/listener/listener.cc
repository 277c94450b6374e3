#include "integration/rocksdb/listener/listener.h"

#include <exception>

#include "integration/rocksdb/compat/log.h"
#include "integration/rocksdb/sidecar/databases.h"

namespace blocksieve {
namespace rocksdb_plugin {
namespace {

/// RocksDB is not exception-safe. Without sidecars, indexes are in properties, or files are read as
/// a whole.
template <class Function>
void OrNoSidecars(Function function) noexcept {
  try {
    function(SidecarDatabases::Instance());
  } catch (const std::exception& error) {
    LogLoudly(nullptr, "sidecars of skip indexes: ", error.what());
  }
}

}  // namespace

const char Listener::kName[] = "blocksieve";

void Listener::OnFlushBegin(rocksdb::DB* db, const rocksdb::FlushJobInfo&) {
  levels_.Refresh(db, nullptr);
  OrNoSidecars([&](SidecarDatabases& databases) { databases.Note(db); });
}

void Listener::OnCompactionBegin(rocksdb::DB* db, const rocksdb::CompactionJobInfo& compaction) {
  levels_.Refresh(db, &compaction);
  OrNoSidecars([&](SidecarDatabases& databases) { databases.Note(db); });
}

void Listener::OnTableFileCreationStarted(const rocksdb::TableFileCreationBriefInfo& sst) {
  OrNoSidecars([&](SidecarDatabases& databases) { databases.OnSstStarted(sst); });
}

void Listener::OnTableFileCreated(const rocksdb::TableFileCreationInfo& sst) {
  OrNoSidecars([&](SidecarDatabases& databases) { databases.OnSstCreated(sst); });
}

void Listener::OnTableFileDeleted(const rocksdb::TableFileDeletionInfo& sst) {
  OrNoSidecars([&](SidecarDatabases& databases) { databases.OnSstDeleted(sst); });
}

}  // namespace rocksdb_plugin

std::shared_ptr<rocksdb::EventListener> NewListener() {
  return std::make_shared<rocksdb_plugin::Listener>();
}

}  // namespace blocksieve
