#include "integration/cli/toylsm/toylsm_engine.h"

#include <fmt/format.h>

#include "integration/cli/term/failure.h"

namespace blocksieve::cli {
namespace {

// Filters of level 0 and of all deeper ones, of the kinds that KindOf has for them.
std::string KeyFilters(const std::string& members) {
  return fmt::format(
      "options.key_filters = {{{{.kind = FilterKind::kBlockedBloom, {0}}}, {{{0}}}}}", members);
}

class TheToyLsmEngine final : public Engine {
 public:
  std::string_view name() const override { return "toylsm"; }
  std::unique_ptr<LoadedDatabase> Load(const LoadTarget& target) const override {
    return LoadToyLsm(target);
  }
  std::unique_ptr<ReadDatabase> Open(const std::string& path) const override {
    return OpenToyLsm(path);
  }
  std::vector<FilePlace> ListFiles(const std::string& path) const override {
    return ListToyLsmFiles(path);
  }
  std::unique_ptr<TableFile> OpenFile(const FilePlace& place) const override {
    return OpenToyLsmFile(place);
  }
  // Options are not stored.
  AskedRatesByFamily RatesAskedFor(const std::string&) const override { return {}; }
  bool NamesPlugin(const std::string&) const override { return false; }
  std::string OptionFor(const FilterSetting& setting) const override {
    const std::string text = fmt::format("{} = {}", setting.option, setting.value);
    return setting.option == "target_fpr" ? KeyFilters("." + text) : "options." + text;
  }
  std::string StepsFor(const FilterSetting& setting, const std::string&,
                       const std::string&) const override {
    return fmt::format(
        "1. The program sets this, of toylsm::Options, before it opens the database:\n"
        "     {}\n"
        "2. Files get other filters when a compaction rewrites them.\n",
        OptionFor(setting));
  }
  std::string OptionsFileWith(const std::map<std::string, FilterSetting>&,
                              const std::string& path) const override {
    term::Fail("--options-file: database {} is of toylsm, which has no files of options", path);
  }
  bool AllotsEmptyLevel0() const override { return false; }
  double LeastRate(FilterKind /*kind*/, double /*wasted_reads*/) const override { return 0; }
  double LeastShareOfLookups() const override { return 1; }
  std::vector<std::string> RangeOptionsFor(double target_fpr, double range_fpr) const override {
    return {KeyFilters(fmt::format(".target_fpr = {}, .range_fpr = {}", target_fpr, range_fpr))};
  }
  uint64_t CacheBytes(const std::string&) const override { return toylsm::Options().cache_bytes; }
  bool IsFile(ByteView end) const override { return IsToyLsmFile(end); }
};

}  // namespace

const Engine& ToyLsmEngine() {
  static const TheToyLsmEngine engine;
  return engine;
}

}  // namespace blocksieve::cli
