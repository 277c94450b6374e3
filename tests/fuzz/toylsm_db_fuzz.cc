#include <algorithm>
#include <set>
#include <string>

#include "integration/toylsm/db.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/toylsm_database.h"
#include "tests/support/reseal_toylsm.h"
#include "tests/toylsm/memory_env.h"

// Input: a byte that says which file of a database is replaced, and by what. The database opens, or
// does not; but rows that other files have are never lost, nor shown otherwise, by any kind of
// read.

namespace blocksieve::toylsm {
namespace {

using blocksieve::testing::Require;
using blocksieve::testing::ToyDatabase;
using Place = ToyDatabase::Place;

const ToyDatabase& Original() {
  static const ToyDatabase original = ToyDatabase::Make();
  return original;
}

// The manifest has to know how long an SST is.
void FitManifest(const std::string& path, uint64_t num_bytes, MemoryEnv* env) {
  const std::string manifest_path = ManifestPath(ToyDatabase::kDirectory);
  const std::string bytes = env->Contents(manifest_path);
  Manifest manifest = *Manifest::Decode(AsBytes(bytes));
  for (FileInfo& file : manifest.files) {
    if (SstPath(ToyDatabase::kDirectory, file.number) == path) file.num_bytes = num_bytes;
  }
  env->SetContents(manifest_path, manifest.Encode());
}

// The keys of which a file may show anything: its own, as far as they can be read.
std::set<std::string> KeysOf(Env* env, const std::string& path, const std::string& contents) {
  std::set<std::string> keys;
  Counters counters;
  const ReadContext context{&counters, nullptr};
  const FileInfo info{testing::SstNumberOf(AsBytes(contents)), 0, contents.size()};
  const auto file = SstReader::Open(env, path, info, context);
  if (!file.ok()) return keys;
  for (size_t i = 0; i < (*file)->num_blocks(); ++i) {
    const auto block = (*file)->ReadBlock(i, context);
    if (!block.ok()) continue;
    for (const Entry& entry : (*block)->entries) keys.emplace(entry.key);
  }
  return keys;
}

class Reads {
 public:
  explicit Reads(Db* db) : db_(*db) {}

  void Check(const std::string& key, const std::string& value) {
    const auto got = db_.Get(key);
    Require(!got.ok() || *got == value, "a row of another file is got");
    const auto iterator = db_.NewIterator();
    iterator->Seek(key);
    if (iterator->status().ok()) {
      Require(iterator->Valid() && iterator->key() == key && iterator->value() == value,
              "an iterator comes to it");
    }
  }

  /// `rows`: what there must be among the rows that are read.
  void CheckAll(const std::map<std::string, std::string>& rows) {
    const auto iterator = db_.NewIterator();
    iterator->SeekToFirst();
    RequireAmong(iterator.get(), rows, [&] { iterator->Next(); });
    iterator->SeekToLast();
    RequireAmong(iterator.get(), rows, [&] { iterator->Prev(); });
    const Predicate all_numbers =
        *Predicate::Parse("number >= 0", ToyDatabase::OptionsIn(nullptr).value_columns);
    const auto scan = db_.Scan(all_numbers);
    RequireAmong(scan.get(), rows, [&] { scan->Next(); });
  }

 private:
  template <class Rows, class Step>
  static void RequireAmong(Rows* read, const std::map<std::string, std::string>& rows, Step step) {
    std::map<std::string, std::string> seen;
    for (; read->Valid(); step()) seen.emplace(read->key(), read->value());
    Require(
        !read->status().ok() || std::includes(seen.begin(), seen.end(), rows.begin(), rows.end()),
        "rows of other files are shown");
  }

  Db& db_;
};

void Open(Place place, const std::string& contents) {
  const std::string path = Original().path(place);
  MemoryEnv env;
  for (const auto& [name, original] : Original().files) env.SetContents(name, original);
  env.SetContents(path, contents);
  std::set<std::string> its_keys;
  if (place != Place::kLog) {
    FitManifest(path, contents.size(), &env);
    its_keys = KeysOf(&env, path, contents);
  }
  const auto db = Db::Open(ToyDatabase::OptionsIn(&env), ToyDatabase::kDirectory);
  if (!db.ok()) {
    Require(db.status().code() == StatusCode::kCorruption ||
                db.status().code() == StatusCode::kNotSupported,
            "what is wrong with a file is damage, or a newer version");
    return;
  }
  Reads reads(db->get());
  std::map<std::string, std::string> others;
  for (const auto& [key, row] : Original().rows) {
    if (row.place == place || its_keys.contains(key)) continue;
    others.emplace(key, row.value);
    reads.Check(key, row.value);
  }
  reads.CheckAll(others);
}

void OpenWithManifest(ByteView contents) {
  MemoryEnv env;
  for (const auto& [name, original] : Original().files) env.SetContents(name, original);
  env.SetContents(ManifestPath(ToyDatabase::kDirectory), std::string(AsText(contents)));
  const auto db = Db::Open(ToyDatabase::OptionsIn(&env), ToyDatabase::kDirectory);
  if (!db.ok()) return;
  Reads reads(db->get());
  for (const auto& [key, row] : Original().rows) (void)(*db)->Get(key);
  reads.CheckAll({});
}

}  // namespace
}  // namespace blocksieve::toylsm

void blocksieve::testing::TestOneInput(ByteView bytes) {
  using namespace toylsm;
  if (bytes.empty()) return;
  const ByteView contents = bytes.subspan(1);
  constexpr uint8_t kPlaces = 3;
  if (bytes[0] % (kPlaces + 1) == kPlaces) {
    return CheckAlsoResealed(contents, ResealManifest, OpenWithManifest);
  }
  const auto place = static_cast<Place>(bytes[0] % (kPlaces + 1));
  const auto open = [&](ByteView file) { Open(place, std::string(AsText(file))); };
  if (place == Place::kLog) return open(contents);  // one that is sealed may overwrite anything
  const uint64_t number = SstNumberOf(AsBytes(Original().files.at(Original().path(place))));
  const auto reseal = [&](ByteView sst) { return ResealSst(sst, number); };
  CheckAlsoResealed(contents, reseal, open);
}
