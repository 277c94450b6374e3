#include <rocksdb/env.h>
#include <rocksdb/file_system.h>
#include <rocksdb/metadata.h>

#include <filesystem>
#include <utility>

#include "blocksieve/rocksdb/filter_policy.h"
#include "integration/cli/database/table/table_file.h"
#include "integration/cli/term/terminal.h"
#include "integration/rocksdb/compat/open_db.h"
#include "lib/base/coding.h"

namespace blocksieve::cli {
namespace {

constexpr char kDirectory[] = "/table";
constexpr char kCannotProbe[] = "cannot probe the filters";

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
    return PlaceOf(name).NewRandomAccessFile(NameOf(name), options, file, context);
  }
  IOStatus NewSequentialFile(const std::string& name, const FileOptions& options,
                             std::unique_ptr<rocksdb::FSSequentialFile>* file,
                             IODebugContext* context) override {
    return PlaceOf(name).NewSequentialFile(NameOf(name), options, file, context);
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
    return PlaceOf(name).GetFileSize(NameOf(name), options, size, context);
  }

 private:
  bool Is(const std::string& name) const { return name == file_ || name == link_; }
  rocksdb::FileSystem& PlaceOf(const std::string& name) const {
    return Is(name) ? *rocksdb::FileSystem::Default() : *target();
  }
  const std::string& NameOf(const std::string& name) const { return Is(name) ? file_ : name; }

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

TableLookup::TableLookup(const std::string& path, uint64_t num_bytes, rocksdb::Options options,
                         const rocksdb::TableProperties& properties, const rocksdb::Slice* time)
    : memory_(rocksdb::NewMemEnv(rocksdb::Env::Default())),
      env_(rocksdb::NewCompositeEnv(std::make_shared<OneFileBesideMemory>(
          memory_->GetFileSystem(), std::filesystem::absolute(path)))) {
  read_options_.timestamp = time;
  options.table_factory = rocksdb_plugin::TablesWith(captured_.policy());
  options.env = env_.get();
  options.create_if_missing = true;
  options.disable_auto_compactions = true;
  options.stats_dump_period_sec = options.stats_persist_period_sec = 0;
  term::CheckOk(rocksdb_plugin::OpenDb(options, kDirectory, &db_), kCannotProbe);
  rocksdb::ImportColumnFamilyOptions import;
  import.move_files = true;  // links it
  const auto file =
      Describe(std::filesystem::absolute(path), num_bytes, properties, *options.comparator);
  term::CheckOk(db_->CreateColumnFamilyWithImport(options, "table", import, file, &family_),
                kCannotProbe);
}

TableLookup::~TableLookup() {
  for (auto& iterator : iterators_) iterator = nullptr;
  db_->DestroyColumnFamilyHandle(family_).PermitUncheckedError();
}

std::optional<bool> TableLookup::AnswerAfter(const rocksdb::Status& lookup) {
  if (!lookup.IsNotFound()) term::CheckOk(lookup, kCannotProbe);
  return captured_.TakeAnswer();
}

std::optional<bool> TableLookup::Get(const rocksdb::Slice& key) {
  rocksdb::PinnableSlice value;
  return AnswerAfter(db_->Get(read_options_, family_, key, &value));
}

std::optional<bool> TableLookup::Seek(const rocksdb::Slice& begin,
                                      const std::optional<rocksdb::Slice>& end) {
  end_ = end.value_or(rocksdb::Slice());
  std::unique_ptr<rocksdb::Iterator>& iterator = iterators_[end ? 1 : 0];
  if (iterator == nullptr) {
    rocksdb::ReadOptions options = read_options_;
    if (end) PrepareRangeRead(&end_, &options);
    iterator.reset(db_->NewIterator(options, family_));
  }
  iterator->Seek(begin);
  return AnswerAfter(iterator->status());
}

}  // namespace blocksieve::cli
