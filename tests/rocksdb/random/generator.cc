// SPDX-License-Identifier: Apache-2.0
#include "tests/rocksdb/random/generator.h"

#include <algorithm>

#include "lib/base/altered_answers.h"
#include "tests/rocksdb/random/database.h"
#include "tests/support/key_sets.h"

namespace blocksieve::testing {
namespace {

constexpr uint64_t kNumKeys = 300;
constexpr uint64_t kNumbers = 30;
constexpr uint64_t kSlots = 5;  // of iterators, decisions and snapshots

template <class... Numbers>
std::string Print(const char* format, Numbers... numbers) {
  char text[64];
  std::snprintf(text, sizeof(text), format, static_cast<unsigned>(numbers)...);
  return text;
}

// Keys of the last four kinds are mostly too much alike for range filters.
std::string KeyOfKind(uint64_t kind, Dice* dice) {
  switch (kind) {
    case 0:
      return MakeKey(KeyShape::kCounter, dice->Bits());
    case 1:
      return MakeKey(KeyShape::kCounter, dice->OneIn(30) ? dice->Bits() : dice->Below(50'000));
    case 2:
      return Print("user%06u", dice->Below(1'000'000));
    case 3:
      return Print("%02u:%05u", dice->Below(20), dice->Below(100'000));
    case 4:
      return Print("k%06u", dice->Below(kNumKeys)) + (dice->OneIn(3) ? "+" : "");
    case 5:
      return Print("/usr/share/doc/p%03u/f%02u", dice->Below(60), dice->Below(20));
    case 6:
      return std::string(dice->Below(30), 'q') + static_cast<char>(dice->Below(256));
    default: {
      constexpr std::string_view kBytes("\0\1ab\xff", 5);
      std::string key;
      for (uint64_t left = dice->Below(6); left > 0; --left) key += kBytes[dice->Below(5)];
      return key;
    }
  }
}

}  // namespace

Generator::Generator(uint64_t seed, uint64_t keys) : dice_(seed) {
  constexpr uint64_t kMixed = kNumKeyKinds - 1;
  Dice dice(keys);
  const uint64_t kind = keys % kNumKeyKinds;
  has_equal_lengths_ = dice.OneIn(2);
  keys_.resize(3);  // "" occurs more often than others
  while (keys_.size() < kNumKeys)
    keys_.push_back(KeyOfKind(kind == kMixed || dice.OneIn(50) ? dice.Below(kMixed) : kind, &dice));
  std::ranges::sort(keys_);
}

Operation Generator::DrawOpening(const std::string& verb, const Operation& fixed) {
  Operation drawn = DrawSettings(verb, &dice_);
  for (const auto& [name, value] : fixed.args) {
    std::erase_if(drawn.args, [&](const auto& arg) { return arg.first == name; });
    if (value != "-") drawn.Add(name, value);
  }
  return drawn;
}

void Generator::Append(const RandomDb& db, const Operation& fixed, Operations* text) {
  struct Choice {
    uint64_t weight;  // per thousand
    void (Generator::*draw)();
  };
  constexpr Choice kChoices[] = {
      {352, &Generator::Write},       {15, &Generator::WriteAtOnce}, {40, &Generator::Get},
      {60, &Generator::Iterate},      {200, &Generator::Move},       {80, &Generator::Scan},
      {3, &Generator::ScanElsewhere}, {15, &Generator::MultiScan},   {50, &Generator::SkipScan},
      {40, &Generator::Decide},       {20, &Generator::Snapshot},    {20, &Generator::Refresh},
      {40, &Generator::Flush},        {15, &Generator::Compact},     {10, &Generator::CompactFiles},
      {20, &Generator::Ingest},       {2, &Generator::DeleteFiles},  {8, &Generator::Reopen},
      {1, &Generator::Repair},        {1, &Generator::Import},       {8, &Generator::Rewrite},
  };
  db_ = &db;
  fixed_ = &fixed;
  text_ = text;
  if (fixed.Has("places") && dice_.OneIn(20)) return PassPlace();
  if (fixed.Has("counts") && dice_.OneIn(4)) return Count();
  if (fixed.Has("rewrites") && dice_.OneIn(6)) return Rewrite();
  uint64_t dice = dice_.Below(1000);
  for (const auto& [weight, draw] : kChoices) {
    if (dice < weight) return (this->*draw)();
    dice -= weight;
  }
}

std::string Generator::NearKey() {
  std::string key = AnyKey();
  switch (dice_.Below(8)) {
    case 0:
      key += '\0';
      break;
    case 1:
      if (!key.empty()) ++key.back();
      break;
    case 2:
      if (!key.empty()) key.pop_back();
      break;
    case 3:
      key += static_cast<char>(dice_.Below(256));
      break;
    default:
      break;
  }
  return key;
}

std::pair<std::string, std::string> Generator::Range(const Rows& rows) {
  std::pair<std::string, std::string> range{NearKey(), NearKey()};
  if (!dice_.OneIn(6)) {  // mostly short ones
    range.second = range.first;
    if (dice_.OneIn(2) && !range.second.empty()) {
      range.second.back() = static_cast<char>(dice_.Below(256));
    } else {
      range.second += static_cast<char>(dice_.Below(256));
    }
  }
  if (rows.key_comp()(range.second, range.first)) std::swap(range.first, range.second);
  return range;
}

// Mostly a row right before the upper bound, or the key right after such a row.
std::string Generator::SeekKey(const std::string& upper) {
  if (upper.empty() || dice_.OneIn(3)) return NearKey();
  const Rows& rows = db_->rows();
  auto row = rows.lower_bound(upper);
  for (uint64_t before = dice_.Below(3); before > 0 && row != rows.begin(); --before) --row;
  if (row == rows.end()) return NearKey();
  return row->first + (dice_.OneIn(2) ? std::string(1, '\0') : "");
}

std::string Generator::Value(const std::string& key) {
  if (!has_equal_lengths_ && dice_.OneIn(12)) return std::to_string(dice_.Below(3));
  const auto place = static_cast<uint64_t>(std::ranges::lower_bound(keys_, key) - keys_.begin());
  const uint64_t number = dice_.OneIn(12) ? dice_.Below(kNumbers) : place * kNumbers / kNumKeys;
  std::string value = std::to_string(number) + "\tword" + std::to_string(dice_.Below(40)) + " lib" +
                      std::to_string(dice_.Below(50)) + " ";
  // Of equal length, so that files of the same keys differ in nothing else.
  const uint64_t padding = has_equal_lengths_ ? 60 - value.size() : dice_.Below(60);
  return value.append(padding, '.');
}

// After a value of one digit, a number that neither has.
std::string Generator::Operand() { return std::to_string(dice_.Below(10)) + "\tword"; }

std::string Generator::Condition(int max_depth) {
  if (max_depth > 0 && dice_.OneIn(2)) {
    static const char* const kJoins[] = {" AND ", " OR ", " AND NOT ", " OR NOT "};
    const std::string left = Condition(max_depth - 1);
    const char* const join = kJoins[dice_.Below(std::size(kJoins))];
    return "(" + left + join + Condition(max_depth - 1) + ")";
  }
  const auto below = [this](uint64_t bound) { return std::to_string(dice_.Below(bound)); };
  const std::string& any = AnyKey();
  const int last = any.empty() ? 0 : static_cast<uint8_t>(any.back());
  const std::string comparisons[] = {
      "n = " + below(kNumbers + 2),
      "n = " + below(kNumbers + 2),
      "n IN (5, " + below(kNumbers) + ", -7)",
      "n > " + std::to_string(kNumbers - 3 + dice_.Below(5)),
      "n BETWEEN 3 AND " + std::to_string(3 + dice_.Below(4)),
      "n BETWEEN " + below(4) + " AND " + below(2 * kNumbers),
      "w HAS 'word" + below(42) + "'",
      "w HAS 'lib" + below(50) + "'",
      "k = " + std::to_string(last),
      "k < " + std::to_string(last),
      "k BETWEEN " + std::to_string(last) + " AND " + std::to_string(last + 3),
      "k IS NULL",
  };
  return comparisons[dice_.Below(std::size(comparisons))];
}

void Generator::AddReadOptions(Operation* operation) {
  static const char* const kModes[] = {"auto", "auto", "auto", "total", "plain"};
  operation->Add("mode", kModes[dice_.Below(std::size(kModes))]);
  constexpr std::pair<const char*, uint64_t> kFlags[] = {
      {"same_prefix", 12}, {"pin", 8},       {"leaves_cache", 4},
      {"adaptive", 4},     {"checksums", 2}, {"all_tables", 10},
  };
  for (const auto& [name, times] : kFlags) {
    if (dice_.OneIn(times)) operation->Add(name, "yes");
  }
  if (dice_.OneIn(8)) operation->Add("readahead", 4096);
}

// With a condition, an old or a new decision; with the empty one, by ranges alone.
void Generator::AddPruning(Operation* operation) {
  if (dice_.OneIn(3)) return;
  if (db_ != nullptr && dice_.OneIn(3)) {
    operation->Add("prune", dice_.Below(kSlots));
  } else {
    operation->Add("where", dice_.OneIn(3) ? "" : Condition());
    if (operation->verb != "multiscan" && dice_.OneIn(2)) operation->Add("matching", "yes");
  }
}

Operation Generator::DrawGet() {
  Operation get{dice_.OneIn(4) ? "multiget" : "get"};
  for (uint64_t left = get.verb == "get" ? 1 : dice_.Below(14); left > 0; --left)
    get.Add("key", dice_.OneIn(5) ? NearKey() : AnyKey());
  if (dice_.OneIn(8)) get.Add("mode", "total");
  if (dice_.OneIn(8)) get.Add("upper", NearKey());
  return get;
}

Operation Generator::DrawScan(const Rows& rows) {
  Operation scan{"scan"};
  AddReadOptions(&scan);
  AddPruning(&scan);
  if (!dice_.OneIn(scan.Get("where").empty() ? 30 : 3)) {
    const auto [begin, end] = Range(rows);
    scan.Add("begin", begin).Add("end", end);
  }
  if (dice_.OneIn(6)) scan.Add("back", "yes");
  return scan;
}

Operation Generator::DrawMultiScan(const Rows& rows) {
  Operation scan{"multiscan"};
  for (uint64_t left = 1 + dice_.Below(20); left > 0; --left) {
    const auto [begin, end] = Range(rows);
    scan.Add("begin", begin).Add("end", end);
  }
  AddPruning(&scan);
  if (!scan.Has("where") && !scan.Has("prune")) scan.Add("where", "");
  if (dice_.OneIn(2)) scan.Add("async", "yes");
  return scan;
}

Operation Generator::DrawSkipScan() {
  Operation scan{"skipscan"};
  scan.Add("where", Condition());
  if (dice_.OneIn(3)) scan.Add("rereads_less", "yes");
  if (dice_.OneIn(8)) scan.Add("explain", "yes");
  if (dice_.OneIn(4)) scan.Add("reverse", "yes");
  if (dice_.OneIn(4)) scan.Add("limit", 1 + dice_.Below(20));
  if (dice_.OneIn(6)) scan.Add("order", dice_.OneIn(2) ? "ascending" : "descending");
  if (!scan.Has("limit") && !scan.Has("order") && dice_.OneIn(2)) scan.Add("count", "yes");
  return scan;
}

Operation Generator::DrawRead(const Rows& rows) {
  const uint64_t dice = dice_.Below(10);
  if (dice < 2) return DrawGet();
  if (dice < 3) return DrawSkipScan();
  return dice < 4 ? DrawMultiScan(rows) : DrawScan(rows);
}

void Generator::AddRead(Operation read) {
  if (dice_.OneIn(5)) read.Add("snapshot", dice_.Below(kSlots));
  text_->push_back(std::move(read));
}

void Generator::AddReads(uint64_t count) {
  for (; count > 0; --count) AddRead(DrawRead(db_->rows()));
}

// Operations that change the database.

void Generator::AddWrite(bool at_once) {
  std::string key = AnyKey();
  const uint64_t dice = dice_.Below(at_once ? 86 : 100);
  if (dice < 65) {
    Add("put").Add("key", key).Add("value", Value(key));
    if (dice_.OneIn(20)) text_->back().Add("entity", "yes");
  } else if (dice < 86) {
    Add("delete").Add("key", key);
  } else if (dice < 90) {
    Add("merge").Add("key", key).Add("value", dice_.OneIn(2) ? Operand() : Value(key));
  } else if (dice < 96) {
    key += "once" + std::to_string(dice_.OneIn(2) ? num_singles_ : ++num_singles_);
    Add(dice_.OneIn(2) ? "single_delete" : "put").Add("key", key).Add("value", Value(key));
  } else {
    auto [begin, end] = Range(db_->rows());
    if (!dice_.OneIn(3)) {  // a few rows
      auto last = db_->rows().lower_bound(begin);
      for (uint64_t left = dice_.Below(20); left > 0 && last != db_->rows().end(); --left) ++last;
      if (last != db_->rows().end()) end = last->first;
    }
    Add("delete_range").Add("begin", begin).Add("end", end);
  }
}

void Generator::Write() {
  for (uint64_t left = 1 + dice_.Below(12); left > 0; --left) AddWrite(false);
}

void Generator::WriteAtOnce() {
  Add("begin");
  for (uint64_t left = 1 + dice_.Below(20); left > 0; --left) AddWrite(true);
  for (uint64_t left = dice_.Below(4); left > 0; --left) {
    text_->push_back(DrawScan(db_->rows()).Add("of", "changes"));
  }
  if (dice_.OneIn(2)) Add("prepare");
  if (dice_.OneIn(3)) Flush();
  if (dice_.OneIn(5)) Compact();
  if (dice_.OneIn(3)) Add("rewrite").Add("lost", "yes");
  AddReads(dice_.Below(3));
  Add(dice_.OneIn(3) ? "rollback" : "commit");
}

void Generator::Compact() {
  Operation& compact = Add("compact");
  if (!dice_.OneIn(3)) {
    const auto [begin, end] = std::minmax(AnyKey(), AnyKey(), db_->rows().key_comp());
    compact.Add("begin", begin).Add("end", end);
  }
  if (dice_.OneIn(2)) compact.Add("force", "yes");
  if (dice_.OneIn(4)) compact.Add("level", 1 + dice_.Below(4));
  if (dice_.OneIn(4)) compact.Add("history", "yes");
}

void Generator::CompactFiles() {
  Operation& compact = Add("compact_files");
  const uint64_t level = dice_.Below(5);
  // Within level 0, RocksDB 7.8 can put files out of order, and then refuses the next flush.
  compact.Add("level", level).Add("files", dice_.Below(256));
  compact.Add("down", level == 0 ? 1 : dice_.Below(2));
  if (dice_.OneIn(2)) compact.Add("limit", uint64_t{1024} << dice_.Below(4));
}

void Generator::DeleteFiles() {
  const auto [begin, end] = std::minmax(AnyKey(), AnyKey(), db_->rows().key_comp());
  Add("delete_files").Add("begin", begin).Add("end", end);
}

void Generator::Ingest() {
  Operation& ingest = Add("ingest");
  uint64_t place = dice_.Below(keys_.size());
  for (uint64_t left = 1 + dice_.Below(30); left > 0 && place < keys_.size(); --left) {
    ingest.Add("key", keys_[place]).Add("value", Value(keys_[place]));
    place += 1 + dice_.Below(5);
  }
  if (dice_.OneIn(8)) {
    const auto [begin, end] = Range(db_->rows());
    ingest.Add("begin", begin).Add("end", end);
  }
  // The rows of the last file, over what was written meanwhile.
  if (dice_.OneIn(3)) ingest.Add("again", "yes");
  if (dice_.OneIn(4)) ingest.Add("from_db", "yes");
  for (const char* const flag : {"without_index", "move", "global_seqno", "into_snapshots"}) {
    if (dice_.OneIn(2)) ingest.Add(flag, "yes");
  }
}

void Generator::Reopen() {
  text_->push_back(DrawOpening("reopen", *fixed_));
  if (dice_.OneIn(2)) {  // as before the program knew of indexes and filters
    std::erase_if(text_->back().args, [](const auto& arg) {
      return arg.first.starts_with("index") || arg.first == "table.filter_policy";
    });
  }
}

// Of files with several versions of rows, and of rows that are merged from two files.
void Generator::Rewrite() {
  const uint64_t slot = dice_.Below(kSlots);
  std::vector<std::string> keys(10);
  for (std::string& key : keys) key = AnyKey();
  Flush();
  for (const std::string& key : keys) Add("put").Add("key", key).Add("value", Value(key));
  Add("snapshot").Add("slot", slot);
  if (dice_.OneIn(2)) Flush();
  for (const std::string& key : keys) {
    const bool merges = dice_.OneIn(2);
    Add(merges ? "merge" : "put").Add("key", key).Add("value", merges ? Operand() : Value(key));
  }
  Flush();
  Add("rewrite").Add("lost", "yes");
  for (int i = 0; i < 4; ++i) {
    text_->push_back(DrawSkipScan());
    if (dice_.OneIn(2)) text_->back().Add("snapshot", slot);
  }
}

void Generator::Repair() {
  Add("repair");
  AddReads(50);
}

void Generator::Import() {
  Add("import");
  AddReads(50);
}

void Generator::PassPlace() {
  if (dice_.OneIn(3)) Reopen();
  static const char* const kKinds[] = {"delay", "fail", "exit"};
  const std::string_view at = internal::kPlaces[dice_.Below(std::size(internal::kPlaces))];
  Add("place").Add("at", std::string(at)).Add("kind", kKinds[dice_.Below(3)]);
  text_->back().Add("every", dice_.Below(4)).Add("over", 30);
  for (int i = 0; i < 4; ++i) {
    Write();
    Flush();
    if (dice_.OneIn(2)) Add("rewrite");
    if (dice_.OneIn(3)) Compact();
    AddReads(2);
  }
}

// Operations that only read.

void Generator::Get() {
  for (int i = 0; i < 3; ++i) AddRead(DrawGet());
}

void Generator::Scan() {
  for (int i = 0; i < 3; ++i) AddRead(DrawScan(db_->rows()));
}

void Generator::Iterate() {
  const uint64_t slot = dice_.Below(kSlots);
  Operation& iterator = Add("iterator").Add("slot", slot);
  AddReadOptions(&iterator);
  AddPruning(&iterator);
  std::string lower = NearKey();
  std::string upper = NearKey();
  if (db_->rows().key_comp()(upper, lower)) std::swap(lower, upper);
  if (dice_.OneIn(4)) iterator.Add("lower", lower);
  uppers_.erase(slot);
  if (!dice_.OneIn(4)) iterator.Add("upper", uppers_[slot] = upper);
  if (dice_.OneIn(3)) iterator.Add("tailing", "yes");
  if (dice_.OneIn(3)) iterator.Add("snapshot", dice_.Below(kSlots));
  for (int i = 0; i < 3; ++i) Move();
}

void Generator::Move() {
  const uint64_t slot = dice_.Below(kSlots);
  for (uint64_t left = 1 + dice_.Below(6); left > 0; --left) {
    Operation& move = Add("move").Add("slot", slot);
    const uint64_t dice = dice_.Below(14);
    if (dice < 8 && dice_.OneIn(3) && uppers_.contains(slot))
      move.Add("upper", uppers_[slot] = NearKey());
    if (dice < 6) {
      move.Add("to", dice < 5 ? "seek" : "seek_for_prev").Add("key", SeekKey(uppers_[slot]));
    } else {
      move.Add("to", dice == 6 ? "last" : dice == 7 ? "first" : dice < 11 ? "next" : "prev");
    }
  }
}

void Generator::ScanElsewhere() {
  static const char* const kPlaces[] = {"readonly", "secondary", "file", "file"};
  AddRead(DrawScan(db_->rows()));
  text_->back().Add("of", kPlaces[dice_.Below(std::size(kPlaces))]).Add("file", dice_.Below(100));
}

// Mostly with writes, flushes, compactions and ingestion between its steps.
void Generator::SkipScan() {
  AddRead(DrawSkipScan());
  if (dice_.OneIn(3)) return;
  const size_t scan = text_->size();
  for (uint64_t left = 1 + dice_.Below(6); left > 0; --left) {
    const uint64_t dice = dice_.Below(8);
    if (dice < 3) {
      AddWrite(false);
    } else if (dice < 5) {
      Flush();
    } else {
      dice < 7 ? Compact() : Ingest();
    }
  }
  (*text_)[scan - 1].Add("over", text_->size() - scan);
}

// Of a database that was compacted a few writes ago, or most granules would have to be read.
void Generator::Count() {
  Flush();
  if (!dice_.OneIn(4)) Add("compact");
  for (int i = 0; i < 3; ++i) {
    while (dice_.OneIn(2)) AddWrite(false);
    if (dice_.OneIn(3)) Flush();
    const std::string numbers = std::to_string(dice_.Below(2 * kNumbers));
    const std::string conditions[] = {"n < " + numbers, "NOT n > " + numbers, "n IS NOT NULL",
                                      "n >= 4 AND k < 1" + numbers, Condition()};
    AddRead(Operation{"skipscan"}.Add("count", "yes"));
    text_->back().Add("where", conditions[dice_.Below(std::size(conditions))]);
  }
}

void Generator::Decide() {
  Operation& decide = Add("decide").Add("slot", dice_.Below(kSlots));
  AddReadOptions(&decide);
  decide.Add("where", dice_.OneIn(3) ? "" : Condition());
  if (dice_.OneIn(3)) decide.Add("base", dice_.Below(kSlots));
}

void Generator::Snapshot() {
  Add(dice_.OneIn(3) ? "release" : "snapshot").Add("slot", dice_.Below(kSlots));
}

void Generator::Refresh() {
  Add("refresh").Add("slot", dice_.Below(kSlots));
  Move();
}

}  // namespace blocksieve::testing
