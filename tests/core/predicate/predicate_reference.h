#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <random>
#include <string>
#include <vector>

// A second, naive implementation of predicates, which shares no code with the library. It generates
// random conditions as text and evaluates them for a row.

namespace blocksieve::testing {

/// Rows of up to six TAB-separated fields, and conditions on them. There are few different values,
/// for frequent matches. REQUIRES: valid UTF-8, as RandomRow returns it.
class Reference {
 public:
  struct ColumnFacts {
    std::string name;
    std::string definition;  // for Column::Parse
    std::string type;
    size_t field;  // from 0
    bool is_array;
    char tokens;       // 'w', 'g' or 0
    std::string json;  // the same column of JsonRow's rows
  };
  /// The columns that conditions use.
  static const std::vector<ColumnFacts>& Columns();

  explicit Reference(uint64_t seed) : random_(seed) {}

  std::string RandomRow();
  /// A row as a JSON document with the same values.
  static std::string JsonRow(const std::string& row);

  enum class Answer { kNo, kUnknown, kYes };

  struct Condition {
    enum class Kind { kComparison, kNot, kAnd, kOr, kTrue, kFalse };
    Kind kind = Kind::kTrue;
    std::vector<Condition> operands;
    std::string column;
    std::string op;                 // in capitals, without NOT
    bool is_negated = false;        // "!=", "NOT IN", ...
    std::vector<std::string> text;  // values, unquoted

    std::string Text() const;
    Answer Ask(const std::string& row) const;
  };

  Condition RandomCondition(int depth);

 private:
  uint64_t Below(uint64_t bound) { return random_() % bound; }
  template <class T>
  const T& Pick(const std::vector<T>& all) {
    return all[Below(all.size())];
  }
  std::string RandomText(uint64_t most_pieces);
  // With `is_values`, of = or IN.
  Condition RandomComparison(const ColumnFacts& facts, bool is_values);

  std::mt19937_64 random_;
};

}  // namespace blocksieve::testing
