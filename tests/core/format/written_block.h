#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>
#include <set>

#include "blocksieve/bytes.h"
#include "blocksieve/status.h"
#include "lib/base/kernels.h"
#include "tests/support/environment.h"
#include "tests/support/temp_dir.h"

namespace blocksieve::testing {

/// A block for the tests of the byte format, which are the same for all blocks: how it is written
/// and read, and what readers guarantee.
class WrittenBlock {
 public:
  WrittenBlock(std::string block_name, std::string file_extension, uint64_t hash_of_file)
      : name(std::move(block_name)),
        extension(std::move(file_extension)),
        file_hash(hash_of_file) {}
  virtual ~WrittenBlock() = default;

  /// Name of its file in tests/golden.
  const std::string name;
  const std::string extension;
  const uint64_t file_hash;  ///< XXH3 of the file; 0: no file, for tests of damage only.

  bool HasFile() const { return file_hash != 0; }
  std::string FilePath() const { return SourcePath("tests/golden/" + name + extension); }

  /// The file's bytes, or Make() without a file.
  std::string Bytes() const { return HasFile() ? ReadFile(FilePath()) : Make(); }

  /// The bytes of the current writer.
  virtual std::string Make() const = 0;

  /// Whether another writer (a version of zstd) may make other bytes with the same content.
  virtual bool HasOtherForms() const { return false; }

  /// Expects the answers of the golden file, including false positives; every member matches.
  virtual void ExpectGoldenAnswers(ByteView block, Kernel kernel) const = 0;

  /// Whether a reader accepts these bytes, which may be any. If not, expects that everything may
  /// match.
  virtual bool Opens(ByteView bytes) const = 0;

  /// An error if anything is damaged, including bytes that Opens does not read.
  virtual Status Verify(ByteView bytes) const = 0;

  /// Makes every kind of probe of bytes that open. Any answer is correct, but all kernels must
  /// agree, and none may read out of bounds.
  virtual std::string ProbeAll(ByteView bytes, Kernel kernel) const = 0;

  /// Makes all other uses of bytes that open.
  virtual void UseAll(ByteView) const {}

  /// Expects the guarantees for any bytes: if they do not open, Verify returns an error, too; if
  /// they do, all kernels agree. Returns whether they open.
  bool ExpectHarmless(ByteView bytes) const {
    if (!Opens(bytes)) {
      EXPECT_FALSE(Verify(bytes).ok());
      return false;
    }
    std::set<std::string> answers;
    for (const Kernel kernel : internal::AvailableKernels())
      answers.insert(ProbeAll(bytes, kernel));
    EXPECT_EQ(answers.size(), 1u) << "of all kernels";
    return true;
  }

  /// The bytes with corrected checksums, as far as they are readable.
  virtual std::optional<std::string> Reseal(ByteView bytes) const = 0;

  /// The part of Bytes() that describes the rest (a footer, a header), without its checksum.
  struct Range {
    size_t begin;
    size_t end;
    bool Has(size_t at) const { return begin <= at && at < end; }
  };
  virtual Range Fields(ByteView block) const = 0;

  /// Position of the format version in that part.
  virtual size_t VersionAt(ByteView block) const = 0;

  /// A byte for that position: a version that no reader supports.
  virtual uint8_t NewerVersion(ByteView) const { return 77; }

  /// What the error then says.
  virtual std::string NewerText(ByteView) const { return "format version is 77"; }

  /// Number of bytes at the front that Opens does not read, to take constant time; and how many of
  /// the first three members are lost if these are damaged.
  virtual size_t UncheckedBytes(ByteView) const { return 0; }
  virtual uint64_t CountDenied(ByteView) const { return 0; }
};

using WrittenBlockPtr = std::shared_ptr<const WrittenBlock>;

inline void PrintTo(const WrittenBlockPtr& block, std::ostream* out) { *out << block->name; }

/// The tables of blocks: all tests run on every row.
std::vector<WrittenBlockPtr> WrittenFilters();     // written_filters.cc
std::vector<WrittenBlockPtr> WrittenContainers();  // written_containers.cc
std::vector<WrittenBlockPtr> WrittenIndexes();     // written_indexes.cc

inline std::vector<WrittenBlockPtr> AllWrittenBlocks() {
  std::vector<WrittenBlockPtr> all = WrittenFilters();
  for (WrittenBlockPtr& bloom : WrittenContainers()) all.push_back(std::move(bloom));
  for (WrittenBlockPtr& index : WrittenIndexes()) all.push_back(std::move(index));
  return all;
}

/// For INSTANTIATE_TEST_SUITE_P.
inline std::string NameOfBlock(const ::testing::TestParamInfo<WrittenBlockPtr>& info) {
  std::string name = info.param->name;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

}  // namespace blocksieve::testing
