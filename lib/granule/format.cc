#include "lib/granule/format.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>

#include "lib/base/coding.h"
#include "lib/column/value_number.h"
#include "lib/granule/bit_slices.h"
#include "lib/hash/checksum.h"

namespace blocksieve::internal {
namespace {

constexpr std::array<uint8_t, 4> kIndexMagic = {0xb5, 'g', 'i', 'x'};
constexpr size_t kFixedBytes = kIndexMagic.size() + 1 + sizeof(uint32_t);  // up to the fields
static_assert(kFixedBytes == kGranuleIndexStartBytes);

// Stored instead of PartState::kPresent if the filters are postings.
constexpr uint8_t kPostingsCode = 4;

bool HasPostings(const ColumnHeader& column) {
  return column.filters == PartState::kPresent && column.form != GranuleFilterForm::kBitSlices;
}

void AppendColumn(const ColumnHeader& column, std::string* out) {
  AppendVarint(out, column.name.size());
  out->append(column.name);
  out->push_back(static_cast<char>(column.type));
  out->push_back(HasPostings(column) ? static_cast<char>(kPostingsCode)
                                     : static_cast<char>(column.filters));
  out->push_back(static_cast<char>(column.bounds));
  AppendLittleEndian(out, std::bit_cast<uint64_t>(column.target_fpr));
  AppendVarint(out, column.num_distinct);
  if (column.filters == PartState::kPresent && !HasPostings(column)) {
    out->push_back(static_cast<char>(column.num_probes));
    AppendVarint(out, column.classes.size());
    for (const SizeClass& size_class : column.classes) {
      AppendVarint(out, size_class.num_bits);
      AppendVarint(out, size_class.max_values);
      AppendVarint(out, size_class.num_granules);
    }
  }
  AppendVarint(out, column.mark_bytes);
  AppendVarint(out, column.filter_bytes);
  AppendVarint(out, column.bounds_bytes);
  AppendLittleEndian(out, column.checksum);
}

Status Unknown(std::string_view what, uint64_t number) {
  return Status::NotSupported("skip index: " + std::string(what) + " is " + std::to_string(number) +
                              "; this library is too old for it");
}

Status ReadFilterSizes(Decoder* from, ColumnHeader* column) {
  column->num_probes = from->Fixed<uint8_t>();
  const uint64_t num_classes = from->Varint();
  if (!from->ok() || column->num_probes < 1 || column->num_probes > kMaxIndexProbes ||
      num_classes < 1 || num_classes > kMaxSizeClasses) {
    return DamagedIndex("number of probes or of size classes is out of range");
  }
  for (uint64_t i = 0; i < num_classes; ++i) {
    SizeClass size_class;
    size_class.num_bits = from->Varint();
    size_class.max_values = from->Varint();
    size_class.num_granules = from->Varint();
    column->classes.push_back(size_class);
  }
  return Status::Ok();
}

Status ReadColumn(uint8_t version, Decoder* from, ColumnHeader* column) {
  column->name = AsText(from->Bytes(from->Varint()));
  column->type = static_cast<ValueType>(from->Fixed<uint8_t>());
  const auto filters = from->Fixed<uint8_t>();
  if (version >= kGranuleIndexVersionOfPostings && filters == kPostingsCode) {
    column->form = GranuleFilterForm::kPostings;
    column->filters = PartState::kPresent;
  } else {
    column->filters = static_cast<PartState>(filters);
  }
  column->bounds = static_cast<PartState>(from->Fixed<uint8_t>());
  column->target_fpr = std::bit_cast<double>(from->Fixed<uint64_t>());
  column->num_distinct = from->Varint();
  if (column->type > MaxValueType()) {
    return Unknown("type of a column", static_cast<uint64_t>(column->type));
  }
  for (const PartState part : {column->filters, column->bounds}) {
    if (part > PartState::kOverBudget) {
      return Unknown("state of a column's part", static_cast<uint64_t>(part));
    }
  }
  if (column->filters == PartState::kPresent && !HasPostings(*column)) {
    if (Status status = ReadFilterSizes(from, column); !status.ok()) return status;
  }
  column->mark_bytes = from->Varint();
  column->filter_bytes = from->Varint();
  column->bounds_bytes = from->Varint();
  column->checksum = from->Fixed<uint32_t>();
  return Status::Ok();
}

/// Subtracts the length of a part from the rest of the index. False if the rest is shorter.
bool TakeBytes(uint64_t num_bytes, uint64_t* left) noexcept {
  if (num_bytes > *left) return false;
  *left -= num_bytes;
  return true;
}

bool LengthsFit(const GranuleIndexHeader& header, uint64_t left) noexcept {
  if (!TakeBytes(header.granules.num_bytes, &left)) return false;
  for (const ColumnHeader& column : header.columns) {
    if (!TakeBytes(column.mark_bytes, &left) || !TakeBytes(column.filter_bytes, &left) ||
        !TakeBytes(column.bounds_bytes, &left)) {
      return false;
    }
  }
  return left == 0;
}

}  // namespace

Status DamagedIndex(std::string_view what) {
  return Status::Corruption("skip index: " + std::string(what));
}

std::string EncodeGranuleIndexHeader(const GranuleIndexHeader& header) {
  std::string fields;
  AppendVarint(&fields, header.num_granules);
  AppendVarint(&fields, header.num_rows);
  AppendVarint(&fields, header.granules.num_bytes);
  AppendLittleEndian(&fields, header.granules.checksum);
  AppendVarint(&fields, header.columns.size());
  for (const ColumnHeader& column : header.columns) AppendColumn(column, &fields);

  std::string out(kIndexMagic.begin(), kIndexMagic.end());
  const bool has_postings = std::any_of(header.columns.begin(), header.columns.end(), HasPostings);
  out.push_back(
      static_cast<char>(has_postings ? kGranuleIndexVersionOfPostings : kGranuleIndexVersion));
  AppendLittleEndian(&out, static_cast<uint32_t>(fields.size()));
  out += fields;
  AppendLittleEndian(&out, Checksum(AsBytes(out)));
  return out;
}

uint64_t GranuleIndexHeaderBytes(ByteView start) noexcept {
  assert(start.size() >= kGranuleIndexStartBytes);
  return kFixedBytes + LoadLittleEndian<uint32_t>(start.data() + kIndexMagic.size() + 1) +
         sizeof(uint32_t);
}

Result<GranuleIndexHeader> DecodeGranuleIndexHeader(ByteView start, uint64_t index_bytes,
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
  if (version != kGranuleIndexVersion && version != kGranuleIndexVersionOfPostings) {
    return Unknown("format version", version);
  }

  GranuleIndexHeader header;
  header.num_granules = fields.Varint();
  header.num_rows = fields.Varint();
  header.granules.num_bytes = fields.Varint();
  header.granules.checksum = fields.Fixed<uint32_t>();
  const uint64_t num_columns = fields.Varint();
  for (uint64_t i = 0; i < num_columns && fields.ok(); ++i) {
    if (Status status = ReadColumn(version, &fields, &header.columns.emplace_back());
        !status.ok()) {
      return status;
    }
  }
  if (!fields.ok() || !fields.rest().empty())
    return DamagedIndex("header fields do not match the header length");
  *num_bytes = kFixedBytes + field_bytes + sizeof(uint32_t);
  if (*num_bytes > index_bytes || !LengthsFit(header, index_bytes - *num_bytes)) {
    return DamagedIndex("index length is not the sum of its parts");
  }
  return header;
}

}  // namespace blocksieve::internal
