#include <rocksdb/db.h>
#include <rocksdb/env.h>

#include <algorithm>
#include <functional>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "blocksieve/rocksdb/maintenance.h"
#include "integration/rocksdb/compat/filter_bits_abi.h"
#include "integration/rocksdb/compat/log.h"
#include "integration/rocksdb/compat/option_type.h"
#include "integration/rocksdb/compat/table_properties.h"
#include "integration/rocksdb/listener/listener.h"
#include "integration/rocksdb/options/loaded_options.h"
#include "integration/rocksdb/policy/policy.h"

namespace blocksieve {
namespace rocksdb_plugin {
namespace {

struct NamedPolicy {
  std::string value;
  std::string file;
  PolicyVerdict verdict;
};

// The policy that the newest OPTIONS file names that names one for the family. RocksDB keeps the
// last few files, and the newest, which it wrote when it opened the database, has nullptr if the
// policy was not loaded.
std::optional<NamedPolicy> FindNamedPolicy(rocksdb::DB* db, const std::string& family) {
  std::vector<std::string> names;
  db->GetEnv()->GetChildren(db->GetName(), &names).PermitUncheckedError();
  std::erase_if(names, [](const std::string& name) {
    return !name.starts_with("OPTIONS-") || name.find_first_not_of("0123456789", 8) != name.npos;
  });
  std::ranges::sort(names, std::greater(),
                    [](const std::string& name) { return std::pair(name.size(), name); });
  for (const std::string& name : names) {
    std::string text;
    if (!rocksdb::ReadFileToString(db->GetEnv(), db->GetName() + "/" + name, &text).ok()) continue;
    const std::optional<std::string> value =
        OptionsText(text).Find(OptionsSection::Table(family), "filter_policy");
    PolicyVerdict verdict = Judge(value.value_or(""));
    if (verdict.kind != PolicyEffect::kNone) return NamedPolicy{*value, name, std::move(verdict)};
  }
  return std::nullopt;
}

bool NamesOurs(const std::string& policy) { return policy.find("blocksieve") != policy.npos; }

// Also logs them, and the options in effect.
std::vector<std::string> FindProblems(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* column_family,
                                      const rocksdb::TablePropertiesCollection& files) {
  std::vector<std::string> problems;
  const std::string& family = column_family->GetName();
  const rocksdb::Options options = db->GetOptions(column_family);
  const Policy* const policy = PolicyOf(options);
  const std::optional<NamedPolicy> named = FindNamedPolicy(db, family);
  if (policy == nullptr && named && NamesOurs(named->value)) {
    problems.push_back(
        "the filter policy is not blocksieve's, in spite of filter_policy=" + named->value +
        " in " + named->file + ": load the plug-in before the OPTIONS file, or correct the name");
  }
  if (policy != nullptr && !LoadedAbiProblem().empty()) {
    problems.push_back("stock Bloom filters of the same FPR are built: " + LoadedAbiProblem());
  }
  if (policy != nullptr && GoalOf(policy->options()).differs_by_run() && !HasListener(options)) {
    problems.push_back(
        "wasted_reads and bits_per_key need the listener; add NewListener() to "
        "DBOptions::listeners");
  }
  // A file of a level that gets no filter has the name of the policy: of ours, or of any under
  // optimize_filters_for_hits. A policy such as bloomfilter:0 leaves its name, too.
  const auto unfiltered = std::count_if(files.begin(), files.end(), [&](const auto& file) {
    const std::string& name = file.second->filter_policy_name;
    const bool is_on_purpose = name == Policy::kName || options.optimize_filters_for_hits;
    return file.second->filter_size == 0 && (name.empty() || !is_on_purpose) &&
           (file.second->num_entries != 0 || LacksProperties(*file.second));
  });
  if (unfiltered != 0 && (policy != nullptr || named)) {
    problems.push_back(std::to_string(unfiltered) + " of " + std::to_string(files.size()) +
                       " files have no filters; " +
                       (policy != nullptr || NamesOurs(named->value) ? "RewriteFilters builds them"
                        : named->verdict.builds()
                            ? "compactions build them"
                            : "filter_policy=" + named->value + " builds none"));
  }
  rocksdb::Logger* const log = db->GetDBOptions().info_log.get();
  if (policy != nullptr) policy->LogOptions(log, family);
  for (const std::string& problem : problems) LogLoudly(log, problem, "", family);
  return problems;
}

}  // namespace
}  // namespace rocksdb_plugin

rocksdb::Status CheckFilters(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* column_family,
                             std::vector<std::string>* problems) try {
  rocksdb::Status status = rocksdb_plugin::CheckGiven({{"db", db}, {"problems", problems}});
  if (!status.ok()) return status;
  if (column_family == nullptr) column_family = db->DefaultColumnFamily();
  rocksdb::TablePropertiesCollection files;
  status = rocksdb_plugin::ReadTableProperties(db, column_family, &files);
  if (!status.ok()) return status;
  const auto found = rocksdb_plugin::FindProblems(db, column_family, files);
  problems->insert(problems->end(), found.begin(), found.end());
  return status;
} catch (const std::bad_alloc&) {
  return rocksdb::Status::MemoryLimit();
}

}  // namespace blocksieve
