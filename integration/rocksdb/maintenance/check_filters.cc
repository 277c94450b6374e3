#include <rocksdb/db.h>
#include <rocksdb/env.h>

#include <algorithm>
#include <new>
#include <sstream>
#include <string>
#include <vector>

#include "blocksieve/rocksdb/maintenance.h"
#include "integration/rocksdb/compat/filter_bits_abi.h"
#include "integration/rocksdb/compat/log.h"
#include "integration/rocksdb/compat/option_type.h"
#include "integration/rocksdb/listener/listener.h"
#include "integration/rocksdb/policy/policy.h"

namespace blocksieve {
namespace rocksdb_plugin {
namespace {

// The policy of blocksieve that an OPTIONS file of the database names, and the name of the file;
// empty if none does. RocksDB keeps the last few.
std::string NamedPolicy(rocksdb::DB* db, const std::string& family) {
  std::vector<std::string> names;
  db->GetEnv()->GetChildren(db->GetName(), &names).PermitUncheckedError();
  std::sort(names.rbegin(), names.rend());
  for (const std::string& name : names) {
    std::string text;
    if (!name.starts_with("OPTIONS-") ||
        !rocksdb::ReadFileToString(db->GetEnv(), db->GetName() + "/" + name, &text).ok()) {
      continue;
    }
    std::istringstream lines(text);
    bool is_section = false;
    for (std::string line; std::getline(lines, line);) {
      if (line.starts_with('[')) {
        is_section = line.starts_with("[TableOptions/BlockBasedTable \"" + family + "\"]");
      }
      const size_t value = line.find("filter_policy=");
      if (!is_section || value == std::string::npos) continue;
      if (line.find("blocksieve", value) == std::string::npos) continue;
      return line.substr(value) + " in " + name;
    }
  }
  return "";
}

// Also logs them, and the options in effect.
std::vector<std::string> FindProblems(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* column_family,
                                      const rocksdb::TablePropertiesCollection& files) {
  std::vector<std::string> problems;
  const std::string& family = column_family->GetName();
  const rocksdb::Options options = db->GetOptions(column_family);
  const Policy* const policy = PolicyOf(options);
  const std::string named = policy == nullptr ? NamedPolicy(db, family) : "";
  if (!named.empty()) {
    problems.push_back("the filter policy is not blocksieve's, in spite of " + named +
                       ": load the plug-in before the OPTIONS file, or correct the name");
  }
  if (policy != nullptr && !LoadedAbiProblem().empty()) {
    problems.push_back("stock Bloom filters of the same FPR are built: " + LoadedAbiProblem());
  }
  if (policy != nullptr && GoalOf(policy->options()).differs_by_run() && !HasListener(options)) {
    problems.push_back(
        "wasted_reads and bits_per_key need the listener; add NewListener() to "
        "DBOptions::listeners");
  }
  // A file of a level that gets no filter has the name of the policy.
  const auto unfiltered = std::count_if(files.begin(), files.end(), [](const auto& file) {
    return file.second->filter_size == 0 && file.second->filter_policy_name.empty() &&
           file.second->num_entries != 0;
  });
  if (unfiltered != 0 && (policy != nullptr || !named.empty())) {
    problems.push_back(std::to_string(unfiltered) + " of " + std::to_string(files.size()) +
                       " files have no filters; RewriteFilters builds them");
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
  status = db->GetPropertiesOfAllTables(column_family, &files);
  if (!status.ok()) return status;
  const auto found = rocksdb_plugin::FindProblems(db, column_family, files);
  problems->insert(problems->end(), found.begin(), found.end());
  return status;
} catch (const std::bad_alloc&) {
  return rocksdb::Status::MemoryLimit();
}

}  // namespace blocksieve
