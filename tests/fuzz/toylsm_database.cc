#include "tests/fuzz/toylsm_database.h"

#include "integration/toylsm/db.h"
#include "tests/fuzz/fuzz.h"
#include "tests/toylsm/memory_env.h"

namespace blocksieve::testing {
namespace {

std::string Key(int i) { return "key" + std::to_string(10 + i); }

std::string Value(int i) {
  // Some that are worth compressing.
  return "w" + std::to_string(i % 3) + "\t" + std::to_string(i) + "\ttag" + std::to_string(i % 2) +
         std::string(i % 4 == 0 ? 100 : 0, '.');
}

}  // namespace

toylsm::Options ToyDatabase::OptionsIn(toylsm::Env* env) {
  toylsm::Options options;
  options.env = env;
  options.level0_files = 2;
  options.file_bytes = 1 << 10;
  options.block_bytes = 64;
  options.filter_granule_blocks = 3;
  options.value_columns = {*Column::Parse("word=field:1"), *Column::Parse("number=int:2"),
                           *Column::Parse("tags=words:3")};
  options.cache_bytes = 64 << 10;
  return options;
}

ToyDatabase ToyDatabase::Make() {
  toylsm::MemoryEnv env;
  ToyDatabase made;
  auto db = std::move(*toylsm::Db::Open(OptionsIn(&env), kDirectory));
  const auto must = [](const Status& status) { Require(status.ok(), "a database can be made"); };
  const auto put = [&](int i, Place place) {
    made.rows[Key(i)] = {Value(i) + std::to_string(static_cast<int>(place)), place};
    must(db->Put(Key(i), made.rows[Key(i)].value));
  };
  for (int i = 0; i < 12; ++i) put(i, Place::kLevel1);
  must(db->Compact());
  for (int i = 3; i < 16; i += 3) put(i, Place::kLevel0);
  made.rows.erase(Key(4));
  must(db->Delete(Key(4)));
  must(db->Flush());
  for (int i = 5; i < 20; i += 5) put(i, Place::kLog);
  db = nullptr;
  const auto names = env.List(kDirectory);
  for (const std::string& name : *names) {
    const std::string path = kDirectory + ("/" + name);
    if (!name.ends_with("LOCK")) made.files[path] = env.Contents(path);
  }
  return made;
}

std::string ToyDatabase::path(Place place) const {
  std::vector<std::string> found;  // files of deeper levels were written before
  for (const auto& [path, contents] : files) {
    if (path.ends_with(place == Place::kLog ? ".log" : ".sst")) found.push_back(path);
  }
  Require(found.size() == (place == Place::kLog ? 1 : 2), "one file of each kind");
  return place == Place::kLevel1 ? found.front() : found.back();
}

}  // namespace blocksieve::testing
