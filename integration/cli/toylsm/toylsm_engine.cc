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
  std::string OptionFor(const FilterPlan& plan) const override {
    const std::string setting = fmt::format("{} = {}", plan.option, plan.value);
    return plan.option == "target_fpr" ? "options.key_filters = {{." + setting + "}}"
                                       : "options." + setting;
  }
  bool IsFile(ByteView end) const override { return IsToyLsmFile(end); }
};

}  // namespace

const Engine& ToyLsmEngine() {
  static const TheToyLsmEngine engine;
  return engine;
}

}  // namespace blocksieve::cli
