#include "integration/cli/commands/scan_json.h"

#include "integration/cli/term/text.h"

namespace blocksieve::cli {
namespace {

using Json = nlohmann::ordered_json;

Json ToJson(const ComparisonExplanation& one) {
  return {
      {"comparison", one.comparison}, {"column", one.column},
      {"is_used", one.is_used},       {"reason", one.reason},
      {"num_files", one.num_files},   {"num_granules", one.num_granules},
      {"selected", one.selected},
  };
}

Json ToJson(const ColumnExplanation& column) {
  return {
      {"name", column.name},
      {"num_probes", column.num_probes},
      {"index_bytes", column.index_bytes},
  };
}

template <class T>
Json ToJson(const std::vector<T>& all) {
  Json array = Json::array();
  for (const T& one : all) array.push_back(ToJson(one));
  return array;
}

}  // namespace

void SetBytes(nlohmann::ordered_json* object, const std::string& name, std::string_view bytes) {
  if (term::IsUtf8(bytes)) {
    (*object)[name] = bytes;
  } else {
    (*object)[name + "_hex"] = term::ToHex(bytes);
  }
}

std::string ExplanationJson(const ScanExplanation& explanation) {
  const ScanExplanation& e = explanation;
  const Json document = {
      {"is_full_scan", e.is_full_scan},
      {"full_scan_reason", e.full_scan_reason},
      {"comparisons", ToJson(e.comparisons)},
      {"columns", ToJson(e.columns)},
      {"num_files", e.num_files},
      {"files_without_index", e.files_without_index},
      {"files_skipped", e.files_skipped},
      {"files_too_new", e.files_too_new},
      {"files_vanished", e.files_vanished},
      {"file_problems", e.file_problems},
      {"num_granules", e.num_granules},
      {"granules_selected", e.granules_selected},
      {"granules_always_match", e.granules_always_match},
      {"granules_too_new", e.granules_too_new},
      {"index_bytes_touched", e.index_bytes_touched},
      {"ranges_read", e.ranges_read},
      {"runs_read", e.runs_read},
      {"rows_read", e.rows_read},
      {"rows_rechecked", e.rows_rechecked},
      {"rows_stale", e.rows_stale},
      {"rows_returned", e.rows_returned},
      {"data_blocks_read", e.data_blocks_read},
      {"other_blocks_read", e.other_blocks_read},
      {"block_bytes_read", e.block_bytes_read},
  };
  // Names and literals of a predicate may be any bytes; JSON must be UTF-8.
  return document.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace blocksieve::cli
