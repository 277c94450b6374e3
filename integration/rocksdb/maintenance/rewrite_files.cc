// SPDX-License-Identifier: Apache-2.0
#include "integration/rocksdb/maintenance/rewrite_files.h"

#include <rocksdb/sst_file_reader.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <filesystem>
#include <memory>
#include <thread>

#include "integration/rocksdb/compat/column_families.h"
#include "integration/rocksdb/compat/compact_file.h"
#include "integration/rocksdb/compat/filter_bits_abi.h"
#include "integration/rocksdb/compat/log.h"
#include "integration/rocksdb/compat/option_type.h"
#include "integration/rocksdb/compat/version_differences.h"
#include "integration/rocksdb/levels/column_family_levels.h"
#include "integration/rocksdb/levels/filter_budget.h"
#include "integration/rocksdb/listener/listener.h"
#include "integration/rocksdb/policy/policy.h"
#include "integration/rocksdb/sidecar/databases.h"
#include "lib/base/altered_answers.h"
#include "lib/base/errors.h"

namespace blocksieve {
namespace rocksdb_plugin {
namespace {

// Whether the file has other range filters or prefixes than it would get now. A file may lack a
// part because its keys give none: it must not qualify again, so its keys decide.
bool ChangesParts(const FileReport& file, const EnableOptions& requested,
                  const KeysOfFile& keys_of_file) {
  const FilterReport& filter = file.filter;
  if (filter.origin == FilterOrigin::kStock) return AnswersRanges(requested);
  if (filter.origin != FilterOrigin::kBlocksieve) return false;
  // Blocksieve's filters may be better, but do not work in RocksDB alone.
  if (requested.kind == FilterKind::kStock) return true;
  const bool has_ranges = filter.ranges.num_filters != 0;
  const bool has_prefixes = filter.prefixes.num_filters != 0;
  if ((has_ranges && !requested.ranges) || (has_prefixes && requested.prefixes.empty()))
    return true;
  if (has_prefixes && requested.prefixes != "auto" &&
      filter.prefix_rules != std::vector{requested.prefixes}) {
    return true;
  }
  const bool lacks_ranges = requested.ranges && !has_ranges;
  const bool lacks_prefixes = !requested.prefixes.empty() && !has_prefixes;
  if (!filter.has_range_extractor) return lacks_ranges || lacks_prefixes;
  if (!lacks_ranges && !lacks_prefixes) return false;
  SeekSample sample(requested.prefixes, FilterOptions().target_fpr, requested.max_build_bytes);
  sample.AddFile(file, keys_of_file, /*max_keys=*/UINT64_MAX);
  const RunSeeks built = sample.ScaleTo(file.num_entries);
  // `auto` chooses for each partition, and partitions may end elsewhere: most keys decide.
  return (lacks_ranges && built.ranges.num_bytes != 0) ||
         (lacks_prefixes && built.prefixes.fpr < 0.5);
}

using Clock = std::chrono::steady_clock;

constexpr auto kReportInterval = std::chrono::milliseconds(100);

rocksdb::Status Stopped() { return rocksdb::Status::Incomplete("blocksieve: stopped by progress"); }

// False if `report` stops the work.
bool WaitUntil(Clock::time_point end, const ReportProgress& report, const FileProgress& progress) {
  while (Clock::now() < end) {
    if (!report(progress)) return false;
    std::this_thread::sleep_for(std::min<Clock::duration>(kReportInterval, end - Clock::now()));
  }
  return true;
}

// As RocksDB lists it, also where it is a LevelDB's .ldb.
std::string ToFileName(const FilePlace& place) {
  return "/" + std::filesystem::path(place.path).stem().string() + ".sst";
}

rocksdb::Status RewriteOne(rocksdb::DB* db, const FileToRewrite& rewrite,
                           const FamilyHandles& handle_of, std::set<std::string>* written) {
  const FilePlace& place = rewrite.file->place;
  rocksdb::ColumnFamilyHandle* const family = handle_of(place.family);
  // RocksDB reports no beginning of CompactFiles.
  const Listener* const listener = KeepsAccounts() ? FindListener(db->GetDBOptions()) : nullptr;
  if (listener != nullptr) listener->Refresh(db, {family->GetName(), family->GetID()});
  // The policy must see the same tree as the plan.
  if (const std::vector<TreeLevel>& levels = rewrite.plan->levels; !levels.empty()) {
    ReplaceLevels(OpenDatabase(db), place.family, levels);
  }
  RegisterForSidecars(db, {family->GetName(), family->GetID()});
  if (!KeepsAccounts()) return CompactFile(db, family, ToFileName(place), written);
  const OpenDatabase database(db);
  BeginJob(database, {place.family,
                      kUnknownJob,
                      {SstNumber(place.path)},
                      place.level,
                      rewrite.file->num_entries,
                      true});
  const rocksdb::Status status = CompactFile(db, family, ToFileName(place), written);
  EndJob(database, place.family, kUnknownJob, status.ok(), {});
  return status;
}

/// The share of filter_memory that a column family has; none without a ceiling.
std::optional<FilterShare> ShareOf(rocksdb::DB* db, const std::string& family) {
  for (const FilterShare& share : ReadFilterShares(OpenDatabase(db))) {
    if (share.family == family) return share;
  }
  return std::nullopt;
}

/// Leaves out files whose filters cannot grow, as the ceiling is full and none of the plan shrinks:
/// each call would rewrite them.
void LeaveOutWithoutRoom(uint64_t free_bytes, std::vector<FilterChange>* changes) {
  if (std::ranges::any_of(*changes, [](const auto& change) { return change.saved_bytes > 0; }))
    return;
  std::erase_if(*changes, [&](const FilterChange& change) {
    return !change.changes_parts && -change.saved_bytes > 2 * static_cast<int64_t>(free_bytes);
  });
}

/// Visits the keys of a table of a database with these options, without timestamps, in order, up to
/// an error. Leaves out those whose latest entry is a delete.
void VisitKeys(const rocksdb::Options& options, const std::string& path,
               const std::function<void(std::string_view)>& visit) {
  rocksdb::SstFileReader table(options);
  if (!table.Open(path).ok()) return;
  std::optional<std::string> latest;
  const auto add = [&](const rocksdb::Slice& key, const auto&, rocksdb::EntryType type, auto) {
    if (latest == key.ToStringView()) return true;
    latest = key.ToString();
    if (type != rocksdb::kEntryDelete && type != rocksdb::kEntrySingleDelete &&
        type != rocksdb::kEntryDeleteWithTimestamp)
      visit(*latest);
    return true;
  };
  ForEachEntry(&table, options.comparator, add).PermitUncheckedError();
}

// Errors: those of RewriteFilters for options under which it cannot build better filters.
rocksdb::Status CheckRewritable(const rocksdb::Options& options, const std::string& family) {
  if (options.compaction_style == rocksdb::kCompactionStyleFIFO) {
    return rocksdb::Status::NotSupported("blocksieve: FIFO compaction rewrites no files");
  }
  const Policy* const policy = FindPolicy(options);
  if (policy == nullptr) {
    if (FindBlockIndexOptions(options)) return {};
    return rocksdb::Status::InvalidArgument(
        "blocksieve: column family " + family +
        " has no filter policy of this version of blocksieve; set one with Enable");
  }
  if (const std::string& problem = LoadedAbiProblem(); !problem.empty()) {
    return rocksdb::Status::NotSupported("blocksieve: " + problem);
  }
  if (!ToGoal(policy->options()).differs_by_run() || HasListener(options)) return {};
  return rocksdb::Status::InvalidArgument("blocksieve: " + std::string(kNeedsListener));
}

/// A column family that RewriteFilters works on.
struct FamilyToRewrite {
  rocksdb::ColumnFamilyHandle* handle = nullptr;
  rocksdb::Options options = {};
  std::vector<FileReport> files = {};
  std::vector<Tree> trees = {};  // one, unless there are no files
  FilterPlan plan = {};
  std::vector<std::string> not_better = {};
};

// Reads the files and plans. Appends to `*rewrites`, which point into the family.
rocksdb::Status PlanFamily(rocksdb::DB* db, const RewriteFiltersOptions& options,
                           const std::set<std::string>& written, FamilyToRewrite* family,
                           std::vector<FileToRewrite>* rewrites) {
  const auto visit_keys = [&](const FileReport& file,
                              const std::function<void(std::string_view)>& visit) {
    VisitKeys(family->options, file.place.path, visit);
  };
  family->not_better.clear();
  if (const Listener* const listener = FindListener(db->GetDBOptions()))
    listener->Refresh(db, {family->handle->GetName(), family->handle->GetID()});
  BLOCKSIEVE_RETURN_IF_ERROR(
      ReadLiveFiles(db, family->handle, FileParts::kFilters, &family->files));
  family->trees = BuildTrees(family->files);
  if (family->trees.empty() || family->trees.front().num_keys() == 0) return {};
  Tree& tree = family->trees.front();
  // Lookup shares as the policy has sampled them.
  const auto known =
      KnownLevels({family->options.info_log.get(), family->handle->GetName(), db->GetName()});
  if (known) tree.SetLookupShares(*known);
  const std::optional<FilterShare> share = ShareOf(db, family->handle->GetName());
  std::optional<double> share_bytes;
  if (share) share_bytes = static_cast<double>(share->share_bytes);
  Result<FilterPlan> plan = PlanColumnFamily(family->files, tree, family->options, options,
                                             visit_keys, written, share_bytes, &family->not_better);
  if (!plan.ok()) return ToRocksStatus(plan.status());
  if (share) LeaveOutWithoutRoom(share->free_bytes, &plan->changes);
  family->plan = *std::move(plan);
  const std::vector<FileToRewrite> more = FilesToRewrite(family->files, tree, family->plan);
  rewrites->insert(rewrites->end(), more.begin(), more.end());
  return {};
}

}  // namespace

Result<FilterPlan> PlanColumnFamily(const std::vector<FileReport>& files, const Tree& tree,
                                    const rocksdb::ColumnFamilyOptions& family,
                                    const RewriteFiltersOptions& options,
                                    const KeysOfFile& keys_of_file,
                                    const std::set<std::string>& written,
                                    std::optional<double> filter_bytes,
                                    std::vector<std::string>* not_better) {
  const auto report = [&](size_t file) -> const FileReport& {
    return files[tree.files()[file].id];
  };
  const auto is_chosen = [&](size_t file) { return IsChosen(options, report(file)); };
  const auto lacks_index = [&](size_t file) { return LacksBlockIndex(report(file), family); };
  if (const Policy* const policy = FindPolicy(family)) {
    const auto changes_parts = [&](size_t file) {
      return lacks_index(file) || ChangesParts(report(file), policy->options(), keys_of_file);
    };
    RateGoal goal = ToGoal(policy->options());
    if (filter_bytes) goal.filter_bytes = filter_bytes;
    Result<FilterPlan> plan = blocksieve::PlanRewrites(tree, goal, is_chosen, changes_parts);
    if (!plan.ok()) return plan;
    std::vector<FilterChange> changes = plan->changes;
    std::erase_if(changes, [&](const FilterChange& change) {
      const FileReport& file = report(change.file);
      const auto level = static_cast<size_t>(std::max(file.place.level, 0));
      const std::string why =
          written.contains(file.place.path)
              ? std::string(kNotAsPlanned)
              : WhyNoBetter(files, file, family, plan->rates.levels[level], change, keys_of_file);
      if (!why.empty()) not_better->push_back(why);
      return !why.empty();
    });
    FilterPlan kept = PlanChanges(tree, std::move(changes));
    kept.goal = plan->goal;
    kept.levels = std::move(plan->levels);
    kept.rates = std::move(plan->rates);
    return kept;
  }
  std::vector<FilterChange> changes;  // of which the filters stay
  for (size_t file = 0; file < tree.files().size(); ++file) {
    const TreeFile& of_tree = tree.files()[file];
    if (!is_chosen(file) || !lacks_index(file)) continue;
    changes.push_back({file, of_tree.fpr, of_tree.filter_bytes, /*changes_parts=*/true});
  }
  return PlanChanges(tree, std::move(changes));
}

std::string NotBetterText(const std::vector<std::string>& not_better) {
  if (not_better.empty()) return "";
  std::string text =
      "RocksDB builds no better filter for " + std::to_string(not_better.size()) + " files";
  const std::set<std::string> reasons(not_better.begin(), not_better.end());
  for (const std::string& why : reasons) text += (why == *reasons.begin() ? ": " : "; ") + why;
  return text + ".\n";
}

bool IsChosen(const RewriteFiltersOptions& options, const FileReport& file) {
  return (!options.level || file.place.level == static_cast<int>(*options.level)) &&
         (!options.only_unfiltered || JudgeFilter(file) != FilterState::kWorks);
}

std::string PartsText(const rocksdb::ColumnFamilyOptions& family) {
  const Policy* const policy = FindPolicy(family);
  const EnableOptions requested = policy == nullptr ? EnableOptions() : policy->options();
  std::string text = requested.prefixes.empty() ? "" : ";prefixes=" + requested.prefixes;
  if (requested.ranges) text += ";ranges=true";
  if (FindBlockIndexOptions(family)) text += std::string(";") + kBlockIndexPlace;
  if (!text.empty()) return text.substr(1);
  return requested.kind == FilterKind::kStock ? "" : "none";
}

std::vector<FileToRewrite> FilesToRewrite(const std::vector<FileReport>& files, const Tree& tree,
                                          const FilterPlan& plan) {
  std::vector<FileToRewrite> rewrites;
  for (const FilterChange& change : plan.changes) {
    rewrites.push_back({&files[tree.files()[change.file].id], change, &plan});
  }
  return rewrites;
}

rocksdb::Status RewriteFiles(rocksdb::DB* db, const std::vector<FileToRewrite>& files,
                             const FamilyHandles& handle_of, uint64_t bytes_per_second,
                             const ReportProgress& report, std::set<std::string>* written,
                             FileProgress* progress) {
  constexpr int kMaxWaits = 6000;
  progress->files_left = files.size();
  progress->bytes_left = 0;
  for (const FileToRewrite& each : files) progress->bytes_left += each.file->num_bytes;
  std::deque<FileToRewrite> queue(files.begin(), files.end());
  // Below a ceiling, others may take what filters give back that become smaller.
  if (KeepsAccounts()) {
    std::ranges::stable_partition(
        queue, [](const FileToRewrite& each) { return each.change.saved_bytes > 0; });
  }
  for (int waits = 0; !queue.empty();) {
    if (!report(*progress)) return Stopped();
    const FileToRewrite rewrite = queue.front();
    const FileReport& file = *rewrite.file;
    queue.pop_front();
    const Clock::time_point begin = Clock::now();
    rocksdb::Status status = RewriteOne(db, rewrite, handle_of, written);
    if (status.IsAborted()) {
      // RocksDB compacts the file, or a range that overlaps it.
      if (++waits > kMaxWaits) {
        return rocksdb::Status::Incomplete("blocksieve: other compactions hold " + file.place.path +
                                           "; try again later");
      }
      queue.push_back(rewrite);
      if (!WaitUntil(begin + kReportInterval, report, *progress)) return Stopped();
      continue;
    }
    if (!status.ok() && !status.IsNotFound()) return status;
    const uint64_t num_bytes = file.num_bytes;
    --progress->files_left;
    progress->bytes_left -= num_bytes;
    if (!status.ok()) continue;  // compacted away
    ++progress->files_done;
    progress->bytes_done += num_bytes;
    if (internal::FailsAt("next_rewrite")) return Stopped();
    if (bytes_per_second == 0 || queue.empty()) continue;
    const std::chrono::duration<double> pace(static_cast<double>(num_bytes) /
                                             static_cast<double>(bytes_per_second));
    const auto end = begin + std::chrono::duration_cast<Clock::duration>(pace);
    if (!WaitUntil(end, report, *progress)) return Stopped();
  }
  return rocksdb::Status::OK();
}

}  // namespace rocksdb_plugin

using namespace rocksdb_plugin;  // NOLINT: the same component

rocksdb::Status RewriteFilters(rocksdb::DB* db,
                               const std::vector<rocksdb::ColumnFamilyHandle*>& column_families,
                               const RewriteFiltersOptions& options,
                               const std::function<bool(const FileProgress&)>& progress) {
  return PublicCall({{"db", db}}, [&]() -> rocksdb::Status {
    constexpr int kMaxRounds = 5;
    std::vector<rocksdb::ColumnFamilyHandle*> handles = column_families;
    BLOCKSIEVE_RETURN_IF_ERROR(ResolveFamilies(db, &handles));
    std::vector<FamilyToRewrite> families;
    for (rocksdb::ColumnFamilyHandle* const handle : handles) {
      families.push_back({handle, db->GetOptions(handle)});
      BLOCKSIEVE_RETURN_IF_ERROR(CheckRewritable(families.back().options, handle->GetName()));
    }
    const auto handle_of = [&](const std::string& family) {
      return *std::ranges::find(handles, family, &rocksdb::ColumnFamilyHandle::GetName);
    };
    const auto report = [&](const FileProgress& done) { return !progress || progress(done); };
    FileProgress done;
    std::set<std::string> written;
    for (int round = 0;; ++round) {
      std::vector<FileToRewrite> rewrites;
      for (FamilyToRewrite& family : families) {
        BLOCKSIEVE_RETURN_IF_ERROR(PlanFamily(db, options, written, &family, &rewrites));
      }
      if (rewrites.empty()) break;
      if (round == kMaxRounds) {
        return rocksdb::Status::Incomplete(
            "blocksieve: " + std::to_string(rewrites.size()) +
            " files that were written meanwhile would improve; try again later");
      }
      BLOCKSIEVE_RETURN_IF_ERROR(
          RewriteFiles(db, rewrites, handle_of, options.bytes_per_second, report, &written, &done));
    }
    for (const auto& [handle, family, files, trees, plan, not_better] : families) {
      if (not_better.empty()) continue;
      LogQuietly(family.info_log.get(), NotBetterText(not_better), {}, handle->GetName(),
                 rocksdb::InfoLogLevel::WARN_LEVEL);
    }
    done.files_left = done.bytes_left = 0;
    report(done);
    return rocksdb::Status::OK();
  });
}

}  // namespace blocksieve
