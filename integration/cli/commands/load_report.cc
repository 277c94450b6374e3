#include "integration/cli/commands/load_report.h"

#include <fmt/format.h>

#include <utility>

#include "blocksieve/column.h"
#include "integration/cli/commands/options.h"
#include "integration/cli/term/text.h"
#include "lib/column/values.h"

namespace blocksieve::cli {
namespace {

using term::CountOf;
using term::WithCommas;

bool IsBoundsOnly(const SkipIndexColumnUsage& column) {
  const Result<Column> parsed = Column::Parse(column.definition);
  return parsed.ok() && internal::IndexPartsOf(*parsed) == IndexParts::kBounds;
}

// Files in which the builder, not the definition, left out the filters.
uint64_t FilesWithBoundsChosen(const SkipIndexColumnUsage& column) {
  return IsBoundsOnly(column) ? 0 : column.files_with_bounds_only;
}

std::string ColumnText(const SkipIndexColumnUsage& column) {
  std::string text = fmt::format("  {}: filters {} bytes, bounds {} bytes", column.definition,
                                 WithCommas(column.filter_bytes), WithCommas(column.bounds_bytes));
  const uint64_t chosen = FilesWithBoundsChosen(column);
  if (chosen != 0) {
    text +=
        fmt::format("; bounds only in {}, as they find nearly every value (both: forces filters)",
                    CountOf(chosen, "file"));
  } else if (column.files_over_budget == 0 && column.files_without_filters != 0) {
    text += "; no filters in " + CountOf(column.files_without_filters, "file");
  }
  if (column.files_over_budget != 0) {
    text += fmt::format("; left out for its size in {}", CountOf(column.files_over_budget, "file"));
  }
  return text + "\n";
}

// Rows of this load in the database; known only if it was empty before.
std::optional<uint64_t> RowsKept(const Loaded& loaded) {
  return loaded.is_new ? loaded.rows_in_database : std::nullopt;
}

std::string RowsText(const Loaded& loaded) {
  std::string text = fmt::format("rows read: {}\n", WithCommas(loaded.rows_read));
  if (const std::optional<uint64_t> kept = RowsKept(loaded)) {
    text += fmt::format("rows kept: {}", WithCommas(*kept));
    if (*kept < loaded.rows_read) {
      text += fmt::format(", {} replaced by later rows with the same key",
                          WithCommas(loaded.rows_read - *kept));
    }
  } else if (loaded.rows_in_database) {
    text += fmt::format("rows in the database: {}, including earlier ones",
                        WithCommas(*loaded.rows_in_database));
  } else {
    text += "rows kept: unknown without compaction";
  }
  return text + "\n";
}

std::string SizeWarning(const SkipIndexSummary& indexes) {
  std::string names;
  for (const SkipIndexColumnUsage& column : indexes.usage) {
    if (column.files_over_budget == 0) continue;
    names += (names.empty() ? "" : ", ") + column.definition;
  }
  if (names.empty() && indexes.needed_index_bytes == 0) return "";
  const std::string what =
      names.empty() ? "an index was left out" : "the index lacks filters or bounds for " + names;
  return fmt::format("{} because of its size; --max-index-bytes {} would keep everything", what,
                     indexes.needed_index_bytes);
}

}  // namespace

std::string LoadText(const Loaded& loaded, const SkipIndexSummary& indexes) {
  std::string text = RowsText(loaded);
  text += fmt::format("bytes: {}\n", WithCommas(loaded.bytes));
  for (const Json& counts : loaded.values) {
    text += fmt::format("  {}: {} with a value, {} without\n", PlainText(counts["definition"]),
                        CountOf(counts["rows_with_value"], "row"),
                        CountText(counts["rows_without_value"]));
  }
  text += fmt::format("index bytes: {} in {} of {}\n", WithCommas(indexes.index_bytes),
                      WithCommas(indexes.files_with_index), CountOf(indexes.num_files, "file"));
  for (const SkipIndexColumnUsage& column : indexes.usage) text += ColumnText(column);
  for (const std::string& problem : indexes.problems) text += "  " + problem + "\n";
  return text;
}

std::string LoadJson(const Loaded& loaded, const SkipIndexSummary& indexes) {
  const auto column_json = [](const SkipIndexColumnUsage& column) -> Json {
    return {{"definition", column.definition},
            {"num_files", column.num_files},
            {"filter_bytes", column.filter_bytes},
            {"bounds_bytes", column.bounds_bytes},
            {"num_distinct", column.num_distinct},
            {"files_without_filters", column.files_without_filters},
            {"files_with_bounds_chosen", FilesWithBoundsChosen(column)},
            {"files_over_budget", column.files_over_budget}};
  };
  return JsonLine({{"rows_read", loaded.rows_read},
                   {"rows_kept", OrNull(RowsKept(loaded))},
                   {"rows_in_database", OrNull(loaded.rows_in_database)},
                   {"num_bytes", loaded.bytes},
                   {"values", loaded.values},
                   {"index_bytes", indexes.index_bytes},
                   {"num_files", indexes.num_files},
                   {"files_with_index", indexes.files_with_index},
                   {"needed_index_bytes", indexes.needed_index_bytes},
                   {"columns", ArrayOf(indexes.usage, column_json)},
                   {"problems", indexes.problems}});
}

std::vector<std::string> LoadWarnings(const Loaded& loaded, const SkipIndexSummary& indexes) {
  std::vector<std::string> warnings;
  if (std::string warning = SizeWarning(indexes); !warning.empty()) {
    warnings.push_back(std::move(warning));
  }
  for (const Json& counts : loaded.values) {
    if (loaded.rows_read == 0 || counts["rows_with_value"] != 0) continue;
    warnings.push_back("no row has a value for the index " + PlainText(counts["definition"]));
  }
  if (loaded.rows_with_cr != 0) {
    warnings.push_back(fmt::format(
        "{} with CR, which is stored in the last field; --format csv removes it",
        loaded.rows_with_cr == 1 ? "1 line ends" : WithCommas(loaded.rows_with_cr) + " lines end"));
  }
  return warnings;
}

}  // namespace blocksieve::cli
