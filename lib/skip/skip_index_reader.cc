#include <memory>

#include "blocksieve/skip_index.h"
#include "lib/base/errors.h"
#include "lib/column/definition.h"
#include "lib/predicate/granule_pruner.h"
#include "lib/skip/file_index.h"

namespace blocksieve {

Result<SkipIndex> SkipIndex::Open(ByteView bytes) {
  Result<GranuleIndex> granules = GranuleIndex::Open(bytes);
  if (!granules.ok()) return granules.status();
  return SkipIndex(*std::move(granules));
}

std::optional<size_t> SkipIndex::FindColumn(const Column& column) const {
  const std::string definition = internal::WithoutIndexParts(column.ToText());
  for (size_t i = 0; i < granules_.num_columns(); ++i) {
    if (internal::WithoutIndexParts(granules_.column(i).name) == definition) return i;
  }
  return std::nullopt;
}

const ColumnIndex* SkipIndex::Find(const Column& column) const {
  const std::optional<size_t> number = FindColumn(column);
  return number ? &granules_.column_index(*number) : nullptr;
}

bool SkipIndex::CanPrune(const Predicate& predicate) const {
  return internal::GranulePruner(predicate, [this](const Column& column) { return Find(column); })
      .CanPrune();
}

GranuleSet SkipIndex::Candidates(const Predicate& predicate) const {
  return internal::GranulePruner(predicate, [this](const Column& column) { return Find(column); })
      .Candidates(num_granules());
}

SkipIndexReader::SkipIndexReader(std::unique_ptr<const SkipIndex> index) noexcept
    : index_(std::move(index)) {}
SkipIndexReader::SkipIndexReader(SkipIndexReader&&) noexcept = default;
SkipIndexReader& SkipIndexReader::operator=(SkipIndexReader&&) noexcept = default;
SkipIndexReader::~SkipIndexReader() = default;

Result<SkipIndexReader> SkipIndexReader::Open(ByteView bytes) try {
  Result<SkipIndex> index = SkipIndex::Open(bytes);
  if (!index.ok()) return index.status();
  return SkipIndexReader(std::make_unique<const SkipIndex>(*std::move(index)));
} catch (const std::bad_alloc&) {
  return internal::OutOfMemory();
}

size_t SkipIndexReader::num_granules() const noexcept { return index_->num_granules(); }

std::vector<bool> SkipIndexReader::Candidates(const Predicate& predicate) const {
  const GranuleSet candidates = index_->Candidates(predicate);
  std::vector<bool> may_match(candidates.num_granules());
  for (size_t granule = 0; granule < may_match.size(); ++granule) {
    may_match[granule] = candidates.Has(granule);
  }
  return may_match;
}

}  // namespace blocksieve
