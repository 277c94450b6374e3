#pragma once

#include <memory>

#include "integration/cli/rows/row_reader.h"

namespace blocksieve::cli {

/// Rows of CSV (RFC 4180): fields in quotes may hold the delimiter, doubled quotes and line ends;
/// lines end with CR LF, LF or CR; empty ones are passed over, as is a byte order mark. What RFC
/// 4180 does not allow is a Failure.
std::unique_ptr<RowReader> OpenCsvRows(const RowReaderOptions& options);

}  // namespace blocksieve::cli
