// SPDX-License-Identifier: Apache-2.0
#include "integration/rocksdb/compat/building_context.h"

#include <dlfcn.h>
#include <rocksdb/version.h>

#include <array>
#include <charconv>

namespace blocksieve::rocksdb_plugin {
namespace {

struct Range {
  int generation;
  std::array<int, 2> first;  // major, minor
  std::array<int, 2> last;
};

constexpr Range kGenerations[] = {
    {1, {7, 0}, {9, 5}},
    {2, {9, 6}, {10, 8}},
    {3, {10, 9}, {11, 9}},
};
constexpr std::array<int, 3> kOldest = {7, 0, 3};

// "7.8.3" to {7, 8, 3}. False if the text is anything but three numbers and two dots.
bool ParseVersion(std::string_view text, std::array<int, 3>* version) {
  const char* at = text.data();
  const char* const end = at + text.size();
  for (size_t i = 0; i < version->size(); ++i) {
    const auto [after, error] = std::from_chars(at, end, (*version)[i]);
    if (error != std::errc() || (*version)[i] < 0) return false;
    at = after;
    const bool is_last = i + 1 == version->size();
    if (is_last ? at != end : at == end || *at++ != '.') return false;
  }
  return true;
}

std::string CompiledVersion() {
  return std::to_string(ROCKSDB_MAJOR) + "." + std::to_string(ROCKSDB_MINOR) + "." +
         std::to_string(ROCKSDB_PATCH);
}

// Whether FilterBuildingContext has the compiled layout in a loaded library. The known versions
// have the earlier one.
bool SharesBuildingContext(std::string_view loaded_version) {
  return loaded_version == CompiledVersion() ||
         (ParseAbiGeneration(loaded_version) != 0 && !HasDbName());
}

}  // namespace

int ParseAbiGeneration(std::string_view version_text) {
  std::array<int, 3> version;
  if (!ParseVersion(version_text, &version) || version < kOldest) return 0;
  const std::array<int, 2> minor = {version[0], version[1]};
  for (const Range& range : kGenerations) {
    if (range.first <= minor && minor <= range.last) return range.generation;
  }
  return 0;
}

std::string AbiProblem(std::string_view loaded_version) {
  const std::string compiled = CompiledVersion();
  const int loaded = ParseAbiGeneration(loaded_version);
  const bool is_of_tree = BLOCKSIEVE_ABI_GENERATION == 4 && loaded_version == compiled;
  const bool is_known =
      loaded == BLOCKSIEVE_ABI_GENERATION && SharesBuildingContext(loaded_version);
  if (is_of_tree || is_known) return "";
  return "the loaded RocksDB is " + std::string(loaded_version) +
         (loaded == 0 ? ", whose filter interface is unknown (known: 7.0.3 to 11.9)"
                      : ", whose filter interface differs from that of " + compiled) +
         "; blocksieve was compiled for " + compiled;
}

const std::string& LoadedAbiProblem() {
  static const std::string problem = AbiProblem(ROCKSDB_NAMESPACE::GetRocksVersionAsString(true));
  return problem;
}

bool LoadedIsCompiled() {
  return ROCKSDB_NAMESPACE::GetRocksVersionAsString(true) == CompiledVersion();
}

bool KnowsBuildingContext() {
  return SharesBuildingContext(ROCKSDB_NAMESPACE::GetRocksVersionAsString(true));
}

bool LacksFunction(const char* mangled_name) {
  const bool is_dynamic = dlsym(RTLD_DEFAULT, "_ZN7rocksdb3Env7DefaultEv") != nullptr;
  return is_dynamic && dlsym(RTLD_DEFAULT, mangled_name) == nullptr;
}

}  // namespace blocksieve::rocksdb_plugin
