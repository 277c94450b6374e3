#include "bench/skip/write_cost.h"

#include <fmt/format.h>

#include <optional>
#include <vector>

#include "bench/skip/database.h"
#include "bench/support/stopwatch.h"

namespace blocksieve::bench::skip {

WriteCostResult MeasureWriteCost(const Dataset& dataset, size_t column, unsigned rounds,
                                 uint64_t seed, const std::filesystem::path& db_dir,
                                 Progress& progress) {
  const std::vector<uint32_t> order = RandomOrder(dataset.rows.size(), seed);
  const std::filesystem::path path = db_dir / "db";
  WriteCostResult result;
  result.dataset = dataset.name;
  result.column = dataset.columns[column].description;
  const auto fill = [&](bool with_index) {
    std::optional<SkipIndexOptions> index;
    if (with_index) index.emplace().columns = {dataset.columns[column].column};
    {
      Database database(dataset, path, index, /*direct_reads=*/false);
      const Stopwatch stopwatch;
      database.Fill(order);
      (with_index ? result.seconds_with : result.seconds_without).push_back(stopwatch.Seconds());
      (with_index ? result.cpu_seconds_with : result.cpu_seconds_without)
          .push_back(stopwatch.CpuSeconds());
    }
    std::filesystem::remove_all(path);
  };
  for (unsigned round = 0; round < rounds; ++round) {
    progress.Show(fmt::format("{} rows, {}: filling with and without index, round {} of {}",
                              dataset.name, result.column, round + 1, rounds));
    fill(round % 2 == 0);
    fill(round % 2 != 0);
  }
  return result;
}

}  // namespace blocksieve::bench::skip
