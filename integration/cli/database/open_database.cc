#include "integration/cli/database/open_database.h"

#include <fmt/format.h>
#include <rocksdb/convenience.h>
#include <rocksdb/env.h>
#include <rocksdb/sst_file_reader.h>
#include <rocksdb/statistics.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdarg>
#include <filesystem>
#include <future>
#include <system_error>
#include <utility>

#include "integration/cli/term/streams.h"
#include "integration/cli/term/text.h"
#include "integration/rocksdb/compat/open_db.h"
#include "integration/rocksdb/compat/version_differences.h"
#include "integration/rocksdb/index/skip_index_catalog.h"

namespace blocksieve::cli {
namespace {

/// Keeps RocksDB from writing a file LOG into a database that is only read.
class SilentLog : public rocksdb::Logger {
 public:
  using rocksdb::Logger::Logv;
  void Logv(const char*, va_list) override {}
};

// A text that changes when another process adds or removes files.
std::string StateOf(const std::string& path) {
  std::string state;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(path, error)) {
    const std::string name = entry.path().filename();
    if (!name.starts_with("MANIFEST-")) continue;
    std::error_code vanished;
    state += fmt::format("{} {}\n", name, entry.file_size(vanished));
  }
  return state;
}

// Opens all files at once, so that compactions of another process cannot remove one first.
void PrepareForRows(const std::string& family, StoredOptions* options) {
  options->db.max_open_files = -1;
  // RocksDB also requires the default one.
  std::erase_if(options->families, [&](const rocksdb::ColumnFamilyDescriptor& other) {
    return other.name != family && other.name != rocksdb::kDefaultColumnFamilyName;
  });
}

// Opens as few files as RocksDB allows: there may be more than a process can have open. Missing and
// damaged files are still listed.
void PrepareForFileList(StoredOptions* options) {
  options->db.max_open_files = 0;
  options->db.max_file_opening_threads = 1;
  options->db.paranoid_checks = false;
}

// The end of a message that names the table files that cannot be opened: "; unreadable:
// 000012.sst", or "". RocksDB often blames only the MANIFEST.
std::string UnreadableTables(const std::string& path, const rocksdb::Options& options) {
  constexpr size_t kMaxNamed = 5;
  std::vector<std::filesystem::path> unreadable;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(path, error)) {
    if (entry.path().extension() != ".sst") continue;
    rocksdb::SstFileReader reader(options);
    if (!reader.Open(entry.path()).ok()) unreadable.push_back(entry.path().filename());
  }
  std::sort(unreadable.begin(), unreadable.end());
  std::string text;
  for (size_t i = 0; i < std::min(unreadable.size(), kMaxNamed); ++i) {
    text += (i == 0 ? "; unreadable: " : ", ") + unreadable[i].string();
  }
  return unreadable.size() > kMaxNamed ? text + ", ..." : text;
}

using Preparation = std::function<void(StoredOptions*)>;

Database TryOpenReadOnly(const std::string& path, const Preparation& prepare) {
  StoredOptions options = ReadStoredOptions(path, /*strict=*/false);
  options.db.create_if_missing = false;
  prepare(&options);
  return Database(path, std::move(options), Database::Mode::kRead);
}

Database OpenPrepared(const std::string& path, const Preparation& prepare) {
  constexpr int kMaxTries = 20;
  for (int tries = 1;; ++tries) {
    const std::string state = StateOf(path);
    try {
      return TryOpenReadOnly(path, prepare);
    } catch (const term::Failure&) {
      // Another process may have removed files after they were listed.
      if (tries == kMaxTries || StateOf(path) == state) throw;
    }
  }
}

}  // namespace

Database::Database(const std::string& path, StoredOptions options, Mode mode) {
  const bool reads = mode == Mode::kRead;
  if (!reads && HasRocksDb(path)) {
    const std::string why = WhyNotRewritten(path);
    if (!why.empty()) term::Fail("cannot open database {} to write: {}", path, why);
  }
  if (reads) {
    options.db.info_log = std::make_shared<SilentLog>();
  } else {
    options.db.statistics = rocksdb::CreateDBStatistics();
  }
  using rocksdb_plugin::OpenedDb;
  const rocksdb::Status status = rocksdb_plugin::OpenDb(&db_, [&](OpenedDb* opened) {
    return reads
               ? rocksdb::DB::OpenForReadOnly(options.db, path, options.families, &handles_, opened)
               : rocksdb::DB::Open(options.db, path, options.families, &handles_, opened);
  });
  if (status.ok()) return;
  FailToOpen(path, status,
             reads ? UnreadableTables(path, {options.db, options.families.front().options}) : "");
}

Database::~Database() {
  for (rocksdb::ColumnFamilyHandle* const handle : handles_) {
    // Only a null handle is an error.
    db_->DestroyColumnFamilyHandle(handle).PermitUncheckedError();
  }
}

rocksdb::ColumnFamilyHandle* Database::HandleOf(const std::string& family) const {
  const auto found = std::find_if(handles_.begin(), handles_.end(),
                                  [&](const auto* handle) { return handle->GetName() == family; });
  if (found != handles_.end()) return *found;
  std::vector<std::string> names;
  rocksdb::DB::ListColumnFamilies({}, db_->GetName(), &names).PermitUncheckedError();
  FailFamily(family, names);
}

rocksdb::Status Database::Compact(
    const std::function<rocksdb::Status()>& compaction,
    const std::function<void(uint64_t bytes_written)>& waiting) const {
  constexpr auto kPause = std::chrono::milliseconds(100);
  const auto bytes_written = [statistics = db_->GetDBOptions().statistics] {
    return statistics->getTickerCount(rocksdb::COMPACT_WRITE_BYTES);
  };
  const uint64_t before = bytes_written();
  auto result = std::async(std::launch::async, compaction);
  while (result.wait_for(kPause) != std::future_status::ready) waiting(bytes_written() - before);
  return result.get();
}

void CheckOpening(const std::string& path, const OptionsFile& file) {
  StoredOptions options;
  rocksdb::Status status = ParseOptions(file, /*strict=*/false, &options);
  const std::unique_ptr<rocksdb::Env> memory(rocksdb::NewMemEnv(rocksdb::Env::Default()));
  rocksdb::DBOptions& db_options = options.db;
  db_options.env = memory.get();
  db_options.info_log = std::make_shared<SilentLog>();
  db_options.create_if_missing = true;
  db_options.create_missing_column_families = true;
  // Places and file systems that memory lacks.
  db_options.wal_dir = db_options.db_log_dir = "";
  db_options.db_paths.clear();
  db_options.use_direct_reads = db_options.use_direct_io_for_flush_and_compaction = false;
  for (rocksdb::ColumnFamilyDescriptor& family : options.families) family.options.cf_paths.clear();
  std::unique_ptr<rocksdb::DB> db;
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  if (status.ok())
    status = rocksdb_plugin::OpenDb(&db, [&](rocksdb_plugin::OpenedDb* opened) {
      return rocksdb::DB::Open(db_options, "/trial", options.families, &handles, opened);
    });
  for (auto* const handle : handles) db->DestroyColumnFamilyHandle(handle).PermitUncheckedError();
  if (status.ok()) return;
  term::Fail("with these options RocksDB would not open database {}, so nothing was written: {}",
             path, status.ToString());
}

std::string WhyNotRewritten(const std::string& path) {
  if (rocksdb_plugin::CopyOperands()) return "";
  const auto foreign = ForeignMergeOperators(path);
  if (foreign.empty()) return "";
  const Database db = OpenPrepared(path, PrepareForFileList);
  for (const auto& [family, name] : foreign) {
    rocksdb::TablePropertiesCollection tables;
    const rocksdb::Status status = db->GetPropertiesOfAllTables(db.HandleOf(family), &tables);
    if (!status.ok()) term::Fail("cannot read database {}: {}", path, status.ToString());
    uint64_t num_operands = 0;
    for (const auto& [table, properties] : tables) num_operands += properties->num_merge_operands;
    if (num_operands == 0) continue;
    return fmt::format(
        "column family {} has {} of {}, which only its own program has; this RocksDB, {}, rewrites "
        "no files with them",
        family, term::CountOf(num_operands, "operand"), name, rocksdb::GetRocksVersionAsString());
  }
  return "";
}

void WarnIfNotRewritten(const std::string& path) {
  const std::string why = WhyNotRewritten(path);
  if (why.empty()) return;
  term::WriteToStandardError(
      "blocksieve: only the database's own program can rewrite files: " + why + "\n");
}

bool HasRocksDb(const std::string& path) {
  std::error_code error;
  const bool has = std::filesystem::exists(std::filesystem::path(path) / "CURRENT", error);
  if (error && error != std::errc::not_a_directory) {
    term::Fail("cannot open database {}: {}", path, error.message());
  }
  return has;
}

void FailToOpen(const std::string& path, const rocksdb::Status& status, const std::string& more) {
  const std::string text = status.ToString();
  // RocksDB reports errno only as text: EAGAIN if another process has the lock.
  if (text.ends_with(std::generic_category().message(EAGAIN))) {
    throw InUse(
        fmt::format("database {} is in use; close it in the other process: {}", path, text));
  }
  term::Fail("cannot open database {}: {}{}", path, text, more);
}

Database OpenReadOnly(const std::string& path, const std::string& family,
                      std::shared_ptr<rocksdb::TablePropertiesCollectorFactory> index) {
  return OpenPrepared(path, [&](StoredOptions* options) {
    PrepareForRows(family, options);
    for (rocksdb::ColumnFamilyDescriptor& each : options->families) {
      if (index == nullptr || each.name != family) continue;
      each.options.table_properties_collector_factories.push_back(index);
    }
  });
}

std::vector<rocksdb::LiveFileMetaData> LiveFiles(const std::string& path) {
  std::vector<rocksdb::LiveFileMetaData> files;
  OpenPrepared(path, PrepareForFileList)->GetLiveFilesMetaData(&files);
  return files;
}

SkipIndexSummary IndexesOf(const Database& db, const std::string& family) {
  SkipIndexSummary summary;
  const rocksdb::Status status =
      rocksdb_plugin::ReadSkipIndexes(db.get(), db.HandleOf(family), &summary);
  if (!status.ok()) {
    term::Fail("cannot read the indexes of database {}: {}", db->GetName(), status.ToString());
  }
  return summary;
}

}  // namespace blocksieve::cli
