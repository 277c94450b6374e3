// SPDX-License-Identifier: Apache-2.0
#include "lib/skip/format.h"

#include <array>
#include <cassert>

#include "lib/base/coding.h"
#include "lib/column/definition.h"
#include "lib/column/values.h"

namespace blocksieve::internal {
namespace {

constexpr std::array<uint8_t, 4> kIndexMagic = {0xb5, 's', 'k', 'i'};
constexpr size_t kFixedBytes = kIndexMagic.size() + 1 + sizeof(uint32_t);  // up to the fields
static_assert(kFixedBytes == kSkipIndexStartBytes);

constexpr uint8_t kHasKeys = 1;  // the only flag

void AppendColumn(const ColumnHeader& column, std::string* out) {
  AppendVarint(out, column.definition.size());
  out->append(column.definition);
  AppendVarint(out, column.key.size());
  out->push_back(static_cast<char>(column.type));
  out->push_back(static_cast<char>(column.filters));
  out->push_back(static_cast<char>(column.bounds));
  AppendVarint(out, column.num_distinct);
  AppendVarint(out, column.mark_bytes);
  AppendVarint(out, column.filter_bytes);
  AppendVarint(out, column.bounds_bytes);
  AppendLittleEndian(out, column.checksum);
}

Status Unknown(std::string_view what, uint64_t number) {
  return Status::NotSupported("skip index: " + std::string(what) + " is " + std::to_string(number) +
                              "; this library is too old for it");
}

Status ReadColumn(Decoder* from, ColumnHeader* column) {
  column->definition = AsText(from->Bytes(from->Varint()));
  const uint64_t key_bytes = from->Varint();
  column->type = static_cast<ValueType>(from->Fixed<uint8_t>());
  column->filters = static_cast<PartState>(from->Fixed<uint8_t>());
  column->bounds = static_cast<PartState>(from->Fixed<uint8_t>());
  column->num_distinct = from->Varint();
  column->mark_bytes = from->Varint();
  column->filter_bytes = from->Varint();
  column->bounds_bytes = from->Varint();
  column->checksum = from->Fixed<uint32_t>();
  if (key_bytes > column->definition.size()) return DamagedIndex("key longer than its definition");
  column->key = column->definition.substr(column->definition.size() - key_bytes);
  column->is_of_key = IsOfKey(column->key);
  if (column->type > MaxValueType()) {
    return Unknown("type of a column", static_cast<uint64_t>(column->type));
  }
  for (const PartState part : {column->filters, column->bounds}) {
    if (part > PartState::kCollisions) {
      return Unknown("state of a column's part", static_cast<uint64_t>(part));
    }
  }
  return Status::Ok();
}

/// Whether the parts take this many bytes.
bool LengthsFit(const SkipIndexHeader& header, uint64_t num_bytes) noexcept {
  unsigned __int128 sum = header.granules_bytes;
  for (const ColumnHeader& column : header.columns) {
    for (const uint64_t part : {column.mark_bytes, column.filter_bytes, column.bounds_bytes}) {
      sum += part;
    }
  }
  return sum == num_bytes;
}

}  // namespace

Status DamagedIndex(std::string_view what) {
  return Status::Corruption("skip index: " + std::string(what));
}

std::string EncodeSkipIndexHeader(const SkipIndexHeader& header) {
  std::string fields;
  fields.push_back(static_cast<char>(header.has_keys ? kHasKeys : 0));
  AppendVarint(&fields, header.num_granules);
  AppendVarint(&fields, header.num_rows);
  AppendVarint(&fields, header.granules_bytes);
  AppendLittleEndian(&fields, header.granules_checksum);
  AppendVarint(&fields, header.columns.size());
  for (const ColumnHeader& column : header.columns) AppendColumn(column, &fields);

  std::string out(kIndexMagic.begin(), kIndexMagic.end());
  out.push_back(static_cast<char>(kSkipIndexVersion));
  AppendLittleEndian(&out, static_cast<uint32_t>(fields.size()));
  out += fields;
  AppendLittleEndian(&out, Checksum(AsBytes(out)));
  return out;
}

uint64_t SkipIndexHeaderBytes(ByteView start) noexcept {
  assert(start.size() >= kSkipIndexStartBytes);
  return kFixedBytes + LoadLittleEndian<uint32_t>(start.data() + kIndexMagic.size() + 1) +
         sizeof(uint32_t);
}

Result<SkipIndexHeader> DecodeSkipIndexHeader(ByteView start, uint64_t index_bytes,
                                              size_t* num_bytes) {
  Decoder bytes(start);
  for (const uint8_t byte : kIndexMagic) {
    if (bytes.Fixed<uint8_t>() != byte) return DamagedIndex("magic number mismatch");
  }
  const uint8_t version = bytes.Fixed<uint8_t>();
  const auto field_bytes = bytes.Fixed<uint32_t>();
  Decoder fields(bytes.Bytes(field_bytes));
  const auto checksum = bytes.Fixed<uint32_t>();
  if (!bytes.ok()) return DamagedIndex("truncated header");
  // Check the checksum first: a flipped bit in the version is damage, not a newer version. Later
  // versions therefore keep the layout up to the length, and the checksum.
  if (checksum != Checksum(start.first(kFixedBytes + field_bytes))) {
    return DamagedIndex("header checksum mismatch");
  }
  if (version != kSkipIndexVersion) return Unknown("format version", version);

  SkipIndexHeader header;
  const auto flags = fields.Fixed<uint8_t>();
  if (flags > kHasKeys) return Unknown("flags", flags);
  header.has_keys = flags == kHasKeys;
  header.num_granules = fields.Varint();
  header.num_rows = fields.Varint();
  header.granules_bytes = fields.Varint();
  header.granules_checksum = fields.Fixed<uint32_t>();
  const uint64_t num_columns = fields.Varint();
  for (uint64_t i = 0; i < num_columns && fields.ok(); ++i) {
    if (Status status = ReadColumn(&fields, &header.columns.emplace_back()); !status.ok()) {
      return status;
    }
  }
  if (!fields.ok() || !fields.rest().empty()) {
    return DamagedIndex("header fields do not match the header length");
  }
  *num_bytes = kFixedBytes + field_bytes + sizeof(uint32_t);
  if (*num_bytes > index_bytes || !LengthsFit(header, index_bytes - *num_bytes)) {
    return DamagedIndex("index length is not the sum of its parts");
  }
  return header;
}

}  // namespace blocksieve::internal
