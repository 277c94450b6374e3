// SPDX-License-Identifier: Apache-2.0

#include "blocksieve/skip_index.h"
#include "integration/rocksdb/sidecar/file.h"
#include "tests/fuzz/fuzz.h"
#include "tests/support/reseal.h"

// Any bytes as a sidecar. An index with some of its columns read answers like the whole index.

namespace blocksieve {
namespace {

using namespace blocksieve::testing;  // NOLINT: test support

class Memory final : public SkipIndexSource {
 public:
  explicit Memory(ByteView bytes) : bytes_(bytes) {}

  uint64_t num_bytes() const override { return bytes_.size(); }
  Status Read(uint64_t offset, std::span<uint8_t> to) override {
    Require(offset <= bytes_.size() && to.size() <= bytes_.size() - offset,
            "no byte outside the index is read");
    std::copy_n(bytes_.begin() + static_cast<ptrdiff_t>(offset), to.size(), to.begin());
    return Status::Ok();
  }

 private:
  const ByteView bytes_;
};

void CheckSource(ByteView index) {
  static const std::vector<Column> columns = {*Column::Parse("package=field:1"),
                                              *Column::Parse("number=int:2"),
                                              *Column::Parse("word=words:3")};
  static const Predicate predicate = *Predicate::Parse("package = 'p7' OR number > 3", columns);
  Memory source(index);
  const Result<SkipIndex> part = SkipIndex::Read(&source, predicate.columns());
  const Result<SkipIndex> whole = SkipIndex::Open(index);
  Require(whole.ok() == SkipIndex::Read(&source).ok(), "a source makes no difference");
  if (!whole.ok()) return;  // the damage may be in a column that was not read
  Require(part.ok(), "columns of a readable index can be read");
  Require(part->Candidates(predicate) == whole->Candidates(predicate),
          "an index of some columns prunes as the whole one");
}

}  // namespace
}  // namespace blocksieve

void blocksieve::testing::TestOneInput(ByteView bytes) {
  using namespace rocksdb_plugin;
  uint64_t needed_bytes = 0;
  const auto header = DecodeSidecarHeader(bytes, bytes.size(), &needed_bytes);
  if (header) {
    Require(needed_bytes + header->index_bytes == bytes.size(), "the lengths add up");
    Require(EncodeSidecarHeader(*header) == AsText(bytes.first(static_cast<size_t>(needed_bytes))),
            "a header is written as it was read");
  }
  CheckSource(bytes.subspan(std::min(bytes.size(), kSidecarHeaderBytes)));
  CheckSource(bytes);
  if (const auto sealed = ResealSkipIndex(bytes)) CheckSource(AsBytes(*sealed));
}
