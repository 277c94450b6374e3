// SPDX-License-Identifier: Apache-2.0
#include <rocksdb/db.h>
#include <rocksdb/env.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "blocksieve/rocksdb/maintenance.h"
#include "integration/rocksdb/compat/column_families.h"
#include "integration/rocksdb/compat/log.h"
#include "integration/rocksdb/compat/option_type.h"
#include "integration/rocksdb/index/skip_index_collector.h"
#include "integration/rocksdb/listener/listener.h"
#include "integration/rocksdb/maintenance/file_report.h"
#include "integration/rocksdb/options/loaded_options.h"
#include "integration/rocksdb/policy/filter_bits.h"
#include "integration/rocksdb/policy/policy.h"
#include "integration/rocksdb/ranges/range_extractor.h"
#include "integration/rocksdb/scan/scan_context.h"
#include "lib/base/errors.h"

namespace blocksieve {
namespace rocksdb_plugin {
namespace {

// Whether the sizes of filters may say that bits_per_key is not kept.
bool ChecksBits(const rocksdb::Options& options) {
  const Policy* const policy = FindPolicy(options);
  return policy != nullptr && policy->options().bits_per_key &&
         (!policy->options().prefixes.empty() || options.optimize_filters_for_hits);
}

// What RocksDB leaves of bits_per_key without filters for the last level.
std::string ExplainBits(double asked, const std::vector<FileReport>& files) {
  uint64_t entries = 0, bytes = 0;
  for (const FileReport& file : files) {
    entries += file.num_entries;
    bytes += file.filter.num_bytes;
  }
  return "filters take " + ToText(std::round(80 * Ratio(bytes, entries)) / 10) +
         " of bits_per_key=" + ToText(asked) +
         ": with optimize_filters_for_hits, RocksDB builds none for the last level";
}

// Whether bits_per_key has left no room for the prefixes of some file. Filters below this rate have
// it for a prefix of each key; other files may have no key with a prefix.
bool LacksPrefixBits(const std::vector<FileReport>& files) {
  constexpr double kCoarse = kMaxTargetFpr / 2;
  return std::ranges::any_of(files, [](const FileReport& file) {
    const FilterReport& filter = file.filter;
    if (filter.policy != Policy::kName || filter.prefixes.num_filters != 0) return false;
    return filter.origin == FilterOrigin::kNone || filter.predicted_fpr >= kCoarse;
  });
}

// Adds each value_suffix_bytes that differs from what the database hides of values.
void CheckSuffix(rocksdb::DB* db, const rocksdb::Options& options,
                 std::vector<std::string>* problems) {
  const uint32_t hidden = HiddenSuffixBytes(db, options);
  const auto check = [&](const char* index, uint32_t bytes, const char* rewriter) {
    if (bytes == hidden) return;
    problems->push_back("value_suffix_bytes is " + std::to_string(bytes) + " in the " + index +
                        ", but the database hides " + std::to_string(hidden) +
                        " bytes at the end of values, so no read uses the columns; set it to " +
                        std::to_string(hidden) + "; " + rewriter + " gives files the new index");
  };
  SkipIndexSettings skip_index;
  if (FindIndexOptions(options, &skip_index).ok()) {
    check("skip index", skip_index.value_suffix_bytes, "RebuildSkipIndexes");
  }
  const auto block_index = FindBlockIndexOptions(options);
  if (block_index && !block_index->columns.empty()) {
    check("block index", block_index->value_suffix_bytes, "RewriteFilters");
  }
}

// Files without the block index of the options; empty without such files.
std::string CountUnindexed(const rocksdb::Options& options, const std::vector<FileReport>& files) {
  const auto lacks_index = [&](const FileReport& file) { return LacksBlockIndex(file, options); };
  const auto count = std::ranges::count_if(files, lacks_index);
  if (count == 0) return "";
  std::string text = std::to_string(count) + " of " + std::to_string(files.size()) +
                     " files have no block index, or one of other options; RewriteFilters gives "
                     "them the index";
  const auto have_ranges = std::ranges::count_if(files, [&](const FileReport& file) {
    return lacks_index(file) && file.filter.answers_ranges();
  });
  if (have_ranges == 0 || !AnswersRanges(*FindBlockIndexOptions(options))) return text;
  text += "; " + std::to_string(have_ranges) + " of them have range filters";
  return text + (IsRangeExtractor(options.prefix_extractor.get())
                     ? ": keep prefix_extractor=blocksieve.range until then"
                     : ", which no seek asks: set prefix_extractor=blocksieve.range, or call "
                       "RewriteFilters");
}

bool NamesOurs(const std::string& policy) { return policy.find("blocksieve") != policy.npos; }

// Also logs them, and the options in effect.
std::vector<std::string> FindProblems(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* column_family,
                                      const std::vector<FileReport>& files) {
  std::vector<std::string> problems;
  const std::string& family = column_family->GetName();
  const rocksdb::Options options = db->GetOptions(column_family);
  const Policy* const policy = FindPolicy(options);
  const auto named = FindNamedPolicy(db->GetEnv(), db->GetName(), family);
  if (policy == nullptr && named && NamesOurs(named->first)) {
    problems.push_back(
        "the filter policy is not blocksieve's, in spite of filter_policy=" + named->first +
        " in " + named->second + ": load the plug-in before the OPTIONS file, or correct the name");
  }
  const std::string fallback = policy == nullptr ? "" : policy->FallbackText();
  if (!fallback.empty()) problems.push_back(fallback);
  if (policy != nullptr && ToGoal(policy->options()).differs_by_run() && !HasListener(options)) {
    problems.push_back(kNeedsListener);
  }
  if (ChecksBits(options)) {
    if (options.optimize_filters_for_hits) {
      problems.push_back(ExplainBits(*policy->options().bits_per_key, files));
    } else if (LacksPrefixBits(files)) {
      problems.push_back(kNoBitsForPrefixes);
    }
  }
  if (policy != nullptr) {  // which SetOptions may have undone since the database was opened
    const rocksdb::Status opens = CheckRangeOptions(policy->options(), options, true);
    if (!opens.ok()) problems.push_back(ToMessage(opens));
  }
  CheckSuffix(db, options, &problems);
  const std::string unindexed = CountUnindexed(options, files);
  if (!unindexed.empty()) problems.push_back(unindexed);
  const FilterReader reader = ReaderOf(options);
  for (const FilterState state :
       {FilterState::kMissing, FilterState::kNotRead, FilterState::kUseless}) {
    const auto count = std::ranges::count_if(
        files, [&](const FileReport& file) { return JudgeFilter(file) == state; });
    const bool is_missing = state == FilterState::kMissing;
    if (count == 0 || (is_missing && policy == nullptr && !named)) continue;
    problems.push_back(
        std::to_string(count) + " of " + std::to_string(files.size()) + " files have " +
        StateText(state, reader) + "; " +
        (policy != nullptr || (is_missing && NamesOurs(named->first)) ? "RewriteFilters builds them"
         : is_missing && !Judge(named->first).builds()
             ? "filter_policy=" + named->first + " builds none"
         : reader.kind == FilterReader::Kind::kNone
             ? "set the policy that built them, or close the database and run blocksieve revert"
         : state == FilterState::kNotRead
             ? "compactions replace them; to replace all, close the database and run blocksieve "
               "revert"
             : "compactions build them"));
  }
  rocksdb::Logger* const log = db->GetDBOptions().info_log.get();
  if (policy != nullptr) policy->LogOptions(log, family);
  for (const std::string& problem : problems) LogLoudly(log, problem, "", family);
  return problems;
}

}  // namespace

std::optional<std::pair<std::string, std::string>> FindNamedPolicy(rocksdb::Env* env,
                                                                   const std::string& database,
                                                                   const std::string& family) {
  std::vector<std::string> names;
  env->GetChildren(database, &names).PermitUncheckedError();
  std::erase_if(names, [](const std::string& name) {
    return !name.starts_with("OPTIONS-") || name.find_first_not_of("0123456789", 8) != name.npos;
  });
  std::ranges::sort(names, std::greater(),
                    [](const std::string& name) { return std::pair(name.size(), name); });
  for (const std::string& name : names) {
    std::string text;
    if (!rocksdb::ReadFileToString(env, database + "/" + name, &text).ok()) continue;
    const std::optional<std::string> value =
        OptionsText(text).Find(OptionsSection::Table(family), "filter_policy");
    if (Judge(value.value_or("")).kind != PolicyEffect::kNone) return std::pair(*value, name);
  }
  return std::nullopt;
}

}  // namespace rocksdb_plugin

using namespace rocksdb_plugin;  // NOLINT: the same component

rocksdb::Status CheckFilters(rocksdb::DB* db,
                             const std::vector<rocksdb::ColumnFamilyHandle*>& column_families,
                             std::vector<std::string>* problems) {
  return PublicCall({{"db", db}, {"problems", problems}}, [&]() -> rocksdb::Status {
    std::vector<rocksdb::ColumnFamilyHandle*> families = column_families;
    BLOCKSIEVE_RETURN_IF_ERROR(ResolveFamilies(db, &families));
    for (rocksdb::ColumnFamilyHandle* const family : families) {
      std::vector<FileReport> files;
      const bool checks_bits = ChecksBits(db->GetOptions(family));
      BLOCKSIEVE_RETURN_IF_ERROR(ReadLiveFiles(
          db, family, checks_bits ? FileParts::kFilters : FileParts::kIndexes, &files));
      const std::string place =
          families.size() == 1 ? "" : "column family " + family->GetName() + ": ";
      for (const std::string& problem : FindProblems(db, family, files)) {
        problems->push_back(place + problem);
      }
    }
    return rocksdb::Status::OK();
  });
}

}  // namespace blocksieve
