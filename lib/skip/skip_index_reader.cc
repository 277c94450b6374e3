#include "blocksieve/skip_index.h"
#include "lib/column/definition.h"

namespace blocksieve {

Result<SkipIndexReader> SkipIndexReader::Open(ByteView bytes) {
  Result<GranuleIndex> granules = GranuleIndex::Open(bytes);
  if (!granules.ok()) return granules.status();
  return SkipIndexReader(*std::move(granules));
}

std::optional<size_t> SkipIndexReader::FindColumn(const Column& column) const {
  const std::string definition = internal::WithoutIndexParts(column.ToText());
  for (size_t i = 0; i < granules_.num_columns(); ++i) {
    if (internal::WithoutIndexParts(granules_.column(i).name) == definition) return i;
  }
  return std::nullopt;
}

const ColumnIndex* SkipIndexReader::Find(const Column& column) const {
  const std::optional<size_t> number = FindColumn(column);
  return number ? &granules_.column_index(*number) : nullptr;
}

bool SkipIndexReader::CanSkip(const Predicate& predicate) const {
  return predicate.CanSkip([this](const Column& column) { return Find(column); });
}

GranuleSet SkipIndexReader::Candidates(const Predicate& predicate) const {
  return predicate.Candidates(num_granules(),
                              [this](const Column& column) { return Find(column); });
}

}  // namespace blocksieve
