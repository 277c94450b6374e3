// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <rocksdb/env.h>
#include <rocksdb/table.h>
#include <rocksdb/version.h>

#include <cstdlib>
#include <memory>
#include <string>

#include "blocksieve/c.h"
#include "blocksieve/rocksdb.h"

// A RocksDB that blocksieve must not be used with. This program overrides functions of RocksDB, so
// that the plug-in sees another RocksDB. A process checks once, so each case has its own process.

namespace {

std::string loaded_version;

class EnvWithoutFiles : public rocksdb::EnvWrapper {
 public:
  using EnvWrapper::EnvWrapper;
  rocksdb::Status NewWritableFile(const std::string&, std::unique_ptr<rocksdb::WritableFile>*,
                                  const rocksdb::EnvOptions&) override {
    return rocksdb::Status::IOError("no files here");
  }
};

}  // namespace

namespace rocksdb {

[[gnu::visibility("default")]] std::string GetRocksVersionAsString(bool) { return loaded_version; }

[[gnu::visibility("default")]] Env* NewMemEnv(Env* base) { return new EnvWithoutFiles(base); }

}  // namespace rocksdb

namespace blocksieve {
namespace {

using ::testing::ExitedWithCode;

const std::string kSupported = std::to_string(ROCKSDB_MAJOR) + "." + std::to_string(ROCKSDB_MINOR) +
                               "." + std::to_string(ROCKSDB_PATCH);

/// Ends the process, with 0 if the options were refused for this reason and left unchanged.
[[noreturn]] void EnableWith(const std::string& version, const EnableOptions& filter,
                             const std::string& reason) {
  loaded_version = version;
  rocksdb::Options options;
  const rocksdb::Status status = Enable(&options, filter);
  const auto* const table = options.table_factory->GetOptions<rocksdb::BlockBasedTableOptions>();
  const bool is_enabled = table->filter_policy != nullptr;
  const bool is_refused = status.IsNotSupported() && !is_enabled;
  std::exit(reason.empty() ? !(status.ok() && is_enabled)
                           : !(is_refused && status.ToString().find(reason) != std::string::npos));
}

TEST(RefusedRocksDbTest, OfAnotherInterfaceOrFailingTheSelfTest) {
  EXPECT_EXIT(EnableWith(kSupported, {.target_fpr = 0.01}, ""), ExitedWithCode(0), "");
  EXPECT_EXIT(EnableWith("12.0.0", {.target_fpr = 0.01},
                         "the loaded RocksDB is 12.0.0, whose filter interface is"),
              ExitedWithCode(0), "");
  EXPECT_EXIT(EnableWith(kSupported, {.ranges = true, .carrier = Carrier::kFilterAndSidecar},
                         "range filters do not work with RocksDB"),
              ExitedWithCode(0), "no files here");
}

// With another minor version, C++ programs are linked anew, but not those in other languages.
TEST(RefusedRocksDbTest, OfAnotherMinorVersionInC) {
  const auto create = [](const std::string& version, const std::string& reason) {
    loaded_version = version;
    char* error = nullptr;
    const bool is_made = blocksieve_filterpolicy_create("blocksieve:0.01", &error) != nullptr;
    std::exit(is_made || std::string(error).find(reason) == std::string::npos);
  };
  const std::string patch =
      std::to_string(ROCKSDB_MAJOR) + "." + std::to_string(ROCKSDB_MINOR) + "1.0";
  EXPECT_EXIT(create(patch, "the loaded RocksDB is " + patch), ExitedWithCode(0), "");
  EXPECT_EXIT(create("12.0.0", "the loaded RocksDB is 12.0.0"), ExitedWithCode(0), "");
}

}  // namespace
}  // namespace blocksieve
