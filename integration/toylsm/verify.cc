#include "integration/toylsm/verify.h"

#include "integration/toylsm/db.h"

namespace blocksieve::toylsm {

Status VerifyFile(const SstReader& file, const std::vector<Column>& columns,
                  const ReadContext& context) {
  const std::string name = "file " + std::to_string(file.info().number) + ": ";
  const auto skip_index = file.skip_index(context);
  if (skip_index == nullptr && file.index().value_granule_blocks != 0) {
    return Status::Corruption(name + "the skip index cannot be read");
  }
  uint64_t num_entries = 0;
  for (size_t i = 0; i < file.num_blocks(); ++i) {
    const auto block = file.ReadBlock(i, context);
    if (!block.ok()) return block.status();
    const std::vector<Entry>& entries = (*block)->entries;
    num_entries += entries.size();
    const auto filter = file.ReadFilter(i, context);
    if (filter == nullptr && file.HasFilter(i)) {
      return Status::Corruption(name + "a filter cannot be read");
    }
    for (const Entry& entry : entries) {
      if (filter != nullptr && !filter->filter.MayMatch(entry.key)) {
        return Status::Corruption(name + "a filter denies a key that is there");
      }
      if (skip_index != nullptr && !skip_index->Admits(i, entry, columns)) {
        return Status::Corruption(name + "the skip index denies a value that is there");
      }
    }
  }
  if (num_entries != file.index().num_entries) {
    return Status::Corruption(name + "number of entries");
  }
  return Status::Ok();
}

Status Db::Verify() {
  const std::shared_ptr<const Version> version = this->version();
  for (const std::shared_ptr<SstReader>& file : version->AllFiles()) {
    Status status = VerifyFile(*file, options_.value_columns, maintenance_context());
    if (!status.ok()) return status;
  }
  return Status::Ok();
}

}  // namespace blocksieve::toylsm
