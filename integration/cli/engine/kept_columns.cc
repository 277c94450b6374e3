#include "integration/cli/engine/kept_columns.h"

#include <fmt/format.h>

#include <algorithm>

namespace blocksieve::cli {

std::vector<Column> WithKeptColumns(std::vector<Column> wanted, const SkipIndexSummary& present,
                                    std::vector<std::string>* notes) {
  for (const Column& old : present.columns) {
    const auto same_name = std::find_if(wanted.begin(), wanted.end(), [&](const Column& column) {
      return column.name() == old.name();
    });
    if (same_name == wanted.end()) {
      wanted.push_back(old);
      notes->push_back(fmt::format("the database's index on the value's {} is kept", old.ToText()));
    } else if (!(*same_name == old)) {
      notes->push_back(fmt::format("the database's index on the value's {} is replaced by {}",
                                   old.ToText(), same_name->ToText()));
    }
  }
  for (const SkipIndexColumnUsage& usage : present.usage) {
    if (Column::Parse(usage.definition).ok()) continue;
    notes->push_back(
        fmt::format("the index {} can be written by its own program only: new files "
                    "will lack it",
                    usage.definition));
  }
  return wanted;
}

}  // namespace blocksieve::cli
