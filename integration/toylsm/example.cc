// Uses the toy LSM as an application would: loads the paths of all files of installed Debian
// packages, each with the name of its package, and looks up rows by value.
//
//   toylsm_example [DIRECTORY [PACKAGE]]      dpkg's lists, and the package to look up

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include "integration/toylsm/db.h"

namespace {

namespace fs = std::filesystem;
using namespace blocksieve;
using namespace blocksieve::toylsm;

// Puts path -> package for each line of each list. If several packages have a path, the last wins.
Status LoadLists(const fs::path& directory, Db* db) {
  std::vector<fs::path> lists;
  for (const auto& entry : fs::directory_iterator(directory)) {
    if (entry.path().extension() == ".list") lists.push_back(entry.path());
  }
  std::sort(lists.begin(), lists.end());
  for (const fs::path& list : lists) {
    std::string package = list.stem();
    package.resize(std::min(package.size(), package.find(':')));  // "libc6:amd64"
    std::ifstream file(list);
    for (std::string path; std::getline(file, path);) {
      Status status = db->Put(path, package);
      if (!status.ok()) return status;
    }
  }
  return db->Flush();
}

// Prints the first rows with this package, and the cost of finding all of them.
Status LookUp(const std::string& package, const std::vector<Column>& columns, Db* db) {
  constexpr int kMaxPrinted = 3;
  const Result<Predicate> predicate = Predicate::Parse("package = '" + package + "'", columns);
  if (!predicate.ok()) return predicate.status();
  const auto scan = db->Scan(*predicate);
  int num_rows = 0;
  for (; scan->Valid(); scan->Next()) {
    if (num_rows++ < kMaxPrinted) std::cout << "  " << scan->key() << "\n";
  }
  if (num_rows > kMaxPrinted) std::cout << "  ...\n";
  std::cout << predicate->ToText() << ": " << num_rows << " rows; of " << scan->num_granules()
            << " granules, " << scan->num_selected() << " read, "
            << scan->num_granules() - scan->num_selected() << " pruned\n";
  return scan->status();
}

Status LoadAndLookUp(const fs::path& lists, const std::string& package,
                     const std::string& db_directory) {
  // The value of a row is its package, which is indexed for each granule (here, a data block).
  const std::vector<Column> columns = {*Column::Parse("package=value")};
  Options options;
  options.skip_index.columns = columns;
  options.memtable_bytes = 1 << 20;
  options.level1_bytes = 1 << 20;
  options.file_bytes = 1 << 20;
  Result<std::unique_ptr<Db>> db = Db::Open(options, db_directory);
  if (!db.ok()) return db.status();
  Status status = LoadLists(lists, db->get());
  if (status.ok()) status = LookUp(package, columns, db->get());
  return status;
}

}  // namespace

int main(int argc, char** argv) {
  const fs::path lists = argc > 1 ? argv[1] : "/var/lib/dpkg/info";
  const std::string package = argc > 2 ? argv[2] : "dpkg";
  std::string db_directory = fs::temp_directory_path() / "toylsm_example.XXXXXX";
  if (mkdtemp(db_directory.data()) == nullptr) {
    std::cerr << "toylsm_example: cannot create " << db_directory << "\n";
    return 1;
  }
  const Status status = LoadAndLookUp(lists, package, db_directory);
  fs::remove_all(db_directory);
  if (!status.ok()) std::cerr << "toylsm_example: " << status.message() << "\n";
  return status.ok() ? 0 : 1;
}
