// SPDX-License-Identifier: Apache-2.0
#include "integration/rocksdb/scan/file_asker.h"

#include <algorithm>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "blocksieve/skip_index.h"

namespace blocksieve::rocksdb_plugin {

FileAsker::FileAsker(const FamilyFiles& files, const Predicate& condition,
                     std::shared_ptr<rocksdb::FileSystem> file_system, uint32_t value_suffix_bytes)
    : files_(files),
      condition_(condition),
      file_system_(std::move(file_system)),
      value_suffix_bytes_(value_suffix_bytes),
      pruner_(condition) {
  std::tie(kept_, num_dropped_) = SkipIndexCatalog::Default().FindKept(
      files.serial_number(), files.earlier_serial_number(), condition.columns());
  if (kept_ != nullptr && kept_->owner != files.serial_number())
    TakeOver(*std::exchange(kept_, nullptr));
}

FileIndex FileAsker::Open(size_t file) {
  if (kept_ == nullptr || kept_->files[file].index == nullptr) OpenByCatalog(file);
  constexpr size_t kAhead = 8;  // waiting for memory took half of the time
  if (const size_t next = file + kAhead; next < kept_->files.size() && kept_->files[next].has_index)
    pruner_.Prefetch(DigestsOf(next));
  current_ = &kept_->files[file];
  digests_ = DigestsOf(file);
  return {current_->has_index && current_->value_suffix_bytes == value_suffix_bytes_,
          [this](PruneColumns by) -> std::optional<bool> {
            if (!current_->has_index) return std::nullopt;
            return pruner_.MayMatch(digests_, by, current_->num_granules);
          }};
}

std::span<const internal::ColumnDigest> FileAsker::DigestsOf(size_t file) const {
  return std::span(kept_->digests).subspan(file * num_columns(), num_columns());
}

void FileAsker::Keep() {
  if (opened_ == nullptr) return;
  ForgetUnlessHeld();
  SkipIndexCatalog::Default().Keep(std::move(opened_), num_dropped_);
}

// So that all indexes together take the memory of the catalog, and not that of all files.
void FileAsker::ForgetUnlessHeld() {
  if (!last_opened_) return;
  IndexesOfFiles::File& file = opened_->files[*last_opened_];
  if (!SkipIndexCatalog::Default().Holds(*file.index, num_dropped_)) file = {};
}

void FileAsker::Start() {
  opened_ = kept_ != nullptr
                ? std::make_shared<IndexesOfFiles>(*kept_)
                : std::make_shared<IndexesOfFiles>(IndexesOfFiles{.owner = files_.serial_number(),
                                                                  .columns = condition_.columns()});
  opened_->files.resize(files_.files().size());
  opened_->digests.resize(files_.files().size() * num_columns());
  kept_ = opened_;
}

// The indexes of an earlier list for the files that are still there.
void FileAsker::TakeOver(const IndexesOfFiles& earlier) {
  std::unordered_map<const void*, size_t> numbers;
  for (size_t i = 0; i < earlier.files.size(); ++i) {
    if (earlier.files[i].index != nullptr) numbers[earlier.files[i].table.get()] = i;
  }
  Start();
  for (size_t i = 0; i < files_.files().size(); ++i) {
    const auto known = numbers.find(files_.files()[i].table.get());
    if (known == numbers.end() || known->first == nullptr) continue;
    opened_->files[i] = earlier.files[known->second];
    std::copy_n(earlier.digests.begin() + Offset(known->second), num_columns(),
                opened_->digests.begin() + Offset(i));
  }
}

void FileAsker::OpenByCatalog(size_t file) {
  if (opened_ == nullptr) Start();
  ForgetUnlessHeld();
  last_opened_.reset();
  const std::shared_ptr<const KnownTable>& table = files_.files()[file].table;
  auto opened = SkipIndexCatalog::Default().Open(table->id, table->properties,
                                                 {file_system_, table->path}, condition_.columns());
  const SkipIndex* const index = opened->index();
  const uint32_t suffix = opened->value_suffix_bytes();
  opened_->files[file] = {std::move(opened), table, index != nullptr,
                          index == nullptr ? 0 : index->num_granules(), suffix};
  last_opened_ = file;
  if (index == nullptr) return;
  std::ranges::transform(index->FindAll(condition_), opened_->digests.begin() + Offset(file),
                         [](const internal::ColumnIndex* column) {
                           return column == nullptr ? internal::ColumnDigest() : column->Digest();
                         });
}

}  // namespace blocksieve::rocksdb_plugin
