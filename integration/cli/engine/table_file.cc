#include "integration/cli/engine/table_file.h"

#include "lib/base/coding.h"

namespace blocksieve::cli {

std::string RandomExtension(std::string_view present, std::mt19937_64* random) {
  std::string key(present);
  AppendLittleEndian(&key, (*random)());
  return key;
}

IndexReport ReportIndex(const GranuleIndex& index, uint64_t num_bytes) {
  IndexReport report;
  report.num_granules = index.num_granules();
  report.num_bytes = num_bytes;
  for (size_t i = 0; i < index.num_columns(); ++i) {
    const GranuleColumnInfo& column = index.column(i);
    report.columns.push_back({column.name, std::string(GranuleFiltersName(column)),
                              column.filter_bytes, column.bounds_bytes});
  }
  return report;
}

}  // namespace blocksieve::cli
