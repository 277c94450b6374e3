#include "integration/cli/database/table/table_lookup.h"

#include <rocksdb/env.h>
#include <rocksdb/file_system.h>
#include <rocksdb/metadata.h>

#include <filesystem>
#include <utility>

#include "blocksieve/rocksdb/filter_policy.h"
#include "integration/cli/database/table/opened_table.h"
#include "integration/rocksdb/compat/open_db.h"
#include "lib/base/coding.h"

namespace blocksieve::cli {
namespace {

constexpr char kDirectory[] = "/table";

using rocksdb::FileOptions;
using rocksdb::IODebugContext;
using rocksdb::IOOptions;
using rocksdb::IOStatus;

/// A file system in memory with one real file, which can be linked and is read in place.
class OneFileBesideMemory final : public rocksdb::FileSystemWrapper {
 public:
  OneFileBesideMemory(const std::shared_ptr<rocksdb::FileSystem>& memory, std::string file)
      : FileSystemWrapper(memory), file_(std::move(file)) {}

  const char* Name() const override { return "blocksieve.one_file_beside_memory"; }

  IOStatus LinkFile(const std::string& source, const std::string& target, const IOOptions& options,
                    IODebugContext* context) override {
    if (source != file_) return FileSystemWrapper::LinkFile(source, target, options, context);
    link_ = target;
    return IOStatus::OK();
  }
  IOStatus DeleteFile(const std::string& name, const IOOptions& options,
                      IODebugContext* context) override {
    return Is(name) ? IOStatus::OK() : FileSystemWrapper::DeleteFile(name, options, context);
  }
  IOStatus NewRandomAccessFile(const std::string& name, const FileOptions& options,
                               std::unique_ptr<rocksdb::FSRandomAccessFile>* file,
                               IODebugContext* context) override {
    return Is(name) ? Real().NewRandomAccessFile(file_, options, file, context)
                    : FileSystemWrapper::NewRandomAccessFile(name, options, file, context);
  }
  IOStatus NewSequentialFile(const std::string& name, const FileOptions& options,
                             std::unique_ptr<rocksdb::FSSequentialFile>* file,
                             IODebugContext* context) override {
    return Is(name) ? Real().NewSequentialFile(file_, options, file, context)
                    : FileSystemWrapper::NewSequentialFile(name, options, file, context);
  }
  IOStatus ReopenWritableFile(const std::string& name, const FileOptions& options,
                              std::unique_ptr<rocksdb::FSWritableFile>* file,
                              IODebugContext* context) override {
    // RocksDB would sync the linked file.
    return Is(name) ? IOStatus::NotSupported("read-only: " + name)
                    : FileSystemWrapper::ReopenWritableFile(name, options, file, context);
  }
  IOStatus FileExists(const std::string& name, const IOOptions& options,
                      IODebugContext* context) override {
    return Is(name) ? IOStatus::OK() : FileSystemWrapper::FileExists(name, options, context);
  }
  IOStatus GetFileSize(const std::string& name, const IOOptions& options, uint64_t* size,
                       IODebugContext* context) override {
    return Is(name) ? Real().GetFileSize(file_, options, size, context)
                    : FileSystemWrapper::GetFileSize(name, options, size, context);
  }

 private:
  static rocksdb::FileSystem& Real() { return *rocksdb::FileSystem::Default(); }
  bool Is(const std::string& name) const { return name == file_ || name == link_; }

  const std::string file_;
  std::string link_;
};

// The largest sequence number of the file. Ingested files may record a global one, which RocksDB
// requires here, too; for others any number after all keys works.
uint64_t LastSequenceNumber(const rocksdb::TableProperties& properties) {
  constexpr uint64_t kAfterAllKeys = uint64_t{1} << 55;
  const auto& user = properties.user_collected_properties;
  const auto found = user.find("rocksdb.external_sst_file.global_seqno");
  if (found == user.end() || found->second.size() != sizeof(uint64_t)) return kAfterAllKeys;
  return LoadLittleEndian<uint64_t>(AsBytes(found->second).data());
}

rocksdb::ExportImportFilesMetaData Describe(const std::filesystem::path& path, uint64_t bytes,
                                            const rocksdb::TableProperties& properties,
                                            const rocksdb::Comparator& comparator) {
  rocksdb::LiveFileMetaData file;
  file.db_path = path.parent_path();
  file.directory = file.db_path;
  file.name = path.filename();
  file.relative_filename = file.name;
  file.size = bytes;
  file.level = 1;
  file.largest_seqno = LastSequenceNumber(properties);
  rocksdb::ExportImportFilesMetaData described;
  described.db_comparator_name = comparator.Name();
  described.files = {file};
  return described;
}

}  // namespace

rocksdb::Status TableLookup::Open(const std::string& path, const rocksdb::Options& options,
                                  const rocksdb::TableProperties& properties,
                                  std::unique_ptr<TableLookup>* lookup) {
  const std::string file = std::filesystem::absolute(path);
  uint64_t bytes = 0;
  rocksdb::Status status = rocksdb::Env::Default()->GetFileSize(file, &bytes);
  if (!status.ok()) return status;

  std::unique_ptr<TableLookup> made(new TableLookup);
  made->memory_.reset(rocksdb::NewMemEnv(rocksdb::Env::Default()));
  made->env_ = rocksdb::NewCompositeEnv(
      std::make_shared<OneFileBesideMemory>(made->memory_->GetFileSystem(), file));
  made->last_time_ = LastTime(*options.comparator);
  made->until_ = made->last_time_;
  if (!made->last_time_.empty()) made->read_options_.timestamp = &made->until_;

  rocksdb::Options db_options = options;
  db_options.env = made->env_.get();
  db_options.create_if_missing = true;
  db_options.disable_auto_compactions = true;
  db_options.stats_dump_period_sec = 0;
  db_options.stats_persist_period_sec = 0;
  status = rocksdb_plugin::OpenDb(db_options, kDirectory, &made->db_);
  if (!status.ok()) return status;
  rocksdb::ImportColumnFamilyOptions import;
  import.move_files = true;  // links it
  status = made->db_->CreateColumnFamilyWithImport(
      db_options, "table", import, Describe(file, bytes, properties, *options.comparator),
      &made->family_);
  if (status.ok()) *lookup = std::move(made);
  return status;
}

TableLookup::~TableLookup() {
  for (auto& iterator : iterators_) iterator = nullptr;
  if (family_ != nullptr) db_->DestroyColumnFamilyHandle(family_);
}

rocksdb::Status TableLookup::Get(const rocksdb::Slice& key) {
  rocksdb::PinnableSlice value;
  const rocksdb::Status status = db_->Get(read_options_, family_, key, &value);
  return status.IsNotFound() ? rocksdb::Status::OK() : status;
}

rocksdb::Status TableLookup::Seek(const rocksdb::Slice& begin,
                                  const std::optional<rocksdb::Slice>& end) {
  end_ = end.value_or(rocksdb::Slice());
  std::unique_ptr<rocksdb::Iterator>& iterator = iterators_[end ? 1 : 0];
  if (iterator == nullptr) {
    rocksdb::ReadOptions options = read_options_;
    if (end) PrepareRangeRead(&end_, &options);
    iterator.reset(db_->NewIterator(options, family_));
  }
  iterator->Seek(begin);
  return iterator->status();
}

}  // namespace blocksieve::cli
