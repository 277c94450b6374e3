// SPDX-License-Identifier: Apache-2.0
#include "integration/files/files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rocksdb/env.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <utility>

#include "tests/support/temp_dir.h"

namespace blocksieve::files {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kText = "of the original";

/// A directory that may change, and one beside it that must not.
class GuardedFileSystemTest : public ::testing::Test {
 protected:
  GuardedFileSystemTest() {
    fs::create_directory(own_);
    fs::create_directory(other_);
    Write(other_ + "/000001.log");
  }

  static void Write(const std::string& path) {
    ASSERT_TRUE(rocksdb::WriteStringToFile(rocksdb::Env::Default(), kText, path).ok());
  }
  static std::string Read(const std::string& path) {
    std::string text;
    rocksdb::ReadFileToString(rocksdb::Env::Default(), path, &text).PermitUncheckedError();
    return text;
  }

  // Everything that changes the file `path`, or creates it.
  static constexpr const char* kChanges[] = {"NewWritableFile",
                                             "ReopenWritableFile",
                                             "ReuseWritableFile",
                                             "NewRandomRWFile",
                                             "NewMemoryMappedFileBuffer",
                                             "Truncate",
                                             "NewLogger",
                                             "DeleteFile",
                                             "RenameFile from",
                                             "RenameFile to",
                                             "LinkFile",
                                             "LockFile",
                                             "CreateDir",
                                             "CreateDirIfMissing",
                                             "DeleteDir"};
  static rocksdb::IOStatus Change(const std::string& change, GuardedFileSystem* guard,
                                  const std::string& path) {
    const rocksdb::FileOptions file;
    const rocksdb::IOOptions io;
    std::unique_ptr<rocksdb::FSWritableFile> made;
    std::unique_ptr<rocksdb::FSRandomRWFile> random;
    std::unique_ptr<rocksdb::MemoryMappedFileBuffer> mapped;
    std::shared_ptr<rocksdb::Logger> log;
    if (change == "NewWritableFile") return guard->NewWritableFile(path, file, &made, nullptr);
    if (change == "ReopenWritableFile") {
      return guard->ReopenWritableFile(path, file, &made, nullptr);
    }
    if (change == "ReuseWritableFile") {
      return guard->ReuseWritableFile(path + "x", path, file, &made, nullptr);
    }
    if (change == "NewRandomRWFile") return guard->NewRandomRWFile(path, file, &random, nullptr);
    if (change == "NewMemoryMappedFileBuffer")
      return guard->NewMemoryMappedFileBuffer(path, &mapped);
    if (change == "Truncate") return guard->Truncate(path, 1, io, nullptr);
    if (change == "NewLogger") return guard->NewLogger(path, io, &log, nullptr);
    if (change == "DeleteFile") return guard->DeleteFile(path, io, nullptr);
    if (change == "RenameFile from") return guard->RenameFile(path, path + "x", io, nullptr);
    if (change == "RenameFile to") return guard->RenameFile(path, path, io, nullptr);
    if (change == "LinkFile") return guard->LinkFile(path, path + "y", io, nullptr);
    if (change == "CreateDir") return guard->CreateDir(path + "z", io, nullptr);
    if (change == "CreateDirIfMissing") return guard->CreateDirIfMissing(path + "w", io, nullptr);
    if (change == "DeleteDir") {
      return guard->DeleteDir(fs::path(path).parent_path() / "empty", io, nullptr);
    }
    rocksdb::FileLock* lock = nullptr;
    rocksdb::IOStatus status = guard->LockFile(path, io, &lock, nullptr);
    if (lock != nullptr) guard->UnlockFile(lock, io, nullptr).PermitUncheckedError();
    return status;
  }

  const testing::TempDir dir_;
  const std::string own_ = dir_ / "own";
  const std::string other_ = dir_ / "other";
};

TEST_F(GuardedFileSystemTest, RefusesEveryChangeElsewhere) {
  fs::create_directory(other_ + "/empty");
  fs::create_symlink(other_, own_ + "/link");
  for (const std::string& path :
       {other_ + "/000001.log", own_ + "/../other/000001.log", own_ + "/link/000001.log"}) {
    for (const char* const change : kChanges) {
      SCOPED_TRACE(path + ": " + change);
      const auto guard = NewGuardedFileSystem({{own_}});
      EXPECT_THAT(Change(change, guard.get(), path).ToString(),
                  HasSubstr("not changed, as this command"));
      EXPECT_EQ(guard->refused().size(), 1U);
    }
  }
  const auto guard = NewGuardedFileSystem({{own_}});
  const std::string moved = own_ + "/link/moved";
  EXPECT_FALSE(guard->RenameFile(own_ + "/link", moved, rocksdb::IOOptions(), nullptr).ok());
  EXPECT_EQ(Read(other_ + "/000001.log"), kText);
  EXPECT_EQ(std::distance(fs::directory_iterator(other_), {}), 2);
}

TEST_F(GuardedFileSystemTest, AllowsEveryChangeInItsDirectory) {
  for (const char* const change : kChanges) {
    SCOPED_TRACE(change);
    fs::create_directory(own_ + "/empty");
    fs::remove(own_ + "/000001.logy");
    Write(own_ + "/000001.log");
    const auto guard = NewGuardedFileSystem({{own_}});
    const rocksdb::IOStatus status = Change(change, guard.get(), own_ + "/000001.log");
    EXPECT_TRUE(status.ok() || status.IsNotSupported()) << status.ToString();
    EXPECT_THAT(guard->refused(), IsEmpty());
  }
}

TEST_F(GuardedFileSystemTest, ReadsEverywhereAndWritesNothingWithoutDirectories) {
  const auto guard = NewGuardedFileSystem({});
  std::unique_ptr<rocksdb::FSSequentialFile> file;
  EXPECT_TRUE(
      guard->NewSequentialFile(other_ + "/000001.log", rocksdb::FileOptions(), &file, nullptr)
          .ok());
  EXPECT_FALSE(guard->DeleteFile(own_ + "/x.trash", rocksdb::IOOptions(), nullptr).ok());
  EXPECT_TRUE(guard->CreateDirIfMissing(other_, rocksdb::IOOptions(), nullptr).ok());
}

TEST_F(GuardedFileSystemTest, NeverOpensSharedFilesToWrite) {
  fs::create_hard_link(other_ + "/000001.log", own_ + "/000001.log");
  fs::create_symlink(other_ + "/000001.log", own_ + "/000002.log");
  fs::create_symlink(other_ + "/missing", own_ + "/000003.log");
  for (const std::string kind : kChanges) {
    if (kind.find("File") == std::string::npos || kind.starts_with("Rename") ||
        kind == "DeleteFile" || kind == "LinkFile" || kind == "LockFile") {
      continue;
    }
    for (const char* const file : {"/000001.log", "/000002.log", "/000003.log"}) {
      if (kind == "NewWritableFile" && file == std::string("/000001.log")) continue;
      SCOPED_TRACE(kind + file);
      const auto guard = NewGuardedFileSystem({{own_}});
      EXPECT_THAT(Change(kind, guard.get(), own_ + file).ToString(), HasSubstr("not changed, as"));
    }
  }
  // A new file takes the name alone.
  std::unique_ptr<rocksdb::FSWritableFile> made;
  const auto guard = NewGuardedFileSystem({{own_}});
  EXPECT_TRUE(
      guard->NewWritableFile(own_ + "/000001.log", rocksdb::FileOptions(), &made, nullptr).ok());
  EXPECT_EQ(Read(own_ + "/000001.log"), "");
  EXPECT_EQ(Read(other_ + "/000001.log"), kText);
  EXPECT_FALSE(fs::exists(other_ + "/missing"));
}

TEST_F(GuardedFileSystemTest, ChangesOnlySidecarsWhereToldSo) {
  const auto guard = NewGuardedFileSystem({{own_, /*only_sidecars=*/true}});
  std::unique_ptr<rocksdb::FSWritableFile> made;
  for (const auto& [name, is_allowed] :
       {std::pair{"/000001.bsx.tmp", true}, {"/000001.bsx", true}, {"/000001.sst", false}}) {
    EXPECT_EQ(guard->NewWritableFile(own_ + name, rocksdb::FileOptions(), &made, nullptr).ok(),
              is_allowed)
        << name;
  }
}

TEST_F(GuardedFileSystemTest, KeepsOptionsFilesAndWritesNone) {
  Write(own_ + "/OPTIONS-000007");
  const auto guard = NewGuardedFileSystem({{own_}}, own_);
  const auto env = rocksdb::NewCompositeEnv(guard);
  const auto write = [&](const char* name) {
    return rocksdb::WriteStringToFile(env.get(), "RocksDB's", own_ + name).ToString();
  };
  EXPECT_THAT(write("/OPTIONS-000007"), HasSubstr("keeps the OPTIONS files"));
  for (const char* const name : {"/OPTIONS-000007", "/OPTIONS-000009"}) {
    ASSERT_EQ(write("/OPTIONS-000009.dbtmp"), "OK");
    EXPECT_TRUE(env->RenameFile(own_ + "/OPTIONS-000009.dbtmp", own_ + name).ok());
  }
  EXPECT_FALSE(env->RenameFile(own_ + "/OPTIONS-000007", own_ + "/x").ok());
  EXPECT_TRUE(env->DeleteFile(own_ + "/OPTIONS-000007").ok());
  EXPECT_EQ(Read(own_ + "/OPTIONS-000007"), kText);
  EXPECT_EQ(std::distance(fs::directory_iterator(own_), {}), 1);
  EXPECT_THAT(guard->refused(), IsEmpty());
}

}  // namespace
}  // namespace blocksieve::files
