#include "integration/cli/rocksdb/table_filters.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <optional>
#include <string_view>
#include <utility>

#include "blocksieve/filter_block.h"
#include "integration/cli/rocksdb/table_layout.h"
#include "lib/base/coding.h"
#include "lib/bloom/bloom_model.h"

namespace blocksieve::cli {
namespace {

/// Reads blocks of one table.
class BlockReader {
 public:
  BlockReader(const rocksdb::RandomAccessFile& file, uint64_t file_bytes)
      : file_(file), file_bytes_(file_bytes) {}

  Result<std::string> ReadBytes(uint64_t offset, uint64_t size) const {
    if (offset > file_bytes_ || size > file_bytes_ - offset) {
      return Status::Corruption("a block that reaches beyond the end of the file");
    }
    std::string buffer(static_cast<size_t>(size), '\0');
    rocksdb::Slice bytes;
    const rocksdb::Status status = file_.Read(offset, buffer.size(), &bytes, buffer.data());
    if (!status.ok()) return Status::ResourceExhausted(status.ToString());
    if (bytes.size() != buffer.size()) return Status::Corruption("a file that ends in a block");
    if (bytes.data() != buffer.data()) buffer.assign(bytes.data(), bytes.size());
    return buffer;
  }

  Status ReadFooter() {
    const uint64_t size = std::min<uint64_t>(file_bytes_, TableFooter::kMaxBytes);
    const Result<std::string> end = ReadBytes(file_bytes_ - size, size);
    if (!end.ok()) return end.status();
    Result<TableFooter> footer = DecodeTableFooter(AsBytes(*end));
    if (footer.ok()) footer_ = *footer;
    return footer.status();
  }

  /// REQUIRES: ReadFooter has succeeded.
  Result<std::string> ReadBlock(const BlockHandle& handle) const {
    assert(footer_);
    if (handle.size > file_bytes_) {
      return Status::Corruption("a block that is longer than the file");
    }
    Result<std::string> block = ReadBytes(handle.offset, handle.size + kBlockTrailerBytes);
    if (!block.ok()) return block;
    const ByteView block_and_type = AsBytes(*block).first(block->size() - sizeof(uint32_t));
    const auto checksum = LoadLittleEndian<uint32_t>(block_and_type.data() + block_and_type.size());
    const Status status = CheckBlock(footer_->checksum_type, block_and_type, checksum);
    if (!status.ok()) return status;
    // RocksDB compresses neither filters nor what leads to them.
    if (block_and_type.back() != 0) return Status::NotSupported("a compressed block");
    block->resize(block->size() - kBlockTrailerBytes);
    return block;
  }

  const TableFooter& footer() const { return *footer_; }

 private:
  const rocksdb::RandomAccessFile& file_;
  const uint64_t file_bytes_;
  std::optional<TableFooter> footer_;
};

TableFilter ReadFilter(const BlockReader& reader, const BlockHandle& handle, std::string last_key) {
  TableFilter filter;
  filter.last_key = std::move(last_key);
  Result<std::string> contents = reader.ReadBlock(handle);
  filter.status = contents.status();
  if (contents.ok()) filter.contents = *std::move(contents);
  return filter;
}

Result<TableFilters> ReadPartitions(const BlockReader& reader, const BlockHandle& handle,
                                    const rocksdb::TableProperties& properties) {
  constexpr size_t kSequenceAndTypeBytes = 8;
  const Result<std::string> index = reader.ReadBlock(handle);
  if (!index.ok()) return index.status();
  auto partitions = DecodeHandles(AsBytes(*index), properties.index_value_is_delta_encoded != 0);
  if (!partitions.ok()) return partitions.status();
  TableFilters filters;
  filters.is_partitioned = true;
  for (auto& [key, partition] : *partitions) {
    if (properties.index_key_is_user_key == 0) {
      if (key.size() < kSequenceAndTypeBytes) return Status::Corruption("a key of a partition");
      key.resize(key.size() - kSequenceAndTypeBytes);
    }
    filters.parts.push_back(ReadFilter(reader, partition, std::move(key)));
  }
  return filters;
}

// The trailer of stock filters. Its first byte is the kind:
//   -1 (Bloom)         0, probes (low 5 bits) and log2 of lines of 64 bytes (high 3), 2 bytes
//   -2 (Ribbon)        seed, number of blocks of 128 slots (24 bits)
//   >0 (legacy Bloom)  it is the number of probes; number of lines (32 bits)
constexpr size_t kTrailerBytes = 5;
constexpr int8_t kBloomMarker = -1;
constexpr int8_t kRibbonMarker = -2;

FilterFacts Unreadable(std::string problem) {
  FilterFacts facts;
  facts.problem = std::move(problem);
  return facts;
}

// The rate of a stock Ribbon halves with each column. From some block on, blocks have one column
// more than those before.
double RibbonFpr(uint64_t num_blocks, uint64_t data_bytes) {
  constexpr uint64_t kSegmentBytes = 16;  // one column of a block of 128 slots
  const uint64_t num_segments = data_bytes / kSegmentBytes;
  const uint64_t columns = num_segments / num_blocks;
  const double share_of_wide =
      static_cast<double>(num_segments % num_blocks) / static_cast<double>(num_blocks);
  return std::exp2(-static_cast<double>(columns)) * (1 - share_of_wide / 2);
}

FilterFacts DescribeOurs(ByteView contents) {
  const Result<FilterInfo> info = DescribeFilterBlock(contents);
  if (!info.ok()) {
    const bool is_blank =
        std::all_of(contents.begin(), contents.end(), [](uint8_t byte) { return byte == 0; });
    return Unreadable(is_blank ? "it matches everything" : info.status().message());
  }
  FilterFacts facts;
  facts.origin = FilterOrigin::kBlocksieve;
  facts.kind = FilterKindName(info->kind);
  facts.num_entries = info->num_keys;
  facts.predicted_fpr = PredictedFpr(*info);
  return facts;
}

FilterFacts DescribeStock(ByteView contents, double bits_per_entry) {
  const ByteView trailer = contents.last(kTrailerBytes);
  const size_t data_bytes = contents.size() - kTrailerBytes;
  FilterFacts facts;
  facts.origin = FilterOrigin::kStock;
  facts.num_entries =
      static_cast<uint64_t>(8 * static_cast<double>(contents.size()) / bits_per_entry);
  const auto marker = static_cast<int8_t>(trailer[0]);
  if (marker == kBloomMarker && trailer[1] == 0) {
    facts.kind = "bloom";
    facts.predicted_fpr = internal::BlockedBloomFpr(bits_per_entry, std::max(trailer[2] & 31u, 1u));
  } else if (marker == kRibbonMarker) {
    const uint64_t num_blocks = LoadLittleEndian<uint32_t>(trailer.data() + 1) >> 8;
    if (num_blocks == 0) return Unreadable("a stock Ribbon filter of no slots");
    facts.kind = "ribbon";
    facts.predicted_fpr = RibbonFpr(num_blocks, data_bytes);
  } else if (marker > 0) {
    facts.kind = "legacy bloom";
    facts.predicted_fpr =
        internal::BlockedBloomFpr(bits_per_entry, std::min(static_cast<uint32_t>(marker), 32u));
  } else {
    return Unreadable("its kind is unknown");
  }
  return facts;
}

}  // namespace

Result<TableFilters> ReadTableFilters(const rocksdb::RandomAccessFile& file, uint64_t file_bytes,
                                      const rocksdb::TableProperties& properties) {
  // Followed by the name of the policy's family.
  constexpr std::string_view kFull = "fullfilter.";
  constexpr std::string_view kPartitioned = "partitionedfilter.";
  constexpr std::string_view kBlockBased = "filter.";  // written by RocksDB before 7.0

  BlockReader reader(file, file_bytes);
  const Status status = reader.ReadFooter();
  if (!status.ok()) return status;
  const Result<std::string> metaindex = reader.ReadBlock(reader.footer().metaindex);
  if (!metaindex.ok()) return metaindex.status();
  const auto handles = DecodeHandles(AsBytes(*metaindex), /*values_are_deltas=*/false);
  if (!handles.ok()) return handles.status();
  for (const auto& [name, handle] : *handles) {
    if (name.starts_with(kFull)) {
      TableFilters filters;
      filters.parts.push_back(ReadFilter(reader, handle, ""));
      return filters;
    }
    if (name.starts_with(kPartitioned)) return ReadPartitions(reader, handle, properties);
    if (name.starts_with(kBlockBased)) {
      return Status::NotSupported("a filter per block, which RocksDB no longer reads");
    }
  }
  return TableFilters();
}

FilterFacts DescribeFilter(ByteView contents, double stock_bits_per_entry) {
  assert(contents.empty() || stock_bits_per_entry > 0);
  if (contents.size() <= kTrailerBytes) return Unreadable("it is too short");
  return HasFilterBlockTail(contents) ? DescribeOurs(contents)
                                      : DescribeStock(contents, stock_bits_per_entry);
}

}  // namespace blocksieve::cli
