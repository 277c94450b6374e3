#include "integration/cli/commands/load_report.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "integration/cli/term/text.h"

namespace blocksieve::cli {

// Without commas in numbers: scripts read this, too.
std::string LoadReportText(const LoadCounts& counts, const SkipIndexSummary& indexes) {
  std::string text = fmt::format("rows: {}\nbytes: {}\nindex bytes: {} in {} of {}\n", counts.rows,
                                 counts.bytes, indexes.index_bytes, indexes.files_with_index,
                                 term::CountOf(indexes.num_files, "file"));
  for (const SkipIndexColumnUsage& column : indexes.usage) {
    text += fmt::format("  {} (of the value): filters {} bytes, bounds {} bytes", column.definition,
                        column.filter_bytes, column.bounds_bytes);
    if (column.files_without_filters != 0) {
      text += "; no filters in " + term::CountOf(column.files_without_filters, "file");
    }
    text += "\n";
  }
  for (const std::string& problem : indexes.problems) text += "  " + problem + "\n";
  return text;
}

std::string LoadReportJson(const LoadCounts& counts, const SkipIndexSummary& indexes) {
  using Json = nlohmann::ordered_json;
  Json columns = Json::array();
  for (const SkipIndexColumnUsage& column : indexes.usage) {
    columns.push_back({{"definition", column.definition},
                       {"num_files", column.num_files},
                       {"filter_bytes", column.filter_bytes},
                       {"bounds_bytes", column.bounds_bytes},
                       {"num_distinct", column.num_distinct},
                       {"files_without_filters", column.files_without_filters}});
  }
  const Json document = {{"rows", counts.rows},
                         {"bytes", counts.bytes},
                         {"index_bytes", indexes.index_bytes},
                         {"num_files", indexes.num_files},
                         {"files_with_index", indexes.files_with_index},
                         {"columns", columns},
                         {"problems", indexes.problems}};
  // Names of columns may be any bytes; JSON must be UTF-8.
  return document.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace blocksieve::cli
