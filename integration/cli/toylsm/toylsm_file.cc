#include <algorithm>
#include <functional>
#include <set>
#include <utility>

#include "blocksieve/filter_block.h"
#include "blocksieve/range_filter.h"
#include "integration/cli/engine/table_file.h"
#include "integration/cli/term/failure.h"
#include "integration/cli/toylsm/toylsm_engine.h"
#include "integration/toylsm/sst/reader.h"

namespace blocksieve::cli {
namespace {

using toylsm::Env;

/// A file of the toy LSM. Its filters are of granules of data blocks.
class ToyLsmFile final : public TableFile {
 public:
  ToyLsmFile(const FilePlace& place, const toylsm::FileInfo& info) {
    Result<std::shared_ptr<toylsm::SstReader>> file =
        toylsm::SstReader::Open(Env::Posix(), place.path, info, context_);
    if (!file.ok()) term::Fail("cannot open {}", file.status().message());
    file_ = *std::move(file);
    report_.place = place;
    report_.place.keys = LookupRange{file_->first_key(), file_->last_key(), std::less<>()};
    report_.num_entries = file_->index().num_entries;
    report_.num_bytes = info.num_bytes;
    DescribeFilters();
    DescribeIndex();
  }

  const FileReport& report() const override { return report_; }

  std::vector<std::string> FindDamage() override {
    const Status status = toylsm::VerifyFile(*file_, Columns(), context_);
    return status.ok() ? std::vector<std::string>() : std::vector{status.message()};
  }

  std::string ForEachKey(const KeyVisitor& visit) override {
    for (size_t i = 0; i < file_->num_blocks(); ++i) {
      const auto block = file_->ReadBlock(i, context_);
      if (!block.ok()) term::Fail("{}", block.status().message());
      const auto filter = Filter(i);
      for (const toylsm::Entry& entry : (*block)->entries) {
        visit(entry.key, filter == nullptr || filter->filter.MayMatch(entry.key));
      }
    }
    return "";
  }

  bool MayMatch(std::string_view key) override {
    const auto filter = Filter(std::min(file_->FindBlock(key), file_->num_blocks() - 1));
    return filter == nullptr || filter->filter.MayMatch(key);
  }

  std::optional<bool> MayMatchRange(std::string_view begin, std::string_view end) override {
    if (report_.filter.num_range_filters == 0) return std::nullopt;
    return file_->MayHaveKeyIn({std::string(begin), std::string(end)}, context_);
  }

  bool HasKeyIn(std::string_view begin, std::string_view end) override {
    const size_t number = file_->FindBlock(begin);
    if (number == file_->num_blocks()) return false;
    const auto block = file_->ReadBlock(number, context_);
    if (!block.ok()) term::Fail("{}", block.status().message());
    const auto& entries = (*block)->entries;
    const auto found = std::partition_point(entries.begin(), entries.end(),
                                            [&](const toylsm::Entry& e) { return e.key < begin; });
    return found != entries.end() && found->key < end;
  }

  std::optional<std::string> AbsentKey(std::string_view present, std::mt19937_64* random) override {
    return RandomExtension(present, random);
  }

  // Blocks are of about the same size.
  double ShareBefore(std::string_view key) override {
    return static_cast<double>(file_->FindBlock(key)) / static_cast<double>(file_->num_blocks());
  }

 private:
  std::shared_ptr<const toylsm::Block> Filter(size_t block) {
    return file_->ReadFilter(block, context_);
  }

  void DescribeFilters() {
    FilterReport& report = report_.filter;
    const toylsm::SstIndex& index = file_->index();
    std::set<std::string> kinds;
    double sum = 0;  // of every block, the rate of its filter
    double range_sum = 0;
    double range_keys = 0;
    for (size_t i = 0; i < index.filters.size(); ++i) {
      const size_t first_block = i * index.filter_granule_blocks;
      const auto blocks = static_cast<double>(
          std::min<size_t>(index.filter_granule_blocks, file_->num_blocks() - first_block));
      if (!file_->HasFilter(first_block)) {
        sum += blocks;
        continue;
      }
      ++report.num_filters;
      report.num_bytes += index.filters[i].stored_bytes;
      const auto filter = Filter(first_block);
      const Result<FilterInfo> info = filter == nullptr
                                          ? Status::Corruption("its checksum is wrong")
                                          : DescribeFilterBlock(AsBytes(filter->bytes));
      if (info.ok()) {
        kinds.emplace(FilterKindName(info->kind));
        report.num_entries += info->num_keys;
        sum += blocks * PredictedFpr(*info);
        const Result<RangeFilterInfo> ranges = DescribeRangeFilter(AsBytes(filter->bytes));
        if (ranges.ok() && ranges->num_keys != 0) {
          ++report.num_range_filters;
          // As much of what is stored as of what was compressed.
          report.range_bytes +=
              ranges->bytes * index.filters[i].stored_bytes / index.filters[i].raw_bytes;
          const auto keys = static_cast<double>(ranges->num_keys);
          range_sum += keys * ranges->estimated_fpr;
          range_keys += keys;
        }
      } else {
        report.problems.push_back("a filter cannot be read: " + info.status().message());
        sum += blocks;
      }
    }
    if (report.num_filters == 0) return;
    report.origin = kinds.empty() ? FilterOrigin::kUnreadable : FilterOrigin::kBlocksieve;
    report.shape = index.filters.size() == 1 ? "full" : "per granule";
    report.of = report.num_range_filters == 0 ? "keys" : "keys and ranges";
    if (report.num_range_filters != 0) report.range_fpr = range_sum / range_keys;
    for (const std::string& kind : kinds) report.kind += (report.kind.empty() ? "" : "+") + kind;
    report.predicted_fpr = sum / static_cast<double>(file_->num_blocks());
  }

  void DescribeIndex() {
    if (file_->index().value_granule_blocks == 0) return;
    if (const auto index = file_->skip_index(context_)) {
      report_.index =
          ReportIndex(index->index().granules(), file_->index().skip_index.stored_bytes);
      report_.index.place = "sst";
    } else {
      report_.index.problem = "index unusable: it cannot be read";
    }
  }

  // Of the skip index, as far as their definitions can be read back.
  std::vector<Column> Columns() {
    std::vector<Column> columns;
    for (const IndexColumnReport& column : report_.index.columns) {
      Result<Column> parsed = Column::Parse(column.definition);
      if (parsed.ok()) columns.push_back(*std::move(parsed));
    }
    return columns;
  }

  FileReport report_;
  toylsm::Counters counters_;
  toylsm::BlockCache cache_{toylsm::Options().cache_bytes};
  const toylsm::ReadContext context_{&counters_, &cache_};
  std::shared_ptr<toylsm::SstReader> file_;
};

}  // namespace

bool IsToyLsmFile(ByteView end) {
  if (end.size() < toylsm::SstFooter::kBytes) return false;
  return toylsm::SstFooter::Decode(end.last(toylsm::SstFooter::kBytes)).status().code() !=
         StatusCode::kCorruption;
}

std::unique_ptr<TableFile> OpenToyLsmFile(const FilePlace& place) {
  const Result<bool> exists = Env::Posix()->Exists(place.path);
  if (exists.ok() && !*exists) return nullptr;
  const auto file = Env::Posix()->OpenFile(place.path);
  if (!file.ok()) term::Fail("cannot open {}", file.status().message());
  const uint64_t num_bytes = (*file)->size();
  if (num_bytes < toylsm::SstFooter::kBytes) term::Fail("cannot open {}: too short", place.path);
  const Result<std::string> end =
      toylsm::ReadExactly(**file, num_bytes - toylsm::SstFooter::kBytes, toylsm::SstFooter::kBytes);
  if (!end.ok()) term::Fail("cannot open {}: {}", place.path, end.status().message());
  const Result<toylsm::SstFooter> footer = toylsm::SstFooter::Decode(AsBytes(*end));
  if (!footer.ok()) term::Fail("cannot open {}: {}", place.path, footer.status().message());
  return std::make_unique<ToyLsmFile>(place, toylsm::FileInfo{.number = footer->file_number,
                                                              .level = std::max(place.level, 0),
                                                              .num_bytes = num_bytes});
}

}  // namespace blocksieve::cli
