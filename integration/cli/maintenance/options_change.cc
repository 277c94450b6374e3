#include "integration/cli/maintenance/options_change.h"

#include <rocksdb/env.h>

#include <algorithm>
#include <memory>

#include "integration/cli/term/terminal.h"

namespace blocksieve::cli {
namespace {

constexpr const char* kExtractor = "prefix_extractor";

void CheckHasText(const StoredDatabase& stored) {
  if (!stored.text) term::Fail("database {} has no OPTIONS file", stored.place.path);
  FailIfNewer(stored);
  if (!stored.problem.empty()) term::Fail("{}", stored.problem);
}

void SyncDirectory(rocksdb::Env* env, const std::string& path) {
  std::unique_ptr<rocksdb::Directory> directory;
  term::CheckOk(env->NewDirectory(path, &directory), "cannot write {}", path);
  term::CheckOk(directory->Fsync(), "cannot write {}", path);
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
    const auto section = OptionsSection::Table(family);
    const std::string before = stored.Policy(family);
    if (!NamesBlocksieve(text.Find(section, kPolicy).value_or("")) || NamesBlocksieve(before) ||
        rocksdb_plugin::Judge(before).builds() || kept.RecordedPolicy(family)) {
      continue;
    }
    const std::string policy = LookAtFilters(stored.place, family).stock_policy;
    if (!policy.empty()) records += KeptOptions::Record(family, policy);
  }
  return records;
}

// Whether the text replaces an object of another program with blocksieve's.
bool ReplacesObjects(const StoredDatabase& stored, const OptionsText& text,
                     const KeptOptions& kept) {
  bool replaces = false;
  const auto look = [&](const OptionsSection& section, const char* option) {
    const auto before = stored.Value(section, option);
    const bool becomes_ours = NamesBlocksieve(text.Find(section, option).value_or(""));
    replaces |= becomes_ours && !IsNone(before) && !NamesBlocksieve(*before) &&
                kept.Find(section, option) != before;
  };
  for (const std::string& family : stored.Families()) {
    look(OptionsSection::Table(family), kPolicy);
    look(OptionsSection::Family(family), kExtractor);
  }
  return replaces;
}

}  // namespace

void CheckEdited(const StoredDatabase& stored, const EditedOptions& edited) {
  term::CheckOk(rocksdb_plugin::SameBut(*stored.text, edited.text, edited.edits),
                "cannot change {} of database {}", edited.text.name(), stored.place.path);
  CheckOpening(WithText(stored.place, edited.text));
}

EditedOptions OptionsWith(const StoredDatabase& stored, const std::vector<std::string>& options,
                          const std::optional<std::string>& family) {
  CheckHasText(stored);
  EditedOptions edited = {*stored.text};
  const std::vector<std::string> families = stored.Families(family);
  for (const std::string& option : options) PutOption(option, families, &edited);
  CheckEdited(stored, edited);
  return edited;
}

StockOptions FindStockOptions(const StoredDatabase& stored,
                              const std::optional<std::string>& policy,
                              const std::optional<std::string>& family) {
  CheckHasText(stored);
  const KeptOptions kept(stored.place.path);
  StockOptions stock = {
      .options = {*stored.text}, .families = stored.Families(family), .notes = {}};
  EditedOptions& options = stock.options;
  for (const std::string& name : stock.families) {
    const auto table = OptionsSection::Table(name);
    if (const auto restored = PolicyToRestore(stored, kept, name, policy)) {
      if (options.Find(table, kPolicy) != restored->value) {
        options.Set(table, kPolicy, restored->value);
      }
      stock.notes.push_back(fmt::format("column family {}: filter_policy={}, {}", name,
                                        restored->value, restored->source));
    }
    const auto section = OptionsSection::Family(name);
    const auto extractor = options.Find(section, kExtractor);
    if (const auto before = kept.Find(section, kExtractor)) {
      if (extractor != before) options.Set(section, kExtractor, *before);
    } else if (NamesBlocksieve(extractor.value_or(""))) {
      options.Set(section, kExtractor, "nullptr");
    }
  }
  const auto all = stored.Families();
  const bool needs_listener = std::any_of(all.begin(), all.end(), [&](const std::string& each) {
    const auto collectors =
        options.Find(OptionsSection::Family(each), "table_properties_collectors");
    return NamesBlocksieve(collectors.value_or("")) ||
           NamesBlocksieve(options.Find(OptionsSection::Table(each), kPolicy).value_or(""));
  });
  const std::string listeners = options.Find(OptionsSection::Db(), "listeners").value_or("{}");
  if (!needs_listener && WithoutListener(listeners) != listeners) {
    options.Set(OptionsSection::Db(), "listeners", WithoutListener(listeners));
  }
  CheckEdited(stored, options);
  return stock;
}

Json DescribeChanges(const OptionsText& text, const std::string& written) {
  const Json changes =
      ArrayOf(text.Changes(), [](const rocksdb_plugin::OptionChange& change) -> Json {
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
  const std::string& database = stored.place.path;
  const OptionsText& present = stored.text.value();
  const KeptOptions kept(database);
  const std::string records = Records(stored, text, kept);
  if (!records.empty() || ReplacesObjects(stored, text, kept)) {
    std::string copy = present.text();
    if (!copy.ends_with('\n')) copy += '\n';
    WriteWhole(env, copy + records, fmt::format("{}/{}{}", database, kKept, present.name()));
  }
  const std::vector<std::string> names = OptionsFileNames(database);
  std::string name = fmt::format("OPTIONS-{:06}", OptionsFileNumber(names.back()) + 1);
  WriteWhole(env, text.text(), database + "/" + name);
  SyncDirectory(env, database);
  for (size_t i = 0; i + 1 < names.size(); ++i) {
    env->DeleteFile(database + "/" + names[i]).PermitUncheckedError();
  }
  return name;
}

void RemoveKeptOptions(const DatabaseLock& lock, const StoredDatabase& stored,
                       const std::vector<std::string>& reverted) {
  const KeptOptions kept(stored.place.path);
  const auto is_needed = [&](const OptionsSection& section, const char* option) {
    const auto before = kept.Find(section, option);
    return before && before != stored.Value(section, option);
  };
  for (const std::string& family : stored.Families()) {
    if (std::find(reverted.begin(), reverted.end(), family) != reverted.end()) continue;
    if (is_needed(OptionsSection::Table(family), kPolicy) || kept.RecordedPolicy(family) ||
        is_needed(OptionsSection::Family(family), kExtractor)) {
      return;
    }
  }
  for (const OptionsText& file : kept.files()) {
    lock.env()->DeleteFile(stored.place.path + "/" + file.name()).PermitUncheckedError();
  }
}

}  // namespace blocksieve::cli
