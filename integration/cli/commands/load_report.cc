#include "integration/cli/commands/load_report.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "blocksieve/column.h"
#include "integration/cli/commands/options.h"
#include "integration/cli/term/text.h"

namespace blocksieve::cli {
namespace {

using term::CountOf;
using term::WithCommas;

bool AsksForBounds(const SkipIndexColumnUsage& column) {
  const Result<Column> parsed = Column::Parse(column.definition);
  return parsed.ok() && parsed->index_parts() == IndexParts::kBounds;
}

// Filters that nobody asked to leave out, but that the builder did.
uint64_t FilesWithBoundsChosen(const SkipIndexColumnUsage& column) {
  return AsksForBounds(column) ? 0 : column.files_with_bounds_only;
}

std::string ColumnText(const SkipIndexColumnUsage& column) {
  std::string text =
      fmt::format("  {} (of the value): filters {} bytes, bounds {} bytes", column.definition,
                  WithCommas(column.filter_bytes), WithCommas(column.bounds_bytes));
  const uint64_t chosen = FilesWithBoundsChosen(column);
  if (chosen != 0) {
    text += fmt::format(
        "; bounds only in {}, as they find nearly every value alone (both: makes filters)",
        CountOf(chosen, "file"));
  } else if (column.files_over_budget == 0 && column.files_without_filters != 0) {
    text += "; no filters in " + CountOf(column.files_without_filters, "file");
  }
  if (column.files_over_budget != 0) {
    text += fmt::format("; left out for size in {}", CountOf(column.files_over_budget, "file"));
  }
  return text + "\n";
}

}  // namespace

std::string LoadText(const Loaded& loaded, const SkipIndexSummary& indexes) {
  std::string text =
      fmt::format("rows: {}\nbytes: {}\nindex bytes: {} in {} of {}\n", WithCommas(loaded.rows),
                  WithCommas(loaded.bytes), WithCommas(indexes.index_bytes),
                  WithCommas(indexes.files_with_index), CountOf(indexes.num_files, "file"));
  for (const SkipIndexColumnUsage& column : indexes.usage) text += ColumnText(column);
  for (const std::string& problem : indexes.problems) text += "  " + problem + "\n";
  return text;
}

std::string LoadJson(const Loaded& loaded, const SkipIndexSummary& indexes) {
  auto columns = nlohmann::ordered_json::array();
  for (const SkipIndexColumnUsage& column : indexes.usage) {
    columns.push_back({{"definition", column.definition},
                       {"num_files", column.num_files},
                       {"filter_bytes", column.filter_bytes},
                       {"bounds_bytes", column.bounds_bytes},
                       {"num_distinct", column.num_distinct},
                       {"files_without_filters", column.files_without_filters},
                       {"files_with_bounds_chosen", FilesWithBoundsChosen(column)},
                       {"files_over_budget", column.files_over_budget}});
  }
  return JsonLine({{"rows", loaded.rows},
                   {"bytes", loaded.bytes},
                   {"index_bytes", indexes.index_bytes},
                   {"num_files", indexes.num_files},
                   {"files_with_index", indexes.files_with_index},
                   {"needed_index_bytes", indexes.needed_index_bytes},
                   {"columns", columns},
                   {"problems", indexes.problems}});
}

std::string SizeWarning(const SkipIndexSummary& indexes) {
  std::string names;
  for (const SkipIndexColumnUsage& column : indexes.usage) {
    if (column.files_over_budget == 0) continue;
    names += (names.empty() ? "" : ", ") + column.definition;
  }
  if (names.empty() && indexes.needed_index_bytes == 0) return "";
  const std::string what =
      names.empty() ? "an index was left out" : "the index lacks filters or bounds of " + names;
  return fmt::format("warning: {}, for its size; --max-index-bytes {} would keep all\n", what,
                     indexes.needed_index_bytes);
}

}  // namespace blocksieve::cli
