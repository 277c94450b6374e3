#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <random>
#include <unordered_map>
#include <utility>

#include "bench/skip/column_index.h"
#include "bench/skip/experiment.h"
#include "bench/support/measure.h"
#include "bench/support/terminal.h"
#include "blocksieve/granule_index.h"
#include "blocksieve/skip_index.h"

namespace blocksieve::bench::skip {
namespace {

using Random = std::mt19937_64;

constexpr size_t kForms = 2;  // the chosen one, and bit slices
constexpr size_t kInListValues = 1'000;
constexpr size_t kInLists = 16;
constexpr size_t kQueries = 1'024;  // for one value or for values together, in turn
constexpr size_t kBatch = 64;
constexpr size_t kCheckedValues = 500;
constexpr size_t kWordsTogether = 2;
constexpr size_t kNgramsTogether = 16;

// What queries are made of.
struct Values {
  std::vector<Value> occurring;                                // distinct
  std::unordered_map<uint64_t, std::vector<size_t>> granules;  // of the occurring, by hash
  std::vector<std::vector<Value>> together;
  std::vector<Value> absent;
  std::vector<std::unique_ptr<std::string>> texts;  // of the absent
};

void DrawTogether(const IndexedColumn& column, Random& random, Values& values) {
  const size_t size = column.values_together;
  for (size_t tries = 0; size != 0 && tries < 100 * kQueries; ++tries) {
    std::vector<Value> row;
    column.values(random() % column.num_rows, [&](const Value& value) {
      row.push_back(value);
      return true;
    });
    if (row.size() < size) continue;
    const auto first = row.begin() + static_cast<ptrdiff_t>(random() % (row.size() - size + 1));
    values.together.emplace_back(first, first + static_cast<ptrdiff_t>(size));
    if (values.together.size() == kQueries) return;
  }
}

Values DrawValues(const IndexedColumn& column, Random& random) {
  Values values;
  for (size_t row = 0; row < column.num_rows; ++row) {
    const size_t granule = row / kDefaultGranuleRows;
    column.values(row, [&](const Value& value) {
      std::vector<size_t>& granules = values.granules[value.Hash()];
      if (granules.empty()) values.occurring.push_back(value);
      if (granules.empty() || granules.back() != granule) granules.push_back(granule);
      return true;
    });
  }
  DrawTogether(column, random, values);
  std::shuffle(values.occurring.begin(), values.occurring.end(), random);
  for (size_t i = 0; i < 4 * kCheckedValues; ++i) {
    if (column.type == ValueType::kUint) {
      values.absent.push_back(Value::Uint(random()));
    } else {
      values.texts.push_back(std::make_unique<std::string>(fmt::format("{:016x}", random())));
      values.absent.push_back(Value::Bytes(*values.texts.back()));
    }
  }
  return values;
}

// IN lists, half of whose values occur. As a predicate keeps them: ascending, without copies.
std::vector<std::vector<Value>> DrawInLists(const Values& values, Random& random) {
  std::vector<std::vector<Value>> lists(kInLists);
  for (std::vector<Value>& list : lists) {
    for (size_t i = 0; i < kInListValues; ++i) {
      const std::vector<Value>& from = i % 2 == 0 ? values.occurring : values.absent;
      list.push_back(from[random() % from.size()]);
    }
    std::sort(list.begin(), list.end(),
              [](const Value& a, const Value& b) { return a.Compare(b) < 0; });
    list.erase(std::unique(list.begin(), list.end()), list.end());
  }
  return lists;
}

// Granules that are given and have none of the values, per value.
struct Wasted {
  double of_occurring = 0;
  double of_absent = 0;
};

Wasted CountWasted(const GranuleIndex& index, const IndexedColumn& column, const Values& values) {
  const GranuleSet all = GranuleSet::All(static_cast<size_t>(index.num_granules()));
  const auto granules_of = [&](uint64_t hash) {
    GranuleSet set = all;
    index.column_index(0).KeepContaining(hash, &set);
    return set;
  };
  uint64_t of_occurring = 0, of_absent = 0;
  for (size_t i = 0; i < kCheckedValues; ++i) {
    const uint64_t hash = values.occurring[i % values.occurring.size()].Hash();
    const GranuleSet set = granules_of(hash);
    const std::vector<size_t>& granules = values.granules.at(hash);
    for (const size_t granule : granules) {
      if (!set.Has(granule)) Fail("{}: a value that occurs was not found", column.name);
    }
    of_occurring += set.Count() - granules.size();
  }
  for (const Value& value : values.absent) of_absent += granules_of(value.Hash()).Count();
  return {static_cast<double>(of_occurring) / static_cast<double>(kCheckedValues),
          static_cast<double>(of_absent) / static_cast<double>(values.absent.size())};
}

// Both forms, asked by turns.
class Contest {
 public:
  Contest(const GranuleIndex* const (&index)[kForms], Json parameters, double seconds,
          Results& results)
      : index_(index),
        all_(GranuleSet::All(static_cast<size_t>(index[0]->num_granules()))),
        candidates_(all_),
        parameters_(std::move(parameters)),
        seconds_(seconds),
        results_(results) {}

  // Times `ask(column index, number of the query, candidates)`.
  template <class Ask>
  void Run(const std::string& query, size_t batch, Ask ask) {
    size_t next[kForms] = {};
    const auto time = [&](size_t form) {
      return [&, form] {
        const Stopwatch stopwatch;
        for (size_t i = 0; i < batch; ++i) {
          std::copy(all_.words().begin(), all_.words().end(), candidates_.words().begin());
          ask(index_[form]->column_index(0), next[form]++, candidates_);
        }
        return stopwatch.Seconds() / static_cast<double>(batch);
      };
    };
    const auto turns = TakeTurns(seconds_, {time(0), time(1)});
    Json parameters = parameters_;
    parameters["query"] = query;
    results_.Of("query", parameters)
        .AddTurns("time: form", "s", turns[0])
        .AddTurns("time: slices", "s", turns[1])
        .Add("time: ratio", "x", PairedRatio(turns[0], turns[1]));
  }

 private:
  const GranuleIndex* const (&index_)[kForms];
  const GranuleSet all_;
  GranuleSet candidates_;
  const Json parameters_;
  const double seconds_;
  Results& results_;
};

void TimeQueries(Contest& contest, const IndexedColumn& column, const Values& values,
                 Random& random) {
  for (const auto& [query, from] :
       {std::pair("=", &values.occurring), {"= absent", &values.absent}}) {
    std::vector<uint64_t> hashes;
    for (size_t i = 0; i < kQueries; ++i) {
      hashes.push_back((*from)[random() % from->size()].Hash());
    }
    contest.Run(query, kBatch, [&](const ColumnIndex& index, size_t i, GranuleSet& candidates) {
      index.KeepContaining(hashes[i % kQueries], &candidates);
    });
  }
  const std::vector<std::vector<Value>> lists = DrawInLists(values, random);
  contest.Run("IN of 1,000", kInLists,
              [&](const ColumnIndex& index, size_t i, GranuleSet& candidates) {
                index.KeepContainingAny(lists[i % kInLists], &candidates);
              });
  if (values.together.empty()) return;
  contest.Run(fmt::format("AND of {}", column.values_together), kBatch,
              [&](const ColumnIndex& index, size_t i, GranuleSet& candidates) {
                for (const Value& value : values.together[i % values.together.size()]) {
                  if (candidates.IsEmpty()) break;
                  index.KeepContaining(value.Hash(), &candidates);
                }
              });
}

void MeasureForm(const IndexedColumn& column, const Effort& effort, const Place& place,
                 Results& results) {
  std::string bytes[kForms];
  std::vector<double> build[kForms];  // processor time: of the index, its values and all
  InTurns(effort.form_rounds, kForms, [&](size_t form, unsigned round) {
    place.progress.Show(fmt::format("forms of {}: round {}", column.name, round));
    const Stopwatch stopwatch;
    bytes[form] = BuildColumnIndex(column, kDefaultGranuleRows,
                                   SkipIndexBuilderOptions{}.target_fpr, form == 0);
    build[form].push_back(stopwatch.CpuSeconds());
  });
  const GranuleIndex chosen = Must(GranuleIndex::Open(AsBytes(bytes[0])), "skip index");
  const GranuleIndex slices = Must(GranuleIndex::Open(AsBytes(bytes[1])), "skip index");
  Random random(place.seed);
  const Values values = DrawValues(column, random);
  const auto pairs = static_cast<double>(chosen.column(0).num_distinct);
  const auto bits = [&](uint64_t part) { return 8 * static_cast<double>(part) / pairs; };
  const auto filter_bytes = chosen.column(0).filter_bytes;
  const auto slices_bytes = slices.column(0).filter_bytes;
  const Wasted mine = CountWasted(chosen, column, values);
  const Wasted theirs = CountWasted(slices, column, values);
  const Json parameters = {{"column", column.name}, {"form", GranuleFiltersName(chosen.column(0))}};
  results.Of("filters", parameters)
      .Add("granules", "count", static_cast<double>(chosen.num_granules()))
      .Add("granules of a value", "", pairs / static_cast<double>(values.occurring.size()))
      .Add("bits: index", "", bits(chosen.index_bytes()))
      .Add("bits: filters", "", bits(filter_bytes))
      .Add("bits: slices", "", bits(slices_bytes))
      .Add("of slices: filters", "x",
           static_cast<double>(filter_bytes) / static_cast<double>(slices_bytes))
      .Add("of slices: building", "x", PairedRatio(build[0], build[1]))
      .Add("wasted, occurring: form", "", mine.of_occurring)
      .Add("wasted, occurring: slices", "", theirs.of_occurring)
      .Add("wasted, absent: form", "", mine.of_absent)
      .Add("wasted, absent: slices", "", theirs.of_absent);
  const GranuleIndex* const both[kForms] = {&chosen, &slices};
  Contest contest(both, parameters, effort.form_seconds, results);
  TimeQueries(contest, column, values, random);
}

}  // namespace

void MeasureForms(const Dataset& dataset, const Effort& effort, const Place& place,
                  Results& results) {
  std::vector<IndexedColumn> columns;
  for (const QueriedColumn& each : dataset.columns) {
    columns.push_back(ColumnOf(dataset, each.column, each.description));
    if (each.column.tokeniser() != Tokeniser::kWords) continue;
    columns.back().values_together = kWordsTogether;
    const std::string ngrams =
        fmt::format("ngrams=ngrams(4):{}", each.column.field_number().value_or(1));
    columns.push_back(
        ColumnOf(dataset, Must(Column::Parse(ngrams), "column"), "4-grams of the key"));
    columns.back().values_together = kNgramsTogether;
  }
  for (IndexedColumn& column : SyntheticColumns(effort.synthetic_rows, place.seed)) {
    columns.push_back(std::move(column));
  }
  for (const IndexedColumn& column : columns) MeasureForm(column, effort, place, results);
}

}  // namespace blocksieve::bench::skip
