#include "blocksieve/skip_index.h"

#include <algorithm>
#include <exception>

#include "blocksieve/bytes.h"
#include "lib/base/errors.h"
#include "lib/column/definition.h"
#include "lib/granule/format.h"
#include "lib/granule/granule_index.h"
#include "lib/skip/skip_index_source.h"

namespace blocksieve {
namespace {

// Enough for the header of a few columns.
constexpr uint64_t kUsualHeaderBytes = 4096;

std::span<uint8_t> Room(std::string* bytes, size_t begin) {
  return {reinterpret_cast<uint8_t*>(bytes->data()) + begin, bytes->size() - begin};
}

/// Appends `num_bytes` of the source from `offset` on.
Status AppendFrom(SkipIndexSource* source, uint64_t offset, uint64_t num_bytes, std::string* out) {
  const size_t begin = out->size();
  out->resize(begin + static_cast<size_t>(num_bytes));
  return num_bytes == 0 ? Status::Ok() : source->Read(offset, Room(out, begin));
}

/// Reads the start of the index, with the whole header unless the index is truncated.
Status ReadStart(SkipIndexSource* source, std::string* start) {
  const uint64_t all = source->num_bytes();
  Status status = AppendFrom(source, 0, std::min(all, kUsualHeaderBytes), start);
  if (!status.ok() || start->size() < internal::kGranuleIndexStartBytes) return status;
  const uint64_t header = std::min(all, internal::GranuleIndexHeaderBytes(AsBytes(*start)));
  if (header <= start->size()) return status;
  return AppendFrom(source, start->size(), header - start->size(), start);
}

Result<internal::GranuleIndexHeader> ReadHeader(SkipIndexSource* source, size_t* header_bytes) {
  std::string start;
  if (Status status = ReadStart(source, &start); !status.ok()) return status;
  return internal::DecodeGranuleIndexHeader(AsBytes(start), source->num_bytes(), header_bytes);
}

bool IsAmong(std::span<const Column> columns, const std::string& definition) {
  const std::string wanted = internal::WithoutIndexParts(definition);
  return std::any_of(columns.begin(), columns.end(), [&](const Column& column) {
    return internal::WithoutIndexParts(column.ToText()) == wanted;
  });
}

}  // namespace

Result<std::string> ReadSkipIndex(SkipIndexSource* source, std::span<const Column> columns) try {
  size_t header_bytes = 0;
  const Result<internal::GranuleIndexHeader> stored = ReadHeader(source, &header_bytes);
  if (!stored.ok()) return stored.status();

  internal::GranuleIndexHeader wanted = *stored;
  std::erase_if(wanted.columns, [&](const auto& column) { return !IsAmong(columns, column.name); });
  std::string index = internal::EncodeGranuleIndexHeader(wanted);
  uint64_t offset = header_bytes;
  Status status = AppendFrom(source, offset, stored->granules.num_bytes, &index);
  offset += stored->granules.num_bytes;
  for (const internal::ColumnHeader& column : stored->columns) {
    if (!status.ok()) return status;
    if (IsAmong(columns, column.name)) {
      status = AppendFrom(source, offset, column.num_bytes(), &index);
    }
    offset += column.num_bytes();
  }
  if (!status.ok()) return status;
  return index;
} catch (const std::exception&) {  // bad_alloc, or length_error from the string
  return internal::OutOfMemory();
}

Result<std::string> ReadWholeSkipIndex(SkipIndexSource* source) try {
  std::string index;
  Status status = AppendFrom(source, 0, source->num_bytes(), &index);
  if (!status.ok()) return status;
  return index;
} catch (const std::exception&) {
  return internal::OutOfMemory();
}

Result<std::vector<GranuleColumnInfo>> ReadSkipIndexColumns(SkipIndexSource* source) try {
  size_t header_bytes = 0;
  const Result<internal::GranuleIndexHeader> stored = ReadHeader(source, &header_bytes);
  if (!stored.ok()) return stored.status();
  return std::vector<GranuleColumnInfo>(stored->columns.begin(), stored->columns.end());
} catch (const std::exception&) {
  return internal::OutOfMemory();
}

}  // namespace blocksieve
