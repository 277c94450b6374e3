// SPDX-License-Identifier: Apache-2.0
#include "lib/ribbon/builder.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <vector>

#include "lib/base/coding.h"
#include "lib/ribbon/chunk.h"
#include "lib/ribbon/probe.h"
#include "lib/ribbon/retrieval.h"
#include "lib/ribbon/shape.h"
#include "lib/ribbon/shards.h"
#include "lib/ribbon/solver.h"

namespace blocksieve::internal {
namespace {

// Slots that a buffer has room for: chunks waste a slot in two thousand, and a widened one up to
// 256.
uint64_t CapacityOctets(uint64_t num_keys) { return (num_keys + num_keys / 128 + 1024) / 8; }

}  // namespace

/// Appends chunks to a filter. Until the system is solved, the output holds the fingerprint of each
/// slot in the place of its solution: segment i starts at word i * columns. The fingerprints of the
/// additional column of wide segments are kept separately, because the number of wide segments
/// depends on the number of slots, which is known at the end.
class RibbonWriter {
 public:
  RibbonWriter(const Layout& layout, const RibbonSolver& solver, uint64_t num_keys,
               uint64_t num_chunks, RibbonBlocks* blocks, uint8_t* out)
      : columns_(layout.num_probes),
        wide_share_(RibbonWideShare(layout)),
        solver_(solver),
        fingerprint_columns_(columns_ + (wide_share_ > 0 ? 1 : 0)),
        num_chunks_(num_chunks),
        capacity_(CapacityOctets(num_keys)),
        chunk_(solver, fingerprint_columns_),
        pivots_(blocks),
        out_(out) {
    if (wide_share_ > 0) extra_plane_.resize(capacity_ + 8);
    entries_.reserve(num_chunks + 1);
  }

  /// Solves the next chunk, with results in place of fingerprints unless they are empty.
  void AddChunk(std::span<uint64_t> hashes, std::span<const uint32_t> results, bool last) {
    if (entries_.size() % kRibbonGroup == 0) bases_.push_back(static_cast<uint32_t>(octet_));
    const bool reachable = octet_ - bases_.back() <= kRibbonEntryMask;
    // Room for the maximum number of columns of the chunk, and the end of the filter.
    const bool fits = pivots_.size() / 8 + hashes.size() / 8 + 64 <= capacity_;
    if (reachable && fits && chunk_.Solve(hashes, results, octet_, last)) {
      AddEntry(chunk_.seed());
      octet_ += chunk_.num_octets();
      TakeColumns();
      return;
    }
    AddEntry(0);
    has_always_true_chunks_ = true;
    if (last) {
      // The carried rows still need pivots.
      chunk_.Solve({}, {}, octet_, true);
      TakeColumns();
    }
  }

  RibbonShape Finish() {
    RibbonShape shape;
    shape.columns = columns_;
    shape.octets = pivots_.size() / kRibbonOctet;
    shape.chunks = num_chunks_;
    shape.narrow_segments = RibbonNarrowSegments(shape.octets, wide_share_);
    if (num_chunks_ == 1) shape.seed = entries_.front() >> 12u;
    AddEntry(0);
    Solve(shape);
    WriteDirectory(shape);
    shape.has_always_true_chunks = has_always_true_chunks_;
    return shape;
  }

 private:
  void AddEntry(uint32_t seed) {
    entries_.push_back(static_cast<uint16_t>(RibbonMultiplier(seed, octet_)));
  }

  void TakeColumns() {
    const uint32_t columns = columns_;
    const uint32_t groups = RibbonPlaneGroups(fingerprint_columns_);
    const uint8_t* planes = chunk_.planes();
    const size_t first_octet = pivots_.size() / 8;
    const size_t num_octets = chunk_.num_columns() / 8;
    for (size_t i = 0; i < num_octets; ++i) {
      const size_t octet = first_octet + i;
      uint8_t* to = out_ + octet / 8 * columns * 8 + octet % 8;
      for (uint32_t j = 0; j < columns; ++j) to[j * 8] = planes[j];
      if (columns < fingerprint_columns_) extra_plane_[octet] = planes[columns];
      planes += 8 * groups;
    }
    pivots_.Append(chunk_.pivots(), chunk_.num_columns());
  }

  // From the last segment to the first. No segment's final place is before that of its
  // fingerprints, so that no fingerprint is overwritten before it is used.
  void Solve(const RibbonShape& shape) {
    constexpr std::array<uint64_t, kRibbonWidth> kNone{};
    pivots_.Append(kNone.data(), (64 - pivots_.size() % 64) % 64);
    std::array<uint64_t, kMaxRibbonColumns + 1> next{};
    std::array<uint64_t, kMaxRibbonColumns + 1> words{};
    for (uint64_t i = shape.segments(); i-- > 0;) {
      const uint8_t* from = out_ + i * shape.columns * 8;
      for (uint32_t j = 0; j < shape.columns; ++j) {
        words[j] = LoadLittleEndian<uint64_t>(from + j * 8);
      }
      if (!extra_plane_.empty()) {
        words[shape.columns] = LoadLittleEndian<uint64_t>(extra_plane_.data() + i * 8);
      }
      solver_.back_substitute(pivots_.Segment(i), fingerprint_columns_, next.data(), words.data());
      WriteSegment(shape, i, words.data());
      next = words;
    }
  }

  void WriteSegment(const RibbonShape& shape, uint64_t i, const uint64_t* words) {
    const bool wide = i >= shape.narrow_segments;
    uint8_t* to = out_ + (i * shape.columns + (wide ? i - shape.narrow_segments : 0)) * 8;
    const uint64_t word_bytes = std::min<uint64_t>(8, shape.octets - i * 8);
    for (uint32_t j = 0; j < shape.columns + (wide ? 1 : 0); ++j, to += word_bytes) {
      if (word_bytes == 8) {
        StoreLittleEndian(to, words[j]);
      } else {
        for (uint64_t k = 0; k < word_bytes; ++k) to[k] = static_cast<uint8_t>(words[j] >> (8 * k));
      }
    }
  }

  void WriteDirectory(const RibbonShape& shape) {
    uint8_t* to = out_ + shape.SegmentBytes();
    if (shape.DirectoryBytes() > 0) {
      for (const uint16_t entry : entries_) {
        StoreLittleEndian(to, entry);
        to += sizeof(entry);
      }
    }
    if (shape.BaseBytes() > 0) {
      for (const uint32_t base : bases_) {
        StoreLittleEndian(to, base);
        to += sizeof(base);
      }
    }
  }

  const uint32_t columns_;
  const double wide_share_;
  const RibbonSolver& solver_;
  const uint32_t fingerprint_columns_;
  const uint64_t num_chunks_;
  const uint64_t capacity_;  // octets
  RibbonChunkSolver chunk_;
  RibbonPivots pivots_;
  uint8_t* out_;
  std::vector<uint8_t> extra_plane_;
  std::vector<uint16_t> entries_;
  std::vector<uint32_t> bases_;
  uint64_t octet_ = 0;  // first virtual octet of the next chunk
  bool has_always_true_chunks_ = false;
};

uint64_t RibbonCapacity(const Layout& layout, uint64_t num_keys) noexcept {
  RibbonShape shape;
  shape.columns = layout.num_probes;
  shape.chunks = ChooseRibbonChunks(num_keys).total();
  shape.octets = CapacityOctets(num_keys) + 8;
  shape.narrow_segments = RibbonNarrowSegments(shape.octets, RibbonWideShare(layout));
  return shape.PayloadBytes() + 64;
}

uint64_t RibbonWorkingBytes(const Layout& layout, uint64_t num_keys) noexcept {
  const RibbonChunks chunks = ChooseRibbonChunks(num_keys);
  const uint64_t shard_keys = num_keys / chunks.shards + 4096;
  return num_keys / 16 +                                     // slots in addition to keys
         (RibbonWideShare(layout) > 0 ? num_keys / 7 : 0) +  // their additional column
         chunks.shards * (4096 + 16) +                       // partly filled blocks
         shard_keys * 9 + (uint64_t{512} << 10) +            // a sorted shard; a chunk's rows
         (num_keys > 100'000 ? uint64_t{4} << 20 : 0);  // slabs not yet full, runs not yet freed
}

RibbonShape BuildRibbon(HashList* hashes, bool keep, const Layout& layout, Kernel kernel,
                        uint8_t* out) {
  const uint64_t num_keys = hashes->size();
  assert(num_keys > 0);
  const RibbonChunks chunks = ChooseRibbonChunks(num_keys);
  RibbonBlocks blocks;
  RibbonShards shards(chunks, &blocks);
  if (keep) {
    hashes->ForEachRun([&](std::span<const uint64_t> run) { shards.Add(run); });
  } else {
    hashes->ConsumeRuns([&](std::span<const uint64_t> run) { shards.Add(run); });
  }
  RibbonWriter writer(layout, RibbonSolverFor(kernel), num_keys, chunks.total(), &blocks, out);
  for (uint64_t shard = 0; shard < chunks.shards; ++shard) {
    shards.TakeSorted(shard);
    for (uint64_t i = 0; i < chunks.chunks_per_shard; ++i) {
      const bool last = shard + 1 == chunks.shards && i + 1 == chunks.chunks_per_shard;
      writer.AddChunk(shards.Chunk(i), {}, last);
    }
  }
  return writer.Finish();
}

struct RetrievalWriter::Impl {
  const uint64_t num_chunks;
  std::vector<uint8_t> bytes;
  RibbonBlocks blocks;
  RibbonWriter writer;
  // The current chunk.
  uint64_t chunk = 0;
  std::vector<uint64_t> hashes;
  std::vector<uint32_t> results;

  Impl(uint64_t num_hashes, const Layout& layout)
      : num_chunks(ChooseRibbonChunks(num_hashes).total()),
        bytes(static_cast<size_t>(RibbonCapacity(layout, num_hashes))),
        writer(layout, RibbonSolverFor(ActiveKernel()), num_hashes, num_chunks, &blocks,
               bytes.data()) {}
};

RetrievalWriter::RetrievalWriter(uint64_t num_hashes, uint32_t columns) {
  assert(columns >= 1 && columns <= kMaxRibbonColumns);
  if (num_hashes == 0) return;
  const Layout layout{FilterKind::kRibbon, static_cast<double>(columns), columns};
  impl_ = std::make_unique<Impl>(num_hashes, layout);
}
RetrievalWriter::~RetrievalWriter() = default;

void RetrievalWriter::CloseChunk() {
  const bool is_last = ++impl_->chunk == impl_->num_chunks;
  impl_->writer.AddChunk(impl_->hashes, impl_->results, is_last);
  impl_->hashes.clear();
  impl_->results.clear();
}

void RetrievalWriter::Add(uint64_t hash, uint32_t result) {
  const uint64_t chunk = RibbonChunkOf(hash, impl_->num_chunks);
  while (impl_->chunk < chunk) CloseChunk();
  impl_->hashes.push_back(hash);
  impl_->results.push_back(result);
}

bool RetrievalWriter::Append(std::string* out) {
  while (impl_->chunk < impl_->num_chunks) CloseChunk();
  const RibbonShape shape = impl_->writer.Finish();
  if (shape.has_always_true_chunks) return false;
  FieldBytes fields;
  AppendRibbonFields(shape, &fields);
  out->append(AsText(fields.view()));
  out->append(AsText(ByteView(impl_->bytes).first(static_cast<size_t>(shape.PayloadBytes()))));
  return true;
}

bool Retrieval::Open(Decoder* from) {
  RibbonShape shape;
  if (ReadRibbonFields(from, &shape) || shape.padding_bytes != 0 || shape.has_wide_segments() ||
      shape.has_always_true_chunks) {
    return false;
  }
  const ByteView payload = from->Bytes(shape.PayloadBytes());
  if (!from->ok() || from->rest().size() < kRetrievalTail ||
      CheckRibbonShape(shape, payload.size())) {
    return false;
  }
  state_ = MakeRibbonState(shape, payload.data());
  columns_ = shape.columns;
  return true;
}

}  // namespace blocksieve::internal
