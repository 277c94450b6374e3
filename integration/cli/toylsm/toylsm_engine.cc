#include "integration/cli/toylsm/toylsm_engine.h"

#include <fmt/format.h>

namespace blocksieve::cli {
namespace {

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
  std::string OptionFor(const FilterSetting& setting) const override {
    const std::string text = fmt::format("{} = {}", setting.option, setting.value);
    if (setting.option != "target_fpr") return "options." + text;
    // Filters of level 0 and of all deeper ones, of the kinds that KindOf has for them.
    return fmt::format(
        "options.key_filters = {{{{.kind = FilterKind::kBlockedBloom, .{0}}}, {{.{0}}}}}", text);
  }
  uint64_t DefaultCacheBytes() const override { return toylsm::Options().cache_bytes; }
  bool IsFile(ByteView end) const override { return IsToyLsmFile(end); }
};

}  // namespace

const Engine& ToyLsmEngine() {
  static const TheToyLsmEngine engine;
  return engine;
}

}  // namespace blocksieve::cli
