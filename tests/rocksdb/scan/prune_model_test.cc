// SPDX-License-Identifier: Apache-2.0
// All histories of a small model of RocksDB, up to a number of steps: readers that leave out what
// prune_rule.h allows must show the rows that readers of all files show.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <iostream>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "integration/rocksdb/index/prune_rule.h"
#include "tests/support/environment.h"

namespace blocksieve::rocksdb_plugin {
namespace {

constexpr int kLastLevel = 2;
constexpr uint8_t kFirstWriterId = 200;

enum Kind : uint8_t { kPut, kBlob, kMerge, kDelete, kSingleDelete, kRangeDelete };
constexpr const char* kKindNames[] = {"put",    "put blob",      "merge",
                                      "delete", "single delete", "delete range"};
struct Entry {
  Kind kind;
  uint8_t key, last;  // the last of a range delete; else the same
  bool value;
  uint8_t sequence;

  bool Has(uint8_t k) const { return key <= k && k <= last; }
  std::string ToText() const {
    return std::string(kKindNames[kind]) + ' ' + "abc"[key] +
           (kind < kDelete         ? value ? "=1" : "=0"
            : kind == kRangeDelete ? std::string("..") + "abc"[last]
                                   : "");
  }
};
using Entries = std::vector<Entry>;

// The conditions, with the rows that match: v is the value, k is true of key b.
constexpr std::pair<const char*, int> kConditions[] = {{"v", 0b010010},
                                                       {"k", 0b111000},
                                                       {"k AND v", 0b010000},
                                                       {"k OR v", 0b111010},
                                                       {"NOT (k AND v)", 0b001111}};
constexpr int kMissing = 2;  // after the values 0 and 1
bool Holds(size_t condition, uint8_t key, int value) {
  return (kConditions[condition].second >> (3 * (key == 1) + value) & 1) != 0;
}

// What there is, and the clauses, also of those whom the rule relies on.
struct Model : PruneClauses {
  std::string operations = "put,delete,delete range,snapshot,compact,ingest,";
  uint8_t num_keys = 2;
  size_t block_entries = 0;  // of block indexes; 0: indexes of files
  bool has_ids = true, has_indexes = true;
  bool knows_values = true;  // or values are the contrary of what indexes take them for
  bool all_versions = true, blobs_match = true, deletes_have_keys = true;
  bool range_deletes_apply = true, refuses = true;

  bool Has(const std::string& operation) const {
    return operations.find(operation + ',') != std::string::npos;
  }
  size_t BlockOf(size_t entry) const { return block_entries == 0 ? 0 : entry / block_entries; }
};

struct File {
  Entries entries;                         // by key, the newest first; then range deletes
  size_t num_points = 0;                   // the others
  uint8_t first = 255, last = 0, end = 0;  // `end`: in metadata, after a range delete
  uint8_t smallest = 255, largest = 0;
  std::vector<size_t> continued;
  uint32_t all[std::size(kConditions)] = {},
           by_keys[std::size(kConditions)] = {};  // blocks that match

  // Indexes are exact: a block matches if an entry does.
  File(Entries of_file, const Model& model) : entries(std::move(of_file)) {
    for (const Entry& e : entries) {
      first = std::min(first, e.key);
      last = std::max(last, e.last);
      end = std::max(end, static_cast<uint8_t>(e.last + (e.kind == kRangeDelete)));
      smallest = std::min(smallest, e.sequence);
      largest = std::max(largest, e.sequence);
      if (e.kind == kRangeDelete) continue;
      const size_t block = model.BlockOf(num_points);
      const bool repeats = num_points > 0 && entries[num_points - 1].key == e.key;
      if (repeats && model.BlockOf(num_points - 1) != block) continued.push_back(block - 1);
      ++num_points;
      for (size_t n = 0; n < std::size(kConditions); ++n) {
        const auto mask = [&](int value) { return uint32_t{Holds(n, e.key, value)} << block; };
        if (e.kind < kDelete || model.deletes_have_keys)
          by_keys[n] |= mask(0) | mask(1) | mask(kMissing);
        if (repeats && !model.all_versions) continue;
        all[n] |= e.kind == kPut                          ? mask(e.value == model.knows_values)
                  : e.kind < kDelete && model.blobs_match ? mask(0) | mask(1)
                                                          : mask(kMissing);
      }
    }
  }
  bool Overlaps(uint8_t from, uint8_t to) const { return first <= to && from <= last; }
  std::string ToText() const {
    std::string text;
    for (const Entry& e : entries)
      text += (text.empty() ? " [" : ", ") + e.ToText() + '@' + std::to_string(e.sequence);
    return text + "]";
  }
};

struct Placed {
  std::shared_ptr<const File> file;
  int level;
  uint8_t id;  // from kFirstWriterId on of an SstFileWriter
};

struct State {
  Entries memtable = {};
  std::vector<Placed> files = {};  // by level; level 0 the newest first, others by key
  std::vector<uint8_t> snapshots = {};
  uint8_t sequence = 0, num_ids = 0;
  std::optional<size_t> condition = {};
  std::map<uint8_t, uint32_t> read = {};  // blocks to read, by ids, of files not read as a whole

  void Add(std::shared_ptr<const File> file, int level, uint8_t id) {
    files.push_back({std::move(file), level, id});
    std::ranges::stable_sort(files, {}, [](const Placed& f) {
      return std::tuple(f.level, f.level == 0 ? -f.file->largest : f.file->first, f.file->last,
                        -f.file->largest);
    });
  }
  bool SeeBetween(uint8_t older, uint8_t newer) const {
    return std::ranges::any_of(snapshots, [&](uint8_t at) { return older <= at && at < newer; });
  }
};

// The entries of a key that readers see, the newest first.
Entries Find(const State& state, const Model& model, uint8_t key, uint8_t at, bool prunes) {
  Entries found;
  const auto add = [&](const Entry& e) {
    if (e.sequence <= at && e.Has(key)) found.push_back(e);
  };
  std::ranges::for_each(state.memtable, add);
  for (const auto& [file, level, id] : state.files) {
    const auto read = prunes ? state.read.find(id) : state.read.end();
    const uint32_t blocks = read == state.read.end() ? ~0U : read->second;
    for (size_t i = 0; i < file->entries.size(); ++i) {
      if (i < file->num_points ? (blocks >> model.BlockOf(i) & 1) != 0
                               : blocks != 0 || model.range_deletes_apply)
        add(file->entries[i]);
    }
  }
  std::ranges::sort(found, {}, [](const Entry& e) { return -e.sequence; });
  return found;
}

// Twice the sequence number, and the value; 0: no row; -1: a merge lacks its base.
int RowOf(const Entries& found, bool reverse) {
  int row = 0;
  const auto row_of = [](const Entry& e) { return 2 * e.sequence + 2 + e.value; };
  if (reverse) {  // from the oldest to the newest
    for (auto e = found.rbegin(); e != found.rend(); ++e)
      row = e->kind >= kDelete ? 0 : e->kind == kMerge && row <= 0 ? -1 : row_of(*e);
    return row;
  }
  for (const Entry& e : found) {
    if (e.kind >= kDelete) break;
    if (row == 0) row = row_of(e);
    if (e.kind != kMerge) return row;
  }
  return row == 0 ? 0 : -1;
}

// Whether readers of all files see the same of `a` as of `b`: without a condition, readers of all
// files, whatever the sequence numbers; else readers that leave out what does not match.
bool ShowTheSame(const State& a, const State& b, const Model& model) {
  std::vector<uint8_t> times = a.snapshots;
  times.push_back(a.sequence);
  for (uint8_t key = 0; key < model.num_keys; ++key) {
    for (const uint8_t at : times) {
      const auto shown = [&](int row) {
        return row <= 0                            ? row
               : !b.condition                      ? 1 + row % 2
               : Holds(*b.condition, key, row % 2) ? row
                                                   : 0;
      };
      const int expected = shown(RowOf(Find(a, model, key, at, false), false));
      const Entries found = Find(b, model, key, at, true);
      if (shown(RowOf(found, false)) != expected || shown(RowOf(found, true)) != expected)
        return false;
    }
  }
  return true;
}

void Decide(size_t n, const Model& model, State* state) {
  state->condition = n;
  if (model.refuses && (model.Has("merge") || model.Has("ingest behind"))) return;
  std::vector<PlacedFile> files;
  for (const auto& [file, level, id] : state->files) {
    const bool is_unique = model.has_ids && std::ranges::count(state->files, id, &Placed::id) == 1;
    files.push_back({level,
                     {&"abcd"[file->first], 1},
                     {&"abcd"[file->end], 1},
                     file->smallest,
                     file->largest,
                     is_unique,
                     model.block_entries != 0 && is_unique,
                     id >= kFirstWriterId});
  }
  const bool by_keys = n != 0;
  const auto open = [&](size_t i) -> FileIndex {
    return {model.knows_values, [&, i](PruneColumns by) -> std::optional<bool> {
              const File& file = *state->files[i].file;
              if (!model.has_indexes || model.block_entries != 0 ||
                  (by == PruneColumns::kOfKey && !by_keys))
                return {};
              return (by == PruneColumns::kAll ? file.all : file.by_keys)[n] != 0;
            }};
  };
  const auto older = FindOlderEntries(*rocksdb::BytewiseComparator(), files, model);
  const auto decisions = DecideReads(files, older, by_keys, open, model);
  for (size_t i = 0; i < files.size(); ++i) {
    const auto& [file, level, id] = state->files[i];
    if (decisions[i].verdict == &ReadPruningCounts::files_pruned) state->read[id] = 0;
    if (!decisions[i].blocks || file->num_points == 0) continue;
    std::optional<GranuleSet> all = GranuleSet::None(model.BlockOf(file->num_points - 1) + 1);
    std::optional<GranuleSet> keys = all;
    all->words()[0] = file->all[n];
    keys->words()[0] = file->by_keys[n];
    if (!by_keys) keys.reset();
    const auto read = BlocksToRead(model.knows_values ? *decisions[i].blocks : BlockRule::kByKeys,
                                   all, keys, file->continued, model);
    if (read && read->Count() != read->num_granules())
      state->read[id] = static_cast<uint32_t>(read->words()[0]);
  }
}

// Visits the outputs of a compaction, cut at each place, or of a flush, which has no inputs.
template <class Visit>
void Rewrite(const State& before, const std::vector<size_t>& inputs, int level, const Model& model,
             const Visit& visit) {
  const bool flushes = inputs.empty();
  State state = before;
  state.files.clear();
  Entries entries = flushes ? std::exchange(state.memtable, {}) : Entries();
  for (size_t i = 0; i < before.files.size(); ++i) {
    const Entries& of_file = before.files[i].file->entries;
    if (std::ranges::count(inputs, i) == 0)
      state.files.push_back(before.files[i]);
    else
      entries.insert(entries.end(), of_file.begin(), of_file.end());
  }
  const auto is_bottom = [&](const Entry& e) {
    return !flushes && !before.SeeBetween(0, e.sequence) &&
           std::ranges::none_of(state.files, [&](const Placed& f) {
             return (f.level > level || level == 0) && f.file->Overlaps(e.key, e.last);
           });
  };
  const bool zeroes = std::ranges::all_of(entries, is_bottom);
  std::ranges::sort(entries, {}, [](const Entry& e) {
    return std::tuple(e.kind == kRangeDelete, e.key, -e.sequence);
  });
  Entries kept;
  size_t num_points = 0;
  for (size_t i = 0; i < entries.size(); ++i) {
    Entry e = entries[i];
    const bool is_hidden =
        e.kind != kRangeDelete && std::ranges::any_of(entries, [&](const Entry& newer) {
          return newer.sequence > e.sequence && newer.Has(e.key) && newer.kind != kMerge &&
                 !before.SeeBetween(e.sequence, newer.sequence);
        });
    const bool meets_put = e.kind == kSingleDelete && !flushes && i + 1 < entries.size() &&
                           entries[i + 1].key == e.key &&
                           !before.SeeBetween(entries[i + 1].sequence, e.sequence);
    if (is_hidden || meets_put || (e.kind >= kDelete && is_bottom(e))) continue;
    if (zeroes && e.kind < kMerge) e.sequence = 0;
    num_points += e.kind != kRangeDelete;
    kept.push_back(e);
  }
  for (size_t cut = 0; cut == 0 || (level != 0 && cut < num_points); ++cut) {
    State next = state;
    // The points up to an entry, and range deletes as far as keys.
    const auto add = [&](size_t from, size_t to, int first, int last) {
      Entries output(kept.data() + from, kept.data() + to);
      for (size_t i = num_points; i < kept.size(); ++i) {
        output.push_back(kept[i]);
        output.back().key = static_cast<uint8_t>(std::max<int>(kept[i].key, first));
        output.back().last = static_cast<uint8_t>(std::min<int>(kept[i].last, last));
        if (output.back().key > output.back().last) output.pop_back();
      }
      const uint8_t id = model.has_ids ? ++next.num_ids : uint8_t{0};
      if (!output.empty()) next.Add(std::make_shared<File>(std::move(output), model), level, id);
    };
    const int key = cut == 0 ? 0 : kept[cut].key;
    if (cut != 0) add(0, cut, 0, kept[cut - 1].key == key ? key : key - 1);
    add(cut, num_points, key, 255);
    visit(next, cut == 0 ? "" : ", cut before entry " + std::to_string(cut + 1));
  }
}

// Visits all legal compactions and moves.
template <class Visit>
void Compact(const State& state, const Model& model, const Visit& visit) {
  const auto& files = state.files;
  for (unsigned chosen = 1; chosen < 1U << files.size(); ++chosen) {
    std::vector<size_t> inputs;
    std::string names;
    uint8_t first = 255, last = 0;
    for (size_t i = 0; i < files.size(); ++i) {
      if ((chosen >> i & 1) == 0) continue;
      inputs.push_back(i);
      first = std::min(first, files[i].file->first);
      last = std::max(last, files[i].file->last);
      names += files[i].file->ToText();
    }
    const int level = files[inputs.front()].level;
    for (int to = files[inputs.back()].level; to <= kLastLevel; ++to) {
      // Files that stay are newer, older, or of other keys.
      bool is_legal = to != 0 || inputs.size() > 1;
      for (size_t i = 0; i < files.size(); ++i) {
        if ((chosen >> i & 1) != 0 || !files[i].file->Overlaps(first, last)) continue;
        const bool is_newer = files[i].level < level || (files[i].level == 0 && i < inputs.front());
        is_legal = is_legal && (is_newer || files[i].level > to || (to == 0 && i > inputs.back()));
      }
      if (!is_legal) continue;
      const std::string name = names + " to level " + std::to_string(to);
      Rewrite(state, inputs, to, model, [&](const State& next, const std::string& cut) {
        EXPECT_TRUE(state.condition || ShowTheSame(state, next, model)) << name;
        visit(next, [&] { return "compact" + name + cut; });
      });
      if (inputs.size() > 1 || to == level) continue;
      State moved = state;
      moved.files.erase(moved.files.begin() + static_cast<ptrdiff_t>(inputs[0]));
      moved.Add(files[inputs[0]].file, to, files[inputs[0]].id);
      visit(moved, [&] { return "move" + name; });
    }
  }
}

// Ingests a file of one entry, at the deepest level above all that it overlaps. That of another
// database has a number in metadata, and 0 in entries, as in RocksDB 9.10.
template <class Visit>
void Ingest(const State& before, const std::string& operation, Entry entry, const Model& model,
            const Visit& visit) {
  const bool is_behind = operation == "ingest behind";
  const bool is_foreign = operation == "ingest another's";
  State state = before;
  if (!Find({before.memtable}, model, entry.key, 255, false).empty())
    Rewrite(before, {}, 0, model,
            [&](const State& flushed, const std::string&) { state = flushed; });
  const auto found = std::ranges::find_if(state.files, [&](const Placed& f) {
    return f.file->Overlaps(entry.key, entry.key) && (!is_behind || f.level == kLastLevel);
  });
  const bool is_alone = found == state.files.end();
  if (is_foreign ? is_alone || state.condition : is_behind && !is_alone) return;
  const uint8_t sequence =
      !is_alone || (!is_behind && !state.snapshots.empty()) ? ++state.sequence : uint8_t{0};
  if (!is_foreign) entry.sequence = sequence;
  const auto file = std::make_shared<File>(Entries{entry}, model);
  file->smallest = file->largest = sequence;
  const int level = is_alone ? kLastLevel : std::max(found->level - 1, 0);
  const int id = !model.has_ids            ? 0
                 : is_behind || is_foreign ? ++state.num_ids
                                           : kFirstWriterId + 2 * entry.key + entry.value;
  state.Add(file, level, static_cast<uint8_t>(id));
  visit(state,
        [&] { return operation + ' ' + entry.ToText() + " at level " + std::to_string(level); });
}

// Visits all states that may follow, with a function that names the step.
template <class Visit>
void Step(const State& state, const Model& model, const Visit& visit) {
  const auto flush = [&](const State& from, const std::string& name) {
    Rewrite(from, {}, 0, model, [&](const State& next, const std::string&) {
      visit(next, [&] { return name + "flush"; });
    });
  };
  for (uint8_t key = 0; key < model.num_keys; ++key) {
    const Entries found = Find(state, model, key, state.sequence, false);
    for (const Kind kind : {kPut, kBlob, kMerge, kDelete, kSingleDelete, kRangeDelete}) {
      // A single delete is legal after one put.
      const bool is_legal = kind < kMerge || kind == kRangeDelete ||
                            (kind == kSingleDelete ? found.size() == 1 && found[0].kind == kPut
                                                   : RowOf(found, false) > 0);
      if (!model.Has(kKindNames[kind]) || !is_legal) continue;
      for (int i = 0; i < (kind == kRangeDelete ? model.num_keys - key
                           : kind < kDelete     ? 2
                                                : 1);
           ++i) {
        State next = state;
        next.memtable.push_back({kind, key,
                                 static_cast<uint8_t>(key + (kind == kRangeDelete ? i : 0)),
                                 kind < kDelete && i == 1, ++next.sequence});
        visit(next, [&] { return next.memtable.back().ToText(); });
        flush(next, next.memtable.back().ToText() + ", ");
      }
    }
    for (const char* const operation : {"ingest", "ingest behind", "ingest another's"}) {
      for (const bool value : {false, true})
        if (model.Has(operation))
          Ingest(state, operation, {kPut, key, key, value, 0}, model, visit);
    }
  }
  if (!state.memtable.empty()) flush(state, "");
  if (model.Has("compact")) Compact(state, model, visit);
  State next = state;
  next.snapshots.push_back(state.sequence);
  if (model.Has("snapshot") && std::ranges::count(state.snapshots, state.sequence) == 0)
    visit(next, [] { return "snapshot"; });
  for (size_t i = 0; i < state.snapshots.size(); ++i) {
    next.snapshots = state.snapshots;
    next.snapshots.erase(next.snapshots.begin() + static_cast<ptrdiff_t>(i));
    visit(next, [&] { return "release the snapshot at " + std::to_string(state.snapshots[i]); });
  }
  for (size_t n = 0; n < std::size(kConditions) && !state.condition; ++n) {
    next = state;
    Decide(n, model, &next);
    visit(next, [&] { return std::string("decide for ") + kConditions[n].first; });
  }
}

// Equal for states that differ in numbers alone: of sequence numbers, the order counts, and of ids,
// which files they are of.
size_t HashOf(const State& state, int depth) {
  std::string text;
  std::vector<uint8_t> numbers = state.snapshots;
  const auto add = [&](const Entries& entries, size_t facts, uint8_t number) {
    for (const size_t byte : {facts & 255, facts >> 8, entries.size()})
      text += static_cast<char>(byte);
    numbers.push_back(number);
    for (const Entry& e : entries) {
      text += static_cast<char>(e.kind * 32 + e.key * 8 + e.last * 2 + e.value);
      numbers.push_back(e.sequence);
    }
  };
  add(state.memtable, static_cast<size_t>(depth) + 256 * state.condition.value_or(9),
      state.sequence);
  for (const auto& [file, level, id] : state.files) {
    const auto read = state.read.find(id);
    add(file->entries,
        static_cast<size_t>(level) + (id < kFirstWriterId ? 0 : 4) +
            256 * (read == state.read.end() ? 255 : read->second),
        file->largest);
  }
  for (const auto& [id, blocks] : state.read)
    if (id == 0 || id >= kFirstWriterId) add({}, id, 0);
  std::vector<uint8_t> ranks = numbers;
  ranks.push_back(0);
  std::ranges::sort(ranks);
  ranks.erase(std::ranges::unique(ranks).begin(), ranks.end());
  for (const uint8_t number : numbers)
    text += static_cast<char>(std::ranges::lower_bound(ranks, number) - ranks.begin());
  return std::hash<std::string>()(text);
}

class Explorer {
 public:
  explicit Explorer(Model model) : model_(std::move(model)) {}

  // The number of histories of up to `depth` steps from a state; 0 if one shows a wrong row.
  uint64_t Explore(const State& state, int depth) {
    if (depth == 0) return 1;
    const auto [known, is_new] = histories_.try_emplace(HashOf(state, depth), 0);
    if (!is_new) return known->second;
    uint64_t& result = known->second;  // stays where it is
    uint64_t sum = 1;
    Step(state, model_, [&](State next, const auto& name) {
      std::erase_if(next.read, [&](const auto& read) {
        return read.first != 0 && read.first < kFirstWriterId &&
               std::ranges::count(next.files, read.first, &Placed::id) == 0;
      });
      if (!fault_.empty() || (next.condition && next.read.empty())) return;  // readers read all
      const uint64_t more =
          !next.condition || ShowTheSame(next, next, model_) ? Explore(next, depth - 1) : 0;
      if (more == 0) fault_ = std::string("\n  ") + name() + fault_;
      sum += more;
    });
    return result = fault_.empty() ? sum : 0;
  }

  // The shortest history that shows a wrong row; empty: none of `depth` steps does.
  std::string FindFault(int depth) {
    for (int steps = 1; steps <= depth && fault_.empty(); ++steps) Explore({}, steps);
    return fault_;
  }

 private:
  const Model model_;
  std::unordered_map<size_t, uint64_t> histories_;  // by hash
  std::string fault_;
};

TEST(PruneModelTest, WithoutAClauseAHistoryShowsAWrongRow) {
  struct Clause {
    const char* name;
    const char* operations;
    std::vector<bool Model::*> flags;  // of the clause, and of what it is there for
  };
  const Clause clauses[] = {
      {"nothing older on deeper levels", "put,compact,", {&Model::deeper_levels}},
      {"nothing older on level 0", "put,", {&Model::level_0}},
      {"ingested files of level 0 may be older",
       "put,ingest another's,",
       {&Model::single_sequence}},
      {"no neighbour has an end key", "put,snapshot,compact,", {&Model::neighbours}},
      {"a file has an id of its own", "put,", {&Model::unique_id, &Model::has_ids}},
      {"no SstFileWriter wrote it", "put,ingest,", {&Model::writers}},
      {"its index knows the values", "put,", {&Model::kind_of_values, &Model::knows_values}},
      {"it has an index", "put,", {&Model::has_index, &Model::has_indexes}},
      {"no granule can match", "put,", {&Model::may_match}},
      {"only keys count above older", "put,", {&Model::keys_alone}},
      {"a block index has an id of its own",
       "put,",
       {&Model::unique_block_id, &Model::unique_id, &Model::has_ids}},
      {"end blocks of shared keys are read", "put,snapshot,compact,", {&Model::ends_of_shared}},
      {"blocks that share a key are read", "put,snapshot,", {&Model::continued_blocks}},
      {"indexes have every version", "put,snapshot,", {&Model::all_versions}},
      {"blob references match", "put blob,", {&Model::blobs_match}},
      {"deletes count by their keys", "put,delete,", {&Model::deletes_have_keys}},
      {"range deletes apply in any case", "put,delete range,", {&Model::range_deletes_apply}},
      {"merge operators are refused", "put,merge,", {&Model::refuses}},
      {"allow_ingest_behind is refused", "put,ingest behind,", {&Model::refuses}},
  };
  for (const auto& [name, operations, flags] : clauses) {
    std::string fault;
    for (const size_t block_entries : {0, 1}) {
      Model model;
      model.operations = operations;
      model.block_entries = block_entries;
      for (const auto flag : flags) model.*flag = false;
      if (fault.empty()) fault = Explorer(model).FindFault(5);
    }
    EXPECT_NE(fault, "") << name;
    std::cout << "Without \"" << name << "\":" << fault << '\n';
  }
}

TEST(PruneModelTest, AllHistoriesShowTheRightRows) {
  using Change = void (*)(Model*);
  const std::tuple<const char*, int, int, Change> models[] = {
      // the steps, and those of the long form
      {"indexes of files", 4, 6, [](Model*) {}},
      {"blocks of one entry", 4, 6, [](Model* m) { m->block_entries = 1; }},
      {"blocks of two entries", 4, 6, [](Model* m) { m->block_entries = 2; }},
      {"three keys", 4, 5, [](Model* m) { m->num_keys = 3; }},
      {"three keys, blocks", 4, 5, [](Model* m) { m->num_keys = 3, m->block_entries = 1; }},
      {"indexes of other values", 4, 6, [](Model* m) { m->knows_values = false; }},
      {"files without ids", 4, 6, [](Model* m) { m->has_ids = false; }},
      {"another's files", 4, 6,
       [](Model* m) { m->operations = "put,delete,delete range,snapshot,ingest another's,"; }},
      {"blobs, single deletes", 4, 6,
       [](Model* m) { m->operations = "put,put blob,single delete,snapshot,compact,"; }},
      {"versions and cuts", 6, 8,
       [](Model* m) { m->operations = "put,snapshot,compact,", m->block_entries = 1; }}};
  std::atomic<size_t> position = 0;
  std::mutex mutex;
  const auto explore = [&] {
    for (size_t i = position++; i < std::size(models); i = position++) {
      const auto& [name, few_steps, many_steps, change] = models[i];
      const int steps = testing::LongTests() ? many_steps : few_steps;
      Model model;
      change(&model);
      const uint64_t count = Explorer(model).Explore({}, steps);
      const std::lock_guard lock(mutex);
      EXPECT_GT(count, 0u) << name << Explorer(model).FindFault(steps);
      std::cout << count << " histories of up to " << steps << " steps: " << name << std::endl;
    }
  };
  const std::jthread other(explore);
  explore();
}

}  // namespace
}  // namespace blocksieve::rocksdb_plugin
