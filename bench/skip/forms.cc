#include "bench/skip/forms.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <random>
#include <unordered_map>
#include <utility>

#include "bench/support/measure.h"
#include "blocksieve/granule_index.h"
#include "blocksieve/skip_index.h"

namespace blocksieve::bench::skip {
namespace {

using Random = std::mt19937_64;

constexpr size_t kForms = 2;  // the chosen one, and bit slices
constexpr size_t kInListValues = 1'000;
constexpr size_t kQuestions = 1'024;  // of one value or of values together, in turn
constexpr size_t kAskedOfTruth = 500;
constexpr size_t kWordsTogether = 2;
constexpr size_t kNgramsTogether = 16;

template <class T>
T Must(Result<T> result) {
  if (!result.ok()) Fail("skip index: {}", result.status().message());
  return *std::move(result);
}

std::string Build(const FormColumn& column, bool with_postings) {
  GranuleIndexOptions options;
  options.granule_bytes = 0;
  GranuleColumnOptions column_options;
  column_options.type = column.type;
  column_options.target_fpr = SkipIndexBuilderOptions{}.target_fpr;
  column_options.with_postings = with_postings;
  column_options.with_bounds = column.with_bounds;
  options.columns = {column_options};
  GranuleIndexBuilder builder = Must(GranuleIndexBuilder::Create(options));
  for (size_t row = 0; row < column.num_rows; ++row) {
    builder.StartRow(column.key(row), 0);
    column.values(row, [&](const Value& value) {
      builder.AddValue(0, value);
      return true;
    });
  }
  return Must(builder.Finish());
}

// What questions are made of.
struct Occurring {
  std::vector<Value> values;                                   // distinct
  std::unordered_map<uint64_t, std::vector<size_t>> granules;  // by hash
  std::vector<std::vector<Value>> together;
};

Occurring Collect(const FormColumn& column, Random& random) {
  Occurring occurring;
  for (size_t row = 0; row < column.num_rows; ++row) {
    const size_t granule = row / kDefaultGranuleRows;
    column.values(row, [&](const Value& value) {
      std::vector<size_t>& granules = occurring.granules[value.Hash()];
      if (granules.empty()) occurring.values.push_back(value);
      if (granules.empty() || granules.back() != granule) granules.push_back(granule);
      return true;
    });
  }
  const size_t size = column.values_together;
  for (size_t tries = 0; size != 0 && tries < 100 * kQuestions; ++tries) {
    std::vector<Value> values;
    column.values(random() % column.num_rows, [&](const Value& value) {
      values.push_back(value);
      return true;
    });
    if (values.size() < size) continue;
    const auto first =
        values.begin() + static_cast<ptrdiff_t>(random() % (values.size() - size + 1));
    occurring.together.emplace_back(first, first + static_cast<ptrdiff_t>(size));
    if (occurring.together.size() == kQuestions) break;
  }
  return occurring;
}

// A value that does not occur. Texts live as long as `memory`.
Value Absent(ValueType type, Random& random, std::vector<std::unique_ptr<std::string>>& memory) {
  if (type == ValueType::kUint) return Value::Uint(random());
  memory.push_back(std::make_unique<std::string>(fmt::format("{:016x}", random())));
  return Value::Bytes(*memory.back());
}

struct Contest {
  const GranuleIndex* index[kForms];
  GranuleSet candidates = GranuleSet::None(0);
  double seconds = 0;

  // Of `ask(column index, number of the question)` for both.
  template <class Ask>
  FormTimes Run(std::string what, size_t asked_at_once, Ask ask) {
    const size_t granules = static_cast<size_t>(index[0]->num_granules());
    const GranuleSet all = GranuleSet::All(granules);
    candidates = all;
    const auto time = [&](size_t form, size_t* next) {
      const Stopwatch stopwatch;
      for (size_t i = 0; i < asked_at_once; ++i) {
        std::copy(all.words().begin(), all.words().end(), candidates.words().begin());
        ask(index[form]->column_index(0), (*next)++);
      }
      return 1e9 * stopwatch.Seconds() / static_cast<double>(asked_at_once);
    };
    size_t next[kForms] = {};
    auto turns =
        TakeTurns(seconds, {[&] { return time(0, &next[0]); }, [&] { return time(1, &next[1]); }});
    return {std::move(what), std::move(turns[0]), std::move(turns[1])};
  }
};

// Granules that are given and have none of the values, per value that occurs and per one that does
// not.
void CountFalse(const GranuleIndex& index, const FormColumn& column, const Occurring& occurring,
                const std::vector<Value>& absent, double* present_false, double* absent_false) {
  const GranuleSet all = GranuleSet::All(static_cast<size_t>(index.num_granules()));
  uint64_t given = 0;
  for (size_t i = 0; i < kAskedOfTruth; ++i) {
    const uint64_t hash = occurring.values[i % occurring.values.size()].Hash();
    GranuleSet set = all;
    index.column_index(0).KeepContaining(hash, &set);
    const std::vector<size_t>& granules = occurring.granules.at(hash);
    for (const size_t granule : granules) {
      if (!set.Has(granule)) Fail("{}: a value that occurs was not found", column.column);
    }
    given += set.Count() - granules.size();
  }
  *present_false = static_cast<double>(given) / static_cast<double>(kAskedOfTruth);
  given = 0;
  for (const Value& value : absent) {
    GranuleSet set = all;
    index.column_index(0).KeepContaining(value.Hash(), &set);
    given += set.Count();
  }
  *absent_false = static_cast<double>(given) / static_cast<double>(absent.size());
}

}  // namespace

std::vector<FormColumn> FormColumnsOf(const Dataset& dataset) {
  std::vector<FormColumn> columns;
  const auto add = [&](const Column& column, std::string description, size_t together) {
    columns.push_back({.dataset = dataset.name,
                       .column = std::move(description),
                       .type = column.type(),
                       .with_bounds = column.tokeniser() == Tokeniser::kNone,  // SkipIndexBuilder
                       .num_rows = dataset.rows.size(),
                       .key = [&](size_t row) { return dataset.rows.key(row); },
                       .values =
                           [&dataset, column](size_t row, const ValueVisitor& visit) {
                             column.ForEachIndexed(dataset.rows.value(row), visit);
                           },
                       .values_together = together});
  };
  for (const QueriedColumn& each : dataset.columns) {
    const bool has_words = each.column.tokeniser() == Tokeniser::kWords;
    add(each.column, each.description, has_words ? kWordsTogether : 0);
    if (!has_words) continue;
    const std::string text =
        fmt::format("ngrams=ngrams(4):{}", each.column.field_number().value_or(1));
    add(Must(Column::Parse(text)), "4-grams of the key", kNgramsTogether);
  }
  return columns;
}

std::vector<FormColumn> SyntheticFormColumns(uint64_t num_rows, uint64_t seed) {
  constexpr size_t kKeyBytes = 16;
  const auto keys = std::make_shared<std::string>();
  for (uint64_t row = 0; row < num_rows; ++row) *keys += fmt::format("key{:013}", 7 * row);
  std::vector<FormColumn> columns;
  const auto add = [&](std::string description, auto draw) {
    const auto numbers = std::make_shared<std::vector<uint64_t>>();
    Random random(seed);
    for (uint64_t row = 0; row < num_rows; ++row) numbers->push_back(draw(random, *numbers));
    columns.push_back(
        {.dataset = "synthetic",
         .column = std::move(description),
         .type = ValueType::kUint,
         .num_rows = static_cast<size_t>(num_rows),
         .key =
             [=](size_t row) { return std::string_view(*keys).substr(row * kKeyBytes, kKeyBytes); },
         .values = [=](size_t row,
                       const ValueVisitor& visit) { visit(Value::Uint((*numbers)[row])); }});
  };
  add("1,000 values", [](Random& random, const auto&) { return random() % 1'000; });
  add("30,000 values", [](Random& random, const auto&) { return random() % 30'000; });
  add("unique but for 1 %", [](Random& random, const auto& before) {
    const uint64_t number = random();
    return before.empty() || random() % 100 != 0 ? number : before[random() % before.size()];
  });
  return columns;
}

FormResult MeasureForm(const FormColumn& column, unsigned rounds, double seconds, uint64_t seed,
                       Progress& progress) {
  FormResult result;
  result.dataset = column.dataset;
  result.column = column.column;
  result.rows = column.num_rows;
  std::string bytes[kForms];
  std::vector<double> build[kForms];
  for (unsigned round = 0; round < rounds; ++round) {
    progress.Show(fmt::format("forms of {}, {}: round {}", column.dataset, column.column, round));
    for (size_t form = 0; form < kForms; ++form) {
      CheckInterrupt();
      const Stopwatch stopwatch;
      bytes[form] = Build(column, form == 0);
      build[form].push_back(1e9 * stopwatch.CpuSeconds() / static_cast<double>(column.num_rows));
    }
  }
  const GranuleIndex chosen = Must(GranuleIndex::Open(AsBytes(bytes[0])));
  const GranuleIndex slices = Must(GranuleIndex::Open(AsBytes(bytes[1])));
  result.form = GranuleFiltersName(chosen.column(0));
  result.granules = chosen.num_granules();
  result.pairs = chosen.column(0).num_distinct;
  result.build_nanoseconds = std::move(build[0]);
  result.slices_build_nanoseconds = std::move(build[1]);
  result.index_bytes = chosen.index_bytes();
  result.slices_index_bytes = slices.index_bytes();
  result.filter_bytes = chosen.column(0).filter_bytes;
  result.slices_filter_bytes = slices.column(0).filter_bytes;

  Random random(seed);
  Occurring occurring = Collect(column, random);
  std::shuffle(occurring.values.begin(), occurring.values.end(), random);
  result.values = occurring.values.size();
  std::vector<std::unique_ptr<std::string>> memory;
  std::vector<Value> absent;
  for (size_t i = 0; i < 4 * kAskedOfTruth; ++i) {
    absent.push_back(Absent(column.type, random, memory));
  }
  CountFalse(chosen, column, occurring, absent, &result.false_granules,
             &result.false_granules_of_absent);
  CountFalse(slices, column, occurring, absent, &result.slices_false_granules,
             &result.slices_false_granules_of_absent);

  Contest contest{{&chosen, &slices}, GranuleSet::None(0), seconds};
  std::vector<uint64_t> hashes;
  for (size_t i = 0; i < kQuestions; ++i) {
    hashes.push_back(occurring.values[random() % occurring.values.size()].Hash());
  }
  result.times.push_back(contest.Run("=", 64, [&](const ColumnIndex& index, size_t i) {
    index.KeepContaining(hashes[i % kQuestions], &contest.candidates);
  }));
  for (uint64_t& hash : hashes) hash = absent[random() % absent.size()].Hash();
  result.times.push_back(contest.Run("= absent", 64, [&](const ColumnIndex& index, size_t i) {
    index.KeepContaining(hashes[i % kQuestions], &contest.candidates);
  }));
  // Half of them occur. As a predicate keeps them: ascending, without copies.
  std::vector<std::vector<Value>> lists(16);
  for (std::vector<Value>& list : lists) {
    for (size_t i = 0; i < kInListValues; ++i) {
      list.push_back(i % 2 == 0 ? occurring.values[random() % occurring.values.size()]
                                : absent[random() % absent.size()]);
    }
    std::sort(list.begin(), list.end(),
              [](const Value& a, const Value& b) { return a.Compare(b) < 0; });
    list.erase(std::unique(list.begin(), list.end()), list.end());
  }
  result.times.push_back(
      contest.Run("IN of 1,000", lists.size(), [&](const ColumnIndex& index, size_t i) {
        index.KeepContainingAny(lists[i % lists.size()], &contest.candidates);
      }));
  if (occurring.together.empty()) return result;
  result.times.push_back(contest.Run(fmt::format("AND of {}", column.values_together), 64,
                                     [&](const ColumnIndex& index, size_t i) {
                                       for (const Value& value :
                                            occurring.together[i % occurring.together.size()]) {
                                         if (contest.candidates.IsEmpty()) break;
                                         index.KeepContaining(value.Hash(), &contest.candidates);
                                       }
                                     }));
  return result;
}

}  // namespace blocksieve::bench::skip
