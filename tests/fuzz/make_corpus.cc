#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>
#include <string_view>

#include "tests/fuzz/toylsm_database.h"

// Writes the seeds of the targets that read files of the toy LSM, which nobody can write by hand:
//
//   fuzz_corpus tests/fuzz/corpus

namespace {

namespace fs = std::filesystem;

void Write(const fs::path& path, std::string_view bytes) {
  fs::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << bytes;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace blocksieve;
  using Place = testing::ToyDatabase::Place;
  if (argc != 2) {
    std::cerr << "usage: fuzz_corpus DIRECTORY\n";
    return 2;
  }
  const fs::path corpus = argv[1];
  const testing::ToyDatabase database = testing::ToyDatabase::Make();
  for (const auto& [path, contents] : database.files) {
    if (!path.ends_with("MANIFEST")) continue;
    Write(corpus / "toylsm_manifest" / "database", contents);
    Write(corpus / "toylsm_db" / "manifest", '\3' + contents);
  }
  const struct {
    Place place;
    const char* name;
  } places[] = {{Place::kLog, "log"}, {Place::kLevel0, "level0"}, {Place::kLevel1, "level1"}};
  for (const auto& [place, name] : places) {
    const std::string& contents = database.files.at(database.path(place));
    const char selector = static_cast<char>(place);
    Write(corpus / "toylsm_db" / name, selector + contents);
    if (place == Place::kLog) {
      Write(corpus / "toylsm_log" / name, contents);
      continue;
    }
    Write(corpus / "toylsm_sst" / name, contents);
  }
}
