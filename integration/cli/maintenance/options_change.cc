// SPDX-License-Identifier: Apache-2.0
#include "integration/cli/maintenance/options_change.h"

#include <rocksdb/convenience.h>
#include <rocksdb/env.h>
#include <rocksdb/slice_transform.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <unordered_map>

#include "blocksieve/sizing.h"
#include "integration/rocksdb/compat/option_type.h"
#include "integration/rocksdb/listener/listener.h"

namespace blocksieve::cli {
namespace {

using rocksdb_plugin::Judge;
using rocksdb_plugin::PolicyEffect;

constexpr const char* kPolicy = "filter_policy";
constexpr const char* kExtractor = "prefix_extractor";
constexpr const char* kKept = "blocksieve-";  // prefix of the names of kept files
constexpr const char* kDefaultPolicy = "bloomfilter:10:false";

// The options of a family whose objects decide which filters it has.
std::array<std::pair<OptionsSection, const char*>, 2> ListFilterOptions(const std::string& family) {
  return {{{OptionsSection::Table(family), kPolicy}, {OptionsSection::Family(family), kExtractor}}};
}

std::string RecordPrefix(const std::string& family) {
  return fmt::format("# blocksieve: files of \"{}\" had ", family);
}

// The OPTIONS files that apply kept under another name, which RocksDB neither loads nor deletes.
// The newest is the last.
using KeptOptions = std::vector<OptionsText>;

KeptOptions ReadKept(const std::string& database) {
  KeptOptions files;
  for (const auto& [number, name] : OptionsFileNames(database, kKept)) {
    files.push_back(ReadOptionsText(database + "/" + name));
  }
  return files;
}

// The newest object, not of blocksieve, that an option of this section named.
std::optional<std::string> FindKept(const KeptOptions& kept, const OptionsSection& section,
                                    const std::string& option) {
  for (auto file = kept.rbegin(); file != kept.rend(); ++file) {
    auto value = file->Find(section, option);
    if (!IsNone(value) && !NamesBlocksieve(value)) return value;
  }
  return std::nullopt;
}

// The policy recorded for the filters of a family's files.
std::optional<std::string> RecordedPolicy(const KeptOptions& kept, const std::string& family) {
  const std::string prefix = "\n" + RecordPrefix(family);
  for (auto file = kept.rbegin(); file != kept.rend(); ++file) {
    const size_t record = file->text().rfind(prefix);
    if (record == std::string::npos) continue;
    const size_t begin = record + prefix.size();
    return file->text().substr(begin, file->text().find('\n', begin) - begin);
  }
  return std::nullopt;
}

// RocksDB rounds the size of a filter to cache lines, so 10 bits per key are 9.94 or 10.3.
double RoundedBits(double bits) {
  constexpr double kSlack = 0.35;
  const double whole = std::round(bits);
  return std::abs(bits - whole) <= kSlack ? whole : std::round(bits * 10) / 10;
}

// A policy with the kind and bits per key of the stock filters in the largest files of a family; ""
// without any. Small ones tell no bits: sizes are rounded to lines of 512 bits. Policies that only
// read filters, or that lost their bits per key on the way through OPTIONS, do not say what filters
// the program builds. `has_ours`: whether files have blocksieve's.
std::string PolicyOfFiles(const Target& target, const std::string& family,
                          bool* has_ours = nullptr) {
  constexpr size_t kMaxFiles = 16;
  std::vector<FilePlace> places = ListFiles(target);
  std::erase_if(places, [&](const FilePlace& file) { return file.family != family; });
  std::ranges::sort(places, std::greater(),
                    [](const FilePlace& file) { return SizeOfFile(file.path); });
  bool found_ours = has_ours == nullptr;
  constexpr uint64_t kMinKeys = 1000;
  constexpr uint64_t kMinKeysOfFilter = 500;
  bool has_stock = false;
  struct {
    uint64_t num_bytes = 0;
    uint64_t num_keys = 0;
    double fpr_sum = 0;
  } blooms, ribbons;
  for (size_t i = 0; i < places.size() && (i < kMaxFiles || !found_ours); ++i) {
    const auto file = TableFile::Open(places[i]);
    if (file == nullptr) continue;
    const FilterReport& filter = file->report().filter;
    found_ours |= filter.origin == FilterOrigin::kBlocksieve;
    has_stock |= filter.origin == FilterOrigin::kStock;
    if (filter.origin != FilterOrigin::kStock || i >= kMaxFiles ||
        filter.num_entries < kMinKeysOfFilter * filter.num_filters) {
      continue;
    }
    auto& sum = filter.kinds.contains(FilterKind::kStockRibbon) ? ribbons : blooms;
    sum.num_bytes += filter.num_bytes;
    sum.num_keys += filter.num_entries;
    sum.fpr_sum += filter.predicted_fpr * static_cast<double>(filter.num_entries);
  }
  if (has_ours != nullptr) *has_ours = found_ours;
  // Ribbon policies build Bloom filters, too: in level 0 and in small files.
  const bool is_ribbon = ribbons.num_keys >= std::max(kMinKeys, blooms.num_keys / 10);
  const auto& sum = is_ribbon ? ribbons : blooms;
  if (sum.num_keys < kMinKeys) return has_stock ? kDefaultPolicy : "";
  const auto keys = static_cast<double>(sum.num_keys);
  // The policy takes the bits of a Bloom filter with the same FPR.
  const double bits = is_ribbon ? StockBitsPerKey(FilterKind::kStockBloom, sum.fpr_sum / keys)
                                : 8 * static_cast<double>(sum.num_bytes) / keys;
  return is_ribbon ? fmt::format("ribbonfilter:{}", RoundedBits(bits))
                   : fmt::format("bloomfilter:{}:false", RoundedBits(bits));
}

using RestoredPolicy = std::pair<std::string, std::string>;  // and where it is from

// The policy for a family whose filters go back to stock ones: `given`, else the present one if it
// is not blocksieve's and builds filters or only its own program has it, else likewise the kept
// one, else one like the filters that the files had. nullopt if the present one stays.
std::optional<RestoredPolicy> PolicyToRestore(const StoredDatabase& stored, const KeptOptions& kept,
                                              const std::string& family,
                                              const std::optional<std::string>& given) {
  const std::string present = stored.Policy(family);
  const auto before = FindKept(kept, OptionsSection::Table(family), kPolicy);
  const auto record = RecordedPolicy(kept, family);
  const auto is_kept = [](const std::string& policy) {
    const auto verdict = Judge(policy);
    return verdict.builds() || verdict.kind == PolicyEffect::kForeign;
  };
  const bool is_set = !NamesBlocksieve(present) && is_kept(present);  // perhaps by apply
  const bool was_applied = before || record;
  if (is_set && (!given || !was_applied)) return std::nullopt;
  std::optional<std::string> of_files;
  if (!was_applied && !NamesBlocksieve(present)) {
    bool has_ours = false;
    of_files = PolicyOfFiles(stored.target, family, &has_ours);
    if (!has_ours) return std::nullopt;
  }
  if (given) return RestoredPolicy{*given, "by --filter-policy"};
  if (before && is_kept(*before)) return RestoredPolicy{*before, "as before blocksieve apply"};
  if (record) return RestoredPolicy{*record, "like the filters before blocksieve apply"};
  if (!of_files) of_files = PolicyOfFiles(stored.target, family);
  if (of_files->empty()) return RestoredPolicy{kDefaultPolicy, "by default; no other is known"};
  return RestoredPolicy{*of_files, "like the stock filters that are left"};
}

void CheckHasText(const StoredDatabase& stored) {
  FailIfNoText(stored);
  FailIfNotRead(stored);
}

void WriteWhole(rocksdb::Env* env, const std::string& text, const std::string& path) {
  const std::string part = path + ".dbtmp";  // RocksDB removes such files after a crash
  term::CheckOk(rocksdb::WriteStringToFile(env, text, part, /*should_sync=*/true),
                "cannot write {}", path);
  term::CheckOk(env->RenameFile(part, path), "cannot write {}", path);
}

// Comments with the policies of families that get blocksieve's and whose own does not say which
// filters its files have.
std::string Records(const StoredDatabase& stored, const OptionsText& text,
                    const KeptOptions& kept) {
  std::string records;
  for (const std::string& family : stored.Families()) {
    const std::string before = stored.Policy(family);
    if (!NamesBlocksieve(text.Find(OptionsSection::Table(family), kPolicy)) ||
        NamesBlocksieve(before) || Judge(before).builds() || RecordedPolicy(kept, family)) {
      continue;
    }
    bool has_ours = false;  // then OPTIONS lost their policy
    std::string policy = PolicyOfFiles(stored.target, family, &has_ours);
    if (policy.empty() && IsNone(before) && !has_ours) policy = "nullptr";
    if (!policy.empty()) records += RecordPrefix(family) + policy + "\n";
  }
  return records;
}

// Whether the text replaces an object of another program with blocksieve's.
bool ReplacesObjects(const StoredDatabase& stored, const OptionsText& text,
                     const KeptOptions& kept) {
  for (const std::string& family : stored.Families()) {
    for (const auto& [section, option] : ListFilterOptions(family)) {
      const auto before = stored.Value(section, option);
      if (!IsNone(before) && !NamesBlocksieve(before) &&
          NamesBlocksieve(text.Find(section, option)) &&
          FindKept(kept, section, option) != before) {
        return true;
      }
    }
  }
  return false;
}

// Removes the listener, unless a policy or skip index of blocksieve is left in a family.
void DropListener(const StoredDatabase& stored, OptionsText* options) {
  const bool is_needed = std::ranges::any_of(stored.Families(), [&](const std::string& family) {
    return NamesBlocksieve(
               options->Find(OptionsSection::Family(family), "table_properties_collectors")) ||
           NamesBlocksieve(options->Find(OptionsSection::Table(family), kPolicy));
  });
  const std::string listeners = options->Find(OptionsSection::Db(), "listeners").value_or("{}");
  if (!is_needed && WithoutListener(listeners) != listeners)
    SetOption(OptionsSection::Db(), "listeners", WithoutListener(listeners), options);
}

// The options of a table by name, as RocksDB writes them to OPTIONS files.
std::unordered_map<std::string, std::string> TableTexts(
    const rocksdb::ColumnFamilyOptions& family) {
  std::string text;
  std::unordered_map<std::string, std::string> texts;
  family.table_factory->GetOptionString(rocksdb::ConfigOptions(), &text).PermitUncheckedError();
  rocksdb::StringToMap(text, &texts).PermitUncheckedError();
  return texts;
}

// Whether a family has another object now than in the kept files.
bool NeedsKept(const StoredDatabase& stored, const KeptOptions& kept, const std::string& family) {
  return RecordedPolicy(kept, family) ||
         std::ranges::any_of(ListFilterOptions(family), [&](const auto& named) {
           const auto before = FindKept(kept, named.first, named.second);
           return before && before != stored.Value(named.first, named.second);
         });
}

}  // namespace

bool HadPolicy(const std::string& database, const std::string& family) {
  const KeptOptions kept = ReadKept(database);
  return FindKept(kept, OptionsSection::Table(family), kPolicy) || RecordedPolicy(kept, family);
}

std::map<std::string, std::string> StandInPolicies(const StoredDatabase& stored) {
  std::map<std::string, std::string> policies;
  for (const std::string& family : stored.Families()) {
    const auto policy = Judge(stored.Policy(family));
    if (policy.builds() || policy.kind == PolicyEffect::kNone) continue;
    std::string stock = RecordedPolicy(ReadKept(stored.target), family).value_or("");
    if (IsNone(stock)) stock = PolicyOfFiles(stored.target, family);
    policies[family] = stock.empty() ? kDefaultPolicy : stock;
  }
  return policies;
}

void CheckEdited(const StoredDatabase& stored, const OptionsText& edited) {
  term::CheckOk(rocksdb_plugin::SameBut(*stored.text, edited, edited.edits()),
                "cannot change {} of database {}", edited.name(), stored.target.path);
  CheckOpening(WithText(stored.target, edited));
}

OptionsText OptionsWith(const StoredDatabase& stored, const std::vector<std::string>& options) {
  CheckHasText(stored);
  OptionsText edited = *stored.text;
  const std::vector<std::string> families = stored.TargetFamilies();
  for (const std::string& option : options) PutOption(option, families, &edited);
  CheckEdited(stored, edited);
  return edited;
}

OptionsText EnabledOptions(const StoredDatabase& stored, const EnableOptions& features,
                           std::string* carriers) {
  CheckHasText(stored);
  OptionsText edited = *stored.text;
  rocksdb::DBOptions db = stored.loaded.db;
  EnableOptions asked = features;
  if (!asked.columns.empty() && stored.has_ttl()) asked.value_suffix_bytes = kTtlBytes;
  for (const std::string& name : stored.TargetFamilies()) {
    const rocksdb::ColumnFamilyOptions& before = *stored.Find(name);
    rocksdb::ColumnFamilyOptions after = before;
    const rocksdb::Status status = Enable({&db, &after}, asked);
    if (!status.ok()) term::Fail("column family {}: {}", name, rocksdb_plugin::ToMessage(status));
    const auto present = TableTexts(before);
    for (auto [option, value] : TableTexts(after)) {
      if (present.at(option) == value) continue;
      if (value.starts_with("id=")) value = "{" + value + "}";
      SetOption(OptionsSection::Table(name), option, value, &edited);
    }
    const auto section = OptionsSection::Family(name);
    if (const auto& extractor = after.prefix_extractor; extractor != before.prefix_extractor) {
      const auto named = stored.Value(section, kExtractor);
      // One of another program is loaded as none, so Enable does not see it.
      if (before.prefix_extractor == nullptr && !IsNone(named) &&
          !features.replace_prefix_extractor) {
        term::Fail(
            "column family {}: option prefix_extractor is {}; allowed: none or {} without "
            "--replace-prefix-extractor",
            name, *named, extractor->Name());
      }
      SetOption(section, kExtractor,
                extractor == nullptr ? "nullptr" : extractor->ToString(rocksdb::ConfigOptions()),
                &edited);
    }
    PutCollectors(name, after.table_properties_collector_factories, &edited);
    if (const std::string carrier = ExplainCarrier(after); !carrier.empty())
      *carriers += fmt::format("column family {}: {}\n", name, carrier);
  }
  if (rocksdb_plugin::HasListener(db)) {
    PutOption("listeners=blocksieve", {}, &edited);
  } else {
    DropListener(stored, &edited);
  }
  CheckEdited(stored, edited);
  return edited;
}

OptionsText StockOptions(const StoredDatabase& stored, const std::optional<std::string>& policy,
                         std::vector<std::string>* notes) {
  CheckHasText(stored);
  const KeptOptions kept = ReadKept(stored.target);
  OptionsText options = *stored.text;
  for (const std::string& name : stored.TargetFamilies()) {
    if (const auto restored = PolicyToRestore(stored, kept, name, policy)) {
      const auto& [value, source] = *restored;
      SetOption(OptionsSection::Table(name), kPolicy, value, &options);
      notes->push_back(fmt::format("column family {}: filter_policy={}, {}", name, value, source));
    }
    const auto table = OptionsSection::Table(name);
    if (NamesBlocksieve(options.Find(table, "user_defined_index_factory"))) {
      // RocksDB's own index is in every file.
      SetOption(table, "use_udi_as_primary_index", "false", &options);
      SetOption(table, "user_defined_index_factory", "nullptr", &options);
      PutFileIds(name, /*has_columns=*/false, &options);
    }
    const auto section = OptionsSection::Family(name);
    if (const auto before = FindKept(kept, section, kExtractor)) {
      SetOption(section, kExtractor, *before, &options);
    } else if (NamesBlocksieve(options.Find(section, kExtractor))) {
      SetOption(section, kExtractor, "nullptr", &options);
    }
  }
  DropListener(stored, &options);
  CheckEdited(stored, options);
  return options;
}

Json DescribeChanges(const OptionsText& text, const std::string& written) {
  const Json changes =
      ToArray(text.Changes(), [](const rocksdb_plugin::OptionChange& change) -> Json {
        return {{"section", change.title},
                {"option", change.option},
                {"before", OrNull(change.before)},
                {"after", change.after}};
      });
  return {{"read", text.name()},
          {"changes", changes},
          {"written", written.empty() ? Json(nullptr) : Json(written)}};
}

std::string WriteNextOptions(rocksdb::Env* env, const StoredDatabase& stored,
                             const OptionsText& text) {
  const std::string& database = stored.target.path;
  const OptionsText& present = stored.text.value();
  const KeptOptions kept = ReadKept(database);
  const std::string records = Records(stored, text, kept);
  if (!records.empty() || ReplacesObjects(stored, text, kept)) {
    std::string copy = present.text();
    if (!copy.ends_with('\n')) copy += '\n';
    WriteWhole(env, copy + records, fmt::format("{}/{}{}", database, kKept, present.name()));
  }
  auto files = OptionsFileNames(database);
  std::string name = fmt::format("OPTIONS-{:06}", files.rbegin()->first + 1);
  WriteWhole(env, text.text(), database + "/" + name);
  std::unique_ptr<rocksdb::Directory> directory;
  term::CheckOk(env->NewDirectory(database, &directory), "cannot write {}", database);
  term::CheckOk(directory->Fsync(), "cannot write {}", database);
  files.erase(std::prev(files.end()));
  for (const auto& [number, old] : files) {
    env->DeleteFile(database + "/" + old).PermitUncheckedError();
  }
  return name;
}

void RemoveKeptOptions(const DatabaseLock& lock, const StoredDatabase& stored) {
  const KeptOptions kept = ReadKept(stored.target);
  const std::vector<std::string> reverted = stored.TargetFamilies();
  for (const std::string& family : stored.Families()) {
    const bool is_reverted = std::ranges::find(reverted, family) != reverted.end();
    if (!is_reverted && NeedsKept(stored, kept, family)) return;
  }
  for (const OptionsText& file : kept) {
    lock.env()->DeleteFile(stored.target.path + "/" + file.name()).PermitUncheckedError();
  }
}

}  // namespace blocksieve::cli
