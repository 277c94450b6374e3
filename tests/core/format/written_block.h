#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <ostream>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "blocksieve/bytes.h"
#include "blocksieve/status.h"
#include "lib/base/kernels.h"
#include "tests/support/source_path.h"

namespace blocksieve::testing {

/// A block that we write, and what the tests of the byte format must know of it: how it is made,
/// how it is read, and what readers promise of it. The tests are the same for all.
class WrittenBlock {
 public:
  virtual ~WrittenBlock() = default;

  /// Of its file in tests/golden.
  std::string name;
  std::string extension;
  uint64_t file_hash = 0;  ///< HashKey of the file; 0: there is no file, the block is only damaged.

  bool HasFile() const { return file_hash != 0; }
  std::string FilePath() const { return SourcePath("tests/golden/" + name + extension); }

  /// The file's bytes, or those of Make() if there is no file.
  std::string Bytes() const {
    if (!HasFile()) return Make();
    std::ifstream file(FilePath(), std::ios::binary);
    EXPECT_TRUE(file.is_open()) << FilePath();
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }

  /// The bytes of today's writer.
  virtual std::string Make() const = 0;

  /// Whether another writer (a version of zstd) may make other bytes that say the same.
  virtual bool HasOtherForms() const { return false; }

  /// Expects the answers of the golden file, the wrong ones included; no member is denied.
  virtual void ExpectGoldenAnswers(ByteView block, Kernel kernel) const = 0;

  /// Whether a reader accepts these bytes, whatever they are. Expects that it denies nothing if
  /// not.
  virtual bool Opens(ByteView bytes) const = 0;

  /// An error if anything is damaged, also where Opens does not look.
  virtual Status Verify(ByteView bytes) const = 0;

  /// Every probe there is, of bytes that open. The answers are of no interest, but all kernels must
  /// give the same, and none may read out of bounds.
  virtual std::string AskAll(ByteView bytes, Kernel kernel) const = 0;

  /// Everything else that can be done with bytes that open.
  virtual void UseAll(ByteView) const {}

  /// Expects what is promised of any bytes: that what does not open is an error for Verify, too,
  /// and that all kernels answer alike if it does. Returns whether it opens.
  bool ExpectHarmless(ByteView bytes) const {
    if (!Opens(bytes)) {
      EXPECT_FALSE(Verify(bytes).ok());
      return false;
    }
    std::set<std::string> answers;
    for (const Kernel kernel : internal::AvailableKernels()) answers.insert(AskAll(bytes, kernel));
    EXPECT_EQ(answers.size(), 1u) << "of all kernels";
    return true;
  }

  /// The bytes with checksums that are right for them, as far as they can be read.
  virtual std::optional<std::string> Reseal(ByteView bytes) const = 0;

  /// The part of Bytes() that says what the rest is (a footer, a header), without its checksum.
  struct Range {
    size_t begin;
    size_t end;
    bool Has(size_t at) const { return begin <= at && at < end; }
  };
  virtual Range Fields(ByteView block) const = 0;

  /// Where in it the format's version is.
  virtual size_t VersionAt(ByteView block) const = 0;

  /// A byte for that place that means a version that no reader knows.
  virtual uint8_t NewerVersion(ByteView) const { return 77; }

  /// Bytes at the front that Opens does not look at, so that it takes constant time; and how many
  /// of the first three members are denied if these are damaged.
  virtual size_t UncheckedBytes(ByteView) const { return 0; }
  virtual uint64_t CountDenied(ByteView) const { return 0; }

  /// Bytes at the front that are a block of their own; 0 if there are no such. Nobody can tell that
  /// others followed them.
  virtual size_t SoundBytes(ByteView) const { return 0; }
};

using WrittenBlockPtr = std::shared_ptr<const WrittenBlock>;

inline void PrintTo(const WrittenBlockPtr& block, std::ostream* out) { *out << block->name; }

/// The tables: one more row there runs every test on one more block.
std::vector<WrittenBlockPtr> WrittenFilters();  // written_filters.cc
std::vector<WrittenBlockPtr> WrittenRanges();   // written_ranges.cc
std::vector<WrittenBlockPtr> WrittenIndexes();  // written_indexes.cc

inline std::vector<WrittenBlockPtr> AllWrittenBlocks() {
  std::vector<WrittenBlockPtr> all = WrittenFilters();
  for (WrittenBlockPtr& ranges : WrittenRanges()) all.push_back(std::move(ranges));
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
