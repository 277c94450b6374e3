// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstdlib>
#include <map>
#include <random>

#include "tests/core/skip/test_index.h"

// Random conditions over random rows, against a second, naive implementation of predicates, which
// shares no code with the library. It generates conditions as text and evaluates them for a row.

namespace blocksieve::testing {
namespace {

// A column of rows of up to six TAB-separated fields. There are few different values, for frequent
// matches.
struct ColumnFacts {
  std::string name;
  std::string definition;  // for Column::Parse
  std::string type;
  size_t field;  // from 0
  bool is_array;
  char tokens;       // 'w', 'g' or 0
  std::string json;  // the same column of JsonRow's rows
};

const std::vector<ColumnFacts> kColumns{
    {"s", "s=field:1", "bytes", 0, false, 0, "s=json:/0"},
    {"n", "n=int:2", "int", 1, false, 0, "n=int:json:/1"},
    {"u", "u=uint:2", "uint", 1, false, 0, "u=uint:json:/1"},
    {"f", "f=float:3", "float", 2, false, 0, "f=float:json:/2"},
    {"a", "a=int:field[,]:4", "int", 3, true, 0, "a=int:json:/3/list"},
    {"t", "t=field[,]:4", "bytes", 3, true, 0, "t=json:/3/list"},
    {"w", "w=words:5", "bytes", 4, false, 'w', "w=words:json:/4/text"},
    {"g", "g=ngrams(2):5", "bytes", 4, false, 'g', "g=ngrams(2):json:/4/text"},
    {"v", "v=words:field[,]:5", "bytes", 4, true, 'w', "v=words:json:/4/list"},
    {"x", "x=words:folded:5", "bytes", 4, false, 'w', "x=words:folded:json:/4/text"},
    {"y", "y=ngrams(2):folded:5", "bytes", 4, false, 'g', "y=ngrams(2):folded:json:/4/text"},
    {"z", "z=folded:field[,]:5", "bytes", 4, true, 0, "z=folded:json:/4/list"},
    {"c", "c=folded:1", "bytes", 0, false, 0, "c=folded:json:/0"},
};

Texts Split(const std::string& text, char delimiter) {
  Texts parts(1);
  for (const char c : text) {
    if (c == delimiter) {
      parts.emplace_back();
    } else {
      parts.back().push_back(c);
    }
  }
  return parts;
}

// long double represents all of int64 and uint64, and small halves, exactly.
std::optional<long double> Number(const std::string& type, const std::string& text) {
  if (text.empty() || text == "x") return std::nullopt;  // rows have no other such texts
  if (type == "uint" && text[0] == '-') return std::nullopt;
  if (type == "float") return std::strtod(text.c_str(), nullptr);
  const long double number = std::strtold(text.c_str(), nullptr);
  const long double least = type == "int" ? -0x1p63L : 0;
  const long double above = type == "int" ? 0x1p63L : 0x1p64L;
  return number >= least && number < above ? std::optional(number) : std::nullopt;
}

int Sign(long double a, long double b) {
  if (std::isnan(a) || std::isnan(b)) return (std::isnan(a) ? 1 : 0) - (std::isnan(b) ? 1 : 0);
  return a < b ? -1 : a > b ? 1 : 0;
}

int Order(const std::string& type, const std::string& value, const std::string& literal) {
  if (type == "bytes") {
    const std::basic_string<unsigned char> a(value.begin(), value.end());
    const std::basic_string<unsigned char> b(literal.begin(), literal.end());
    return a < b ? -1 : a > b ? 1 : 0;
  }
  const long double exact = type == "float" ? std::strtod(literal.c_str(), nullptr)
                                            : std::strtold(literal.c_str(), nullptr);
  return Sign(*Number(type, value), exact);
}

Texts Characters(const std::string& text) {
  Texts characters;
  for (const char c : text) {
    if ((static_cast<unsigned char>(c) & 0xc0) != 0x80) characters.emplace_back();
    characters.back().push_back(c);
  }
  return characters;
}

bool Like(const Texts& text, size_t t, const Texts& pattern, size_t p) {
  if (p == pattern.size()) return t == text.size();
  if (pattern[p] == "%") {
    return Like(text, t, pattern, p + 1) || (t < text.size() && Like(text, t + 1, pattern, p));
  }
  if (t == text.size()) return false;
  if (pattern[p] == "_") return Like(text, t + 1, pattern, p + 1);
  std::string literal = pattern[p];
  if (literal == "\\" && p + 1 < pattern.size() &&
      (pattern[p + 1] == "%" || pattern[p + 1] == "_" || pattern[p + 1] == "\\")) {
    literal = pattern[++p];
  }
  return text[t] == literal && Like(text, t + 1, pattern, p + 1);
}

// Of the characters that RandomText writes.
std::string Fold(const std::string& text) {
  static const std::map<std::string, std::string> folded{
      {"A", "a"}, {"I", "i"}, {"Ä", "ä"}, {"ẞ", "ß"}, {"\u212a", "k"},
      {"Σ", "σ"}, {"ς", "σ"}, {"Ж", "ж"}, {"𐐀", "𐐨"}, {"Ⱥ", "ⱥ"}};
  std::string all;
  for (const std::string& c : Characters(text)) all += folded.count(c) != 0 ? folded.at(c) : c;
  return all;
}

bool HasWord(const std::string& text, const std::string& word) {
  static const std::string separators = "“”—\u00a0\u2003\u3000";
  bool has_word = false;
  std::string current;
  for (const std::string& c : Characters(text + ".")) {
    if (c.size() == 1 ? std::isalnum(c[0]) != 0 : separators.find(c) == c.npos) {
      current += c;
    } else {
      has_word |= current == word;
      current.clear();
    }
  }
  return has_word;
}

const ColumnFacts& Facts(const std::string& name) {
  return *std::ranges::find(kColumns, name, &ColumnFacts::name);
}

// The values that a comparison uses; none: missing.
Texts ReadValues(const ColumnFacts& facts, const std::string& row) {
  const Texts fields = Split(row, '\t');
  if (facts.field >= fields.size()) return {};
  Texts values{fields[facts.field]};
  if (facts.is_array) values = values[0].empty() ? Texts() : Split(values[0], ',');
  if (facts.type == "bytes") return values;
  Texts numbers;
  for (const std::string& value : values) {
    if (Number(facts.type, value)) numbers.push_back(value);
  }
  return numbers;
}

bool Holds(const ColumnFacts& facts, const std::string& op, Texts literals, std::string value) {
  if (facts.definition.find("folded:") != facts.definition.npos) {
    value = Fold(value);
    for (std::string& literal : literals) literal = Fold(literal);
  }
  const auto order = [&](size_t i) { return Order(facts.type, value, literals[i]); };
  if (op == "=") return order(0) == 0;
  if (op == "<") return order(0) < 0;
  if (op == "<=") return order(0) <= 0;
  if (op == ">") return order(0) > 0;
  if (op == ">=") return order(0) >= 0;
  if (op == "BETWEEN") return order(0) >= 0 && order(1) <= 0;
  if (op == "LIKE") return Like(Characters(value), 0, Characters(literals[0]), 0);
  if (op == "STARTSWITH") return value.compare(0, literals[0].size(), literals[0]) == 0;
  if (op == "HAS" && facts.tokens == 'w') return HasWord(value, literals[0]);
  if (op == "HAS" && facts.tokens == 'g') return value.find(literals[0]) != value.npos;
  for (size_t i = 0; i < literals.size(); ++i) {
    if (order(i) == 0) return true;  // IN, HAS of an element
  }
  return false;
}

enum class Answer { kNo, kUnknown, kYes };

Answer Not(Answer answer) {
  if (answer == Answer::kUnknown) return answer;
  return answer == Answer::kYes ? Answer::kNo : Answer::kYes;
}

struct Condition {
  enum class Kind { kComparison, kNot, kAnd, kOr, kTrue, kFalse };
  Kind kind = Kind::kTrue;
  std::vector<Condition> operands = {};
  std::string column = {};
  std::string op = {};                 // in capitals, without NOT
  bool is_negated = false;             // "!=", "NOT IN", ...
  std::vector<std::string> text = {};  // values, unquoted

  std::string Text() const {
    switch (kind) {
      case Kind::kTrue:
        return "TRUE";
      case Kind::kFalse:
        return "FALSE";
      case Kind::kNot:
        return "NOT (" + operands[0].Text() + ")";
      case Kind::kAnd:
      case Kind::kOr: {
        std::string all;
        for (const Condition& operand : operands) {
          if (!all.empty()) all += kind == Kind::kAnd ? " AND " : " OR ";
          all += "(" + operand.Text() + ")";
        }
        return all;
      }
      case Kind::kComparison:
        break;
    }
    if (op == "IS NULL") return column + (is_negated ? " IS NOT NULL" : " IS NULL");
    std::string values;
    for (const std::string& literal : text) {
      if (!values.empty()) values += op == "BETWEEN" ? " AND " : ", ";
      values += Facts(column).type == "bytes" ? "'" + literal + "'" : literal;
    }
    if (op == "IN") values = "(" + values + ")";
    if (!is_negated) return column + " " + op + " " + values;
    if (op == "=") return column + " != " + values;
    if (op[0] == '<' || op[0] == '>') return "NOT " + column + " " + op + " " + values;
    return column + " NOT " + op + " " + values;
  }

  Answer Ask(const std::string& row) const {
    if (kind == Kind::kTrue) return Answer::kYes;
    if (kind == Kind::kFalse) return Answer::kNo;
    if (kind == Kind::kNot) return Not(operands[0].Ask(row));
    if (kind == Kind::kComparison) {
      const ColumnFacts& facts = Facts(column);
      const Texts values = ReadValues(facts, row);
      Answer answer = Answer::kNo;
      if (op == "IS NULL") {
        answer = values.empty() ? Answer::kYes : Answer::kNo;
      } else if (values.empty()) {
        answer = Answer::kUnknown;
      } else {
        for (const std::string& value : values) {
          if (Holds(facts, op, text, value)) answer = Answer::kYes;
        }
      }
      return is_negated ? Not(answer) : answer;
    }
    bool has_yes = false;
    bool has_no = false;
    bool has_unknown = false;
    for (const Condition& operand : operands) {
      const Answer answer = operand.Ask(row);
      (answer == Answer::kYes ? has_yes : answer == Answer::kNo ? has_no : has_unknown) = true;
    }
    if (kind == Kind::kAnd) {
      return has_no ? Answer::kNo : has_unknown ? Answer::kUnknown : Answer::kYes;
    }
    return has_yes ? Answer::kYes : has_unknown ? Answer::kUnknown : Answer::kNo;
  }
};

// A row as a JSON document with the same values.
std::string JsonRow(const std::string& row) {
  const auto quoted = [](const std::string& text) {
    std::string json = "\"";
    for (const char c : text) json += c == '\\' ? "\\\\" : std::string(1, c);
    return json + '"';
  };
  const Texts fields = Split(row, '\t');
  std::string json;
  for (size_t i = 0; i < fields.size(); ++i) {
    json += i == 0 ? "[" : ",";
    if (i < 3) {
      json += quoted(fields[i]);
      continue;
    }
    json += "{\"text\":" + quoted(fields[i]) + ",\"list\":[";
    for (const std::string& element : fields[i].empty() ? Texts() : Split(fields[i], ',')) {
      json += (json.back() == '[' ? "" : ",") + quoted(element);
    }
    json += "]}";
  }
  return json + "]";
}

// Draws rows of valid UTF-8, and conditions.
class Reference {
 public:
  explicit Reference(uint64_t seed) : random_(seed) {}

  std::string RandomRow() {
    static const Texts integers = Listed(
        "0 | 1 | 2 | 3 | -1 | -2 | 9223372036854775807 | x |  | -9223372036854775808 | "
        "9223372036854775808 | 18446744073709551615");
    static const Texts floats = Listed("0 | -0.0 | 0.5 | 1 | 1e3 | -inf | inf | nan | -1 |  | x");
    std::string row = RandomText(2);
    const uint64_t num_fields = 1 + Below(8);
    if (num_fields > 1) row += "\t" + Pick(integers);
    if (num_fields > 2) row += "\t" + Pick(floats);
    if (num_fields > 3) {
      row += "\t";
      for (uint64_t i = Below(4); i > 0; --i) row += Pick(integers) + (i > 1 ? "," : "");
    }
    if (num_fields > 4) row += "\t" + RandomText(6) + (Below(4) == 0 ? "," + RandomText(3) : "");
    return row;
  }

  Condition RandomCondition(int depth) {
    if (depth == 0 || Below(4) == 0) {
      if (Below(20) != 0) return RandomComparison(Pick(kColumns), false);
      Condition constant;
      constant.kind = Below(2) == 0 ? Condition::Kind::kTrue : Condition::Kind::kFalse;
      return constant;
    }
    Condition condition;
    const uint64_t kind = Below(5);
    condition.kind = kind == 0  ? Condition::Kind::kNot
                     : kind < 3 ? Condition::Kind::kAnd
                                : Condition::Kind::kOr;
    const uint64_t count = kind == 0 ? 1 : 2 + Below(2);
    while (condition.operands.size() < count)
      condition.operands.push_back(RandomCondition(depth - 1));
    // Values of one column, which become one list: below an OR, or negated below an AND.
    const ColumnFacts& facts = Pick(kColumns);
    for (uint64_t i = kind == 0 || Below(2) == 0 ? 0 : 2 + Below(3); i > 0; --i) {
      Condition values = RandomComparison(facts, true);
      if (Below(8) != 0) values.is_negated = condition.kind == Condition::Kind::kAnd;
      condition.operands.insert(condition.operands.begin() + Below(condition.operands.size() + 1),
                                std::move(values));
    }
    return condition;
  }

 private:
  uint64_t Below(uint64_t bound) { return random_() % bound; }
  template <class T>
  const T& Pick(const std::vector<T>& all) {
    return all[Below(all.size())];
  }

  std::string RandomText(uint64_t most_pieces) {
    static const Texts pieces{"a", "b", "ab", " ", ".", "\xc3\xa9", "\xe6\x97\xa5", "%", "_", "\\"};
    static const Texts others = Listed(
        "A | k | \u212a | I | ı | İ | Ä | ä | ß | ẞ | Σ | σ | ς | Ж | ж | 𐐀 | 𐐨 | Ⱥ | “ | ” | — | "
        "\u00a0 | \u2003 | \u3000");
    std::string text;
    for (uint64_t i = Below(most_pieces + 1); i > 0; --i) text += Pick(Below(3) ? pieces : others);
    return text;
  }

  // With `is_values`, of = or IN.
  Condition RandomComparison(const ColumnFacts& facts, bool is_values) {
    static const Texts integers = Listed(
        "0 | 1 | 2 | -1 | 1.5 | -0.5 | 3.0 | 9223372036854775807 | 9223372036854775808 | "
        "-9223372036854775808 | 18446744073709551615 | -9223372036854775809 | 1e30 | -1e400 | inf "
        "| "
        "9223372036854775807.5 | nan");
    static const Texts floats = Listed("0 | -0.0 | 0.5 | 1 | 1000 | inf | -inf | nan | 0.25 | -1");
    static const Texts number_ops =
        Listed("= | = | IN | < | <= | > | >= | BETWEEN | HAS | IS NULL");
    static const Texts text_ops{"LIKE", "LIKE", "STARTSWITH"};
    Condition condition;
    condition.kind = Condition::Kind::kComparison;
    condition.column = facts.name;
    const bool is_text = facts.type == "bytes";
    condition.op = is_values                  ? (Below(3) == 0 ? "IN" : "=")
                   : is_text && Below(2) == 0 ? Pick(text_ops)
                                              : Pick(number_ops);
    condition.is_negated = Below(3) == 0;
    const size_t count = condition.op == "IN"        ? 1 + Below(4)
                         : condition.op == "BETWEEN" ? 2
                         : condition.op == "IS NULL" ? 0
                                                     : 1;
    while (condition.text.size() < count) {
      std::string text = Pick(facts.type == "float" ? floats : integers);
      if (is_text) {
        text = facts.field == 3 ? Pick(integers) : RandomText(facts.field == 4 ? 4 : 2);
        if (condition.op == "LIKE" && Below(2) == 0) text.insert(0, "%").append("%");
        if (condition.op == "LIKE") {
          const size_t end = text.find_last_not_of('\\') + 1;
          if ((text.size() - end) % 2 == 1) text += "\\";
        }
        if (condition.op == "HAS" && facts.tokens == 'w') {
          text = Pick(Texts{"a", "ab", "b", "\xc3\xa9", "bab", "A", "Σ", "ς", "ß", "I", "ж", "𐐀"});
        }
      }
      condition.text.push_back(text);
    }
    return condition;
  }

  std::mt19937_64 random_;
};

TEST(PruningPropertyTest, MatchesAsTheReferenceAndNeverDropsAMatch) {
  std::vector<Column> columns;
  std::vector<Column> of_json;
  for (const ColumnFacts& facts : kColumns) {
    columns.push_back(MakeColumn(facts.definition));
    of_json.push_back(MakeColumn(facts.json));
  }
  // Some files lack some indexes.
  std::vector<Column> half;
  for (size_t i = 0; i < columns.size(); i += 2) half.push_back(columns[i]);

  size_t evaluations = 0;
  size_t matches = 0;
  size_t granules_without_match = 0;
  size_t granules_dropped = 0;
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    Reference reference(seed);
    Granules granules;
    for (size_t g = 0; g < 70; ++g) {
      granules.emplace_back();
      // Rows in a granule are often equal, or no negation could prune, or equal but one.
      const std::string row = reference.RandomRow();
      constexpr size_t kNumRows[] = {1, 2, 5};
      for (size_t i = 0; i < kNumRows[(seed + g) % 3]; ++i) {
        granules.back().push_back(g % 2 == 0 && i != 3 ? row : reference.RandomRow());
      }
    }
    const TestIndex precise = IndexGranules(columns, granules);
    const TestIndex partial = IndexGranules(half, granules);
    const TestIndex imprecise = IndexGranules(columns, granules, 0.3);

    for (int i = 0; i < 100; ++i) {
      const Condition condition = reference.RandomCondition(i % 4);
      const std::string text = condition.Text();
      const Predicate predicate = MakePredicate(text, columns);
      ASSERT_EQ(MakePredicate(predicate.ToText(), columns).ToText(), predicate.ToText());
      const Predicate reparsed = MakePredicate(predicate.ToText(), columns);
      const Predicate for_json = MakePredicate(text, of_json);

      const GranuleSet from_precise = precise->Candidates(predicate);
      const GranuleSet from_partial = partial->Candidates(predicate);
      const GranuleSet from_imprecise = imprecise->Candidates(predicate);
      for (size_t g = 0; g < granules.size(); ++g) {
        bool has_match = false;
        for (const std::string& row : granules[g]) {
          const bool is_match = condition.Ask(row) == Answer::kYes;
          ASSERT_EQ(predicate.Matches(row), is_match) << text << " on " << row;
          ASSERT_EQ(reparsed.Matches(row), is_match) << predicate.ToText() << " on " << row;
          ASSERT_EQ(for_json.Matches(JsonRow(row)), is_match) << text << " on " << row;
          has_match = has_match || is_match;
          ++evaluations;
          matches += is_match ? 1u : 0u;
        }
        if (has_match) {
          ASSERT_TRUE(from_precise.Has(g)) << text << " lost granule " << g;
          ASSERT_TRUE(from_partial.Has(g)) << text << " lost granule " << g;
          ASSERT_TRUE(from_imprecise.Has(g)) << text << " lost granule " << g;
        } else {
          ++granules_without_match;
          granules_dropped += from_precise.Has(g) ? 0u : 1u;
        }
      }
    }
  }
  EXPECT_GE(evaluations, 500'000u);
  // Otherwise the test would be weak.
  EXPECT_GT(matches, evaluations / 10);
  EXPECT_LT(matches, evaluations * 9 / 10);
  EXPECT_GT(granules_dropped, granules_without_match / 3);
}

TEST(PruningPropertyTest, TokensOfAnyBytesNeverDropAMatch) {
  const std::vector<Column> columns =
      MakeColumns({"w=words:value", "g=ngrams(1):value", "h=ngrams(2):value", "i=ngrams(3):value",
                   "f=words:folded:value", "k=ngrams(2):folded:value", "s=folded:value"});
  // Beginnings, middles and ends of characters, in random order, and whole ones.
  constexpr std::string_view kPieces[] = {"a",    ".",    "\xc3", "\xa9",   "\xe6", "\x97", "\xa5",
                                          "\xf0", "\xff", "\x80", "\xe2",   "\x94", "\xc2", "\xa0",
                                          "A",    "É",    "Ⱥ",    "\u212a", "ς",    "—"};
  std::mt19937_64 random(3);
  const auto random_bytes = [&](size_t most) {
    std::string bytes;
    for (size_t i = random() % (most + 1); i > 0; --i) {
      bytes += kPieces[random() % std::size(kPieces)];
    }
    return bytes;
  };
  size_t matches = 0;
  size_t skipped = 0;
  for (int round = 0; round < 2'000; ++round) {
    const std::string row = random_bytes(12);
    const TestIndex index = IndexGranules(columns, {{row}});
    for (int i = 0; i < 20; ++i) {
      // Pieces of the row, for frequent matches.
      const size_t begin = random() % (row.size() + 1);
      const size_t size = random() % (row.size() + 1 - begin);
      const std::string piece = random() % 4 == 0 ? random_bytes(3) : row.substr(begin, size);
      const Column& column = columns[random() % columns.size()];
      const Result<Predicate> predicate = [&] {
        switch (random() % 5) {
          case 0:
            return Predicate::Compare(column, Comparison::kLike, Value::Bytes("%" + piece + "%"));
          case 1:
            return Predicate::Compare(column, Comparison::kLike,
                                      Value::Bytes(row.substr(0, begin) + "_%" + piece));
          case 2:
            return Predicate::Compare(column, Comparison::kLike,
                                      Value::Bytes("%_" + piece + "_%" + random_bytes(1)));
          case 3:
            return Predicate::Compare(column, Comparison::kStartsWith,
                                      Value::Bytes(row.substr(0, begin)));
          default:
            return column.definition().tokeniser == Tokeniser::kNgrams
                       ? Predicate::Compare(column, Comparison::kHas, Value::Bytes(piece))
                       : Predicate::Compare(column, Comparison::kEqual, Value::Bytes(row));
        }
      }();
      ASSERT_TRUE(predicate.ok());
      const bool is_match = predicate->Matches(row);
      const bool is_candidate = index->Candidates(*predicate).Has(0);
      ASSERT_TRUE(is_candidate || !is_match) << predicate->ToText() << " lost " << row;
      matches += is_match ? 1u : 0u;
      skipped += is_candidate ? 0u : 1u;
    }
  }
  EXPECT_GT(matches, 10'000u);
  EXPECT_GT(skipped, 1'000u);
}

}  // namespace
}  // namespace blocksieve::testing
