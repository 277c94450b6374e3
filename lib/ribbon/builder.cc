// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cstdint>
#include <iterator>
#include <span>
#include <utility>
#include <vector>

#include "lib/base/coding.h"
#include "lib/ribbon/probe.h"
#include "lib/ribbon/retrieval.h"
#include "lib/ribbon/shape.h"
#include "lib/ribbon/shards.h"
#include "lib/ribbon/solver.h"

namespace blocksieve::internal {
namespace {

// Number of rows that a chunk carries to the next, by design: the middle of the queue's range.
constexpr int64_t kCarriedTarget = 28;

// Slots of a filter in addition to one per key. With 1, builds of 100 keys need twice the seeds;
// more than 2 are wasted.
constexpr int64_t kSpareSlots = 2;

// Limits for the queue of a seed; if none of the 16 seeds meets the first, the second, loose ones.
// Queues succeed up to a length of a few less than 64; empty columns enlarge the filter.
constexpr uint32_t kMaxQueue[] = {56, 62};
constexpr uint32_t kMaxEmpty[] = {2, 1000};

// Slots added if no seed succeeds.
constexpr int64_t kWidenings[] = {0, 8, 16, 32, 64, 128, 256};

// The tries of a chunk: each widening with each of the limits with each seed.
constexpr size_t kTriesPerWidth = std::size(kMaxQueue) * kRibbonSeeds;
constexpr size_t kMaxTries = std::size(kWidenings) * kTriesPerWidth;

// Copies of a hash take slots and queue up in one place, so that tries and elimination take 1.5
// times as long. Searching for copies takes a tenth of the time, so it is done in every sixteenth
// chunk, after a chunk that had copies, and in chunks that are not solved within
// kTriesBeforeLooking tries, which are one in a hundred without copies.
constexpr uint64_t kChunksPerSample = 16;
constexpr size_t kTriesBeforeLooking = 4;

// Far more than chance puts in a chunk: more cannot be hashes.
constexpr size_t kMaxChunkRows = 8192;

// Slots that a buffer has room for: chunks waste a slot in two thousand, and a widened one up to
// 256.
uint64_t CapacityOctets(uint64_t num_keys) { return (num_keys + num_keys / 128 + 1024) / 8; }

}  // namespace

/// Finds a seed and a number of slots for the rows of one chunk, and eliminates them.
///
/// Rows without a pivot form a queue: the rows that start in an octet join it, and each column
/// serves one. Elimination succeeds almost surely if the queue never grows beyond the 64
/// coefficients of a row; an empty queue wastes a slot. So a histogram of starts shows cheaply
/// whether a seed will succeed. All decisions are made in integer arithmetic, which is the same on
/// every kernel.
class RibbonChunkSolver {
 public:
  RibbonChunkSolver(const RibbonSolver& solver, uint32_t fingerprint_columns)
      : solver_(solver), fingerprint_columns_(fingerprint_columns) {}

  /// Solves the next chunk, which starts at virtual octet `first_octet`. The `last` chunk gets all
  /// slots up to the end of the filter and must carry no row. Copies of a hash may be dropped,
  /// unless there are `results`, which take the place of fingerprints; hashes must then be
  /// distinct. False if no seed and width succeeds; chunks of distinct hashes always succeed unless
  /// they have thousands. Throws std::bad_alloc.
  bool Solve(std::span<uint64_t> hashes, std::span<const uint32_t> results, uint64_t first_octet,
             bool last) {
    const bool is_only_chunk = first_octet == 0 && last;
    const bool is_sample = chunks_++ % kChunksPerSample == 0 && !is_only_chunk;
    const bool looks = expects_copies_ || is_sample || hashes.size() > kMaxChunkRows;
    if (looks && results.empty()) hashes = DropCopies(hashes);
    if (hashes.size() > kMaxChunkRows) return false;
    TakeHashes(hashes);
    if (looks || !results.empty()) return Try(hashes, results, first_octet, last, 0, kMaxTries);

    if (Try(hashes, {}, first_octet, last, 0, kTriesBeforeLooking)) return true;
    const std::span<uint64_t> distinct = DropCopies(hashes);
    const bool has_copies = distinct.size() < hashes.size();
    if (has_copies) TakeHashes(distinct);
    return Try(distinct, {}, first_octet, last, has_copies ? 0 : kTriesBeforeLooking, kMaxTries);
  }

  // Results of the chunk last solved.
  uint32_t seed() const noexcept { return seed_; }
  uint32_t num_octets() const noexcept { return num_octets_; }  ///< Virtual octets, 1 to 4095.
  size_t num_columns() const noexcept { return num_columns_; }  ///< Each has at most one pivot.
  const uint64_t* pivots() const noexcept { return pivots_.data(); }
  const uint8_t* planes() const noexcept { return planes_.data(); }

 private:
  /// The slots and columns of a chunk. Columns count from the first without a pivot.
  struct Place {
    uint32_t fold;        // number of virtual slots that become column 0
    uint32_t num_slots;   // number of virtual slots
    size_t num_columns;   // number of columns to eliminate
    size_t start_octets;  // octets of columns in which rows may start
    bool last;
  };

  void TakeHashes(std::span<const uint64_t> hashes) {
    mixed_.resize(hashes.size());
    starts_.resize(hashes.size());
    for (size_t i = 0; i < hashes.size(); ++i) mixed_[i] = RibbonMix(hashes[i]);
  }

  /// Moves the distinct hashes to the front and returns them; in their order, unless there are more
  /// than kMaxChunkRows.
  std::span<uint64_t> DropCopies(std::span<uint64_t> hashes) {
    size_t distinct = 0;
    if (hashes.size() > kMaxChunkRows) {
      std::sort(hashes.begin(), hashes.end());
      const auto end = std::unique(hashes.begin(), hashes.end());
      distinct = static_cast<size_t>(end - hashes.begin());
    } else {
      // A hash table that is at most half full. 0 marks an empty place, so hash 0 is not stored.
      const size_t mask = std::bit_ceil(2 * hashes.size() + 2) - 1;
      const size_t shift = 64 - static_cast<size_t>(std::bit_width(mask));
      seen_.assign(mask + 1, 0);
      bool has_zero = false;
      for (const uint64_t hash : hashes) {
        if (hash == 0) [[unlikely]] {
          if (!std::exchange(has_zero, true)) hashes[distinct++] = hash;
          continue;
        }
        // The hashes of a chunk share high bits; those of the product depend on the whole hash.
        auto at = static_cast<size_t>(RibbonMix(hash) >> shift);
        while (seen_[at] != 0 && seen_[at] != hash) at = (at + 1) & mask;
        if (seen_[at] == hash) continue;
        seen_[at] = hash;
        hashes[distinct++] = hash;
      }
    }
    expects_copies_ = distinct < hashes.size();
    return hashes.first(distinct);
  }

  Place FindPlace(size_t num_hashes, int64_t widening, uint64_t first_octet, bool last) const {
    const uint32_t fold = first_octet == 0 ? kRibbonFold : 0;
    const auto num_rows = static_cast<int64_t>(num_hashes + carried_.count);
    // The virtual slots of a later chunk start kRibbonFold after its first column.
    Place place{.fold = fold, .num_slots = 0, .num_columns = 0, .start_octets = 0, .last = last};
    if (last) {
      const int64_t columns = (num_rows + kSpareSlots + widening + 7) / 8 * 8;
      const int64_t min_columns = fold == 0 ? kRibbonFold + kRibbonOctet : kRibbonFold;
      place.num_columns = static_cast<size_t>(std::max(columns, min_columns));
      place.num_slots = static_cast<uint32_t>(place.num_columns - (fold == 0 ? kRibbonFold : 0));
      place.start_octets = std::max<size_t>(1, (place.num_columns - kRibbonFold) / kRibbonOctet);
    } else {
      const int64_t columns = (num_rows - kCarriedTarget + 4) / 8 * 8 + widening;
      place.num_columns = static_cast<size_t>(std::max<int64_t>(columns, kRibbonOctet));
      place.num_slots = static_cast<uint32_t>(place.num_columns + fold);
      place.start_octets = place.num_columns / kRibbonOctet;
    }
    return place;
  }

  /// Makes tries `first_try` to `end_try` until one succeeds. Empty `results` stand for
  /// fingerprints. REQUIRES: TakeHashes(hashes)
  bool Try(std::span<const uint64_t> hashes, std::span<const uint32_t> results,
           uint64_t first_octet, bool last, size_t first_try, size_t end_try) {
    Place place{};
    for (size_t i = first_try; i < end_try; ++i) {
      if (i % kTriesPerWidth == 0 || i == first_try) {
        place = FindPlace(hashes.size(), kWidenings[i / kTriesPerWidth], first_octet, last);
        if (place.num_slots / kRibbonOctet > kRibbonEntryMask) return false;
      }
      // Seed 0 comes last, because in the first chunk it is multiplier 0.
      const auto seed = static_cast<uint32_t>((i + 1) % kRibbonSeeds);
      solver_.find_starts(mixed_.data(), mixed_.size(), RibbonMultiplier(seed, first_octet),
                          place.num_slots / kRibbonOctet, place.fold, starts_.data());
      octet_counts_.assign(place.num_columns / kRibbonOctet, 0);
      for (const uint32_t start : starts_) ++octet_counts_[start / kRibbonOctet];
      octet_counts_[0] += carried_.count;
      if (!FitsQueue(place, /*is_loose=*/i / kRibbonSeeds % 2 != 0)) continue;
      num_columns_ = place.num_columns;
      OrderRows(hashes, results, place);
      if (!Eliminate()) continue;
      seed_ = seed;
      num_octets_ = place.num_slots / kRibbonOctet;
      return true;
    }
    return false;
  }

  bool FitsQueue(const Place& place, bool is_loose) const noexcept {
    uint32_t queue = 0;
    uint32_t empty = 0;
    for (size_t octet = 0; octet < place.start_octets; ++octet) {
      queue += octet_counts_[octet];
      if (queue > kMaxQueue[is_loose]) return false;
      const uint32_t served = std::min(queue, kRibbonOctet);
      queue -= served;
      empty += kRibbonOctet - served;
    }
    const auto columns_left =
        static_cast<uint32_t>(place.num_columns - place.start_octets * kRibbonOctet);
    return empty <= kMaxEmpty[is_loose] && (!place.last || queue <= columns_left);
  }

  void OrderRows(std::span<const uint64_t> hashes, std::span<const uint32_t> results,
                 const Place& place) {
    rows_.resize(hashes.size() + carried_.count);
    next_row_.resize(octet_counts_.size());
    uint32_t sum = 0;
    for (size_t octet = 0; octet < octet_counts_.size(); ++octet) {
      next_row_[octet] = sum;
      sum += octet_counts_[octet];
    }
    // Clears coefficients of slots past the end of the filter.
    const auto within = [&](uint64_t coefficients, size_t column) {
      const size_t left = place.num_columns - column;
      return place.last && left < kRibbonWidth ? coefficients & ((uint64_t{1} << left) - 1)
                                               : coefficients;
    };
    for (uint32_t i = 0; i < carried_.count; ++i) {
      rows_[i] = {within(carried_.coefficients[i], 0),
                  static_cast<uint64_t>(carried_.fingerprints[i]) << 8};
    }
    next_row_[0] = carried_.count;
    const uint64_t fingerprint_mask = (uint64_t{1} << fingerprint_columns_) - 1;
    for (size_t i = 0; i < hashes.size(); ++i) {
      const uint32_t start = starts_[i];
      const uint32_t row = next_row_[start / kRibbonOctet]++;
      const uint32_t result = results.empty() ? RibbonFingerprint(hashes[i]) : results[i];
      rows_[row] = {within(RibbonCoefficients(mixed_[i]), start),
                    start % 32 | (result & fingerprint_mask) << 8};
    }
  }

  bool Eliminate() {
    const size_t num_octets = num_columns_ / kRibbonOctet;
    pivots_.resize(num_columns_);
    planes_.resize(num_octets * 8 * RibbonPlaneGroups(fingerprint_columns_));
    RibbonSystem system{rows_.data(), rows_.size(),   octet_counts_.data(),
                        num_octets,   pivots_.data(), planes_.data()};
    if (!solver_.eliminate(fingerprint_columns_, &system)) return false;
    carried_ = system.carried;
    return true;
  }

  const RibbonSolver& solver_;
  uint32_t fingerprint_columns_;
  RibbonCarried carried_;
  uint64_t chunks_ = 0;
  bool expects_copies_ = false;  // the last chunk that was searched had copies

  uint32_t seed_ = 0;
  uint32_t num_octets_ = 0;
  size_t num_columns_ = 0;
  std::vector<uint64_t> pivots_;
  std::vector<uint8_t> planes_;

  std::vector<uint64_t> mixed_;
  std::vector<uint32_t> starts_;
  std::vector<uint32_t> octet_counts_;
  std::vector<uint32_t> next_row_;
  std::vector<RibbonRow> rows_;
  std::vector<uint64_t> seen_;
};

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
