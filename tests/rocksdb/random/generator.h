#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tests/rocksdb/random/rows.h"
#include "tests/support/operations.h"

namespace blocksieve::testing {

class RandomDb;

/// Draws operations on a random database. Its keys are few enough to be overwritten, deleted and
/// looked up again and again. Some are prefixes of others, some differ by one in the last byte,
/// some only in one late byte. Half of the numbers in values follow the key order, so that most
/// files lack most numbers.
class Generator {
 public:
  /// `keys` chooses the keys: modulo kNumKeyKinds their kind.
  Generator(uint64_t seed, uint64_t keys);

  static constexpr uint64_t kNumKeyKinds = 9;
  static constexpr uint64_t kFarApart = 0;  // a kind for which range filters are built

  /// An opening with these arguments, of which the value "-" means none, and others drawn.
  Operation DrawOpening(const std::string& verb, const Operation& fixed);

  /// Appends operations that may make sense now.
  void Append(const RandomDb& db, const Operation& fixed, Operations* text);

  /// A read, of any kind that needs no other operation.
  Operation DrawRead(const Rows& rows);

 private:
  const std::string& AnyKey() { return keys_[dice_.Below(keys_.size())]; }
  /// A key, or one right next to it.
  std::string NearKey();
  /// Two keys near keys, in order.
  std::pair<std::string, std::string> Range(const Rows& rows);
  std::string SeekKey(const std::string& upper);
  std::string Value(const std::string& key);
  std::string Operand();
  std::string Condition(int max_depth = 2);

  Operation& Add(const std::string& verb) { return text_->emplace_back(Operation{verb}); }
  void AddReadOptions(Operation* operation);
  void AddWrite(bool at_once);
  void AddPruning(Operation* operation);
  void AddRead(Operation read);
  void AddReads(uint64_t count);

  Operation DrawGet();
  Operation DrawScan(const Rows& rows);
  Operation DrawMultiScan(const Rows& rows);
  Operation DrawSkipScan();

  void Write();
  void WriteAtOnce();
  void Get();
  void Iterate();
  void Move();
  void Scan();
  void ScanElsewhere();
  void MultiScan() { AddRead(DrawMultiScan(db_->rows())); }
  void SkipScan();
  void Count();
  void Decide();
  void Snapshot();
  void Refresh();
  void Flush() { Add("flush"); }
  void Compact();
  void CompactFiles();
  void DeleteFiles();
  void Ingest();
  void Reopen();
  void Rewrite();
  void Repair();
  void Import();
  void PassPlace();

  Dice dice_;
  std::vector<std::string> keys_;  // sorted
  bool has_equal_lengths_ = false;
  uint64_t num_singles_ = 0;
  std::map<uint64_t, std::string> uppers_;  // of iterators, by slot

  // While Append runs.
  const RandomDb* db_ = nullptr;
  const Operation* fixed_ = nullptr;
  Operations* text_ = nullptr;
};

}  // namespace blocksieve::testing
