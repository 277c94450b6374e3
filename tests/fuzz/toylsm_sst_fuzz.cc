#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "integration/toylsm/sst/reader.h"
#include "integration/toylsm/version.h"
#include "tests/fuzz/fuzz.h"
#include "tests/support/reseal_toylsm.h"
#include "tests/toylsm/memory_env.h"

// Any bytes can be read as a file of sorted entries, forwards, backwards, by key and by value: in
// order, up to an error if there is one. Where nothing is found to be wrong, every entry is found
// in all these ways.

namespace blocksieve::toylsm {
namespace {

using blocksieve::testing::Require;

constexpr char kPath[] = "/db/000001.sst";

// An entry that outlives its block.
struct KeptEntry {
  std::string key;
  Sequence sequence;
  EntryType type;
  std::string value;

  explicit KeptEntry(const Entry& entry)
      : key(entry.key), sequence(entry.sequence), type(entry.type), value(entry.value) {}
  Position position() const { return {key, sequence}; }
};

void RequireDamage(const Status& status) {
  Require(status.code() == StatusCode::kCorruption || status.code() == StatusCode::kNotSupported,
          "what is wrong with a file is damage, or a newer version");
}

class FileCheck {
 public:
  FileCheck(const std::shared_ptr<SstReader>& file, const ReadContext& context)
      : run_{0, {file}}, file_(*file), context_(context) {}

  void ReadAll() {
    const bool is_sound = VerifyFile(file_, columns(), context_).ok();
    const std::vector<KeptEntry> entries = ReadEntries(true);
    const std::vector<KeptEntry> reversed = ReadEntries(false);
    // Found or not: nothing but damage can be wrong.
    Find("");
    Find(file_.last_key() + "x");
    for (const KeptEntry& entry : entries) {
      const std::optional<FoundEntry> found = Find(entry.key);
      Require(!is_sound || (found && found->entry.key == entry.key), "every key is found");
    }
    Select(entries, is_sound);
    if (!is_sound) return;
    Require(entries.size() == file_.index().num_entries, "all entries are read");
    Require(std::equal(entries.begin(), entries.end(), reversed.rbegin(), reversed.rend(),
                       [](const KeptEntry& a, const KeptEntry& b) {
                         return a.key == b.key && a.sequence == b.sequence && a.value == b.value;
                       }),
            "backwards are the same entries");
  }

 private:
  static const std::vector<Column>& columns() {
    static const std::vector<Column> columns = {*Column::Parse("word=field:1"),
                                                *Column::Parse("number=int:2"),
                                                *Column::Parse("tags=words:3")};
    return columns;
  }

  std::vector<KeptEntry> ReadEntries(bool forward) {
    std::vector<KeptEntry> entries;
    const auto iterator = NewRunIterator(&run_, context_);
    forward ? iterator->SeekToFirst() : iterator->SeekToLast();
    for (; iterator->Valid(); forward ? iterator->Next() : iterator->Prev()) {
      const Position position = iterator->entry().position();
      Require(entries.empty() || (forward ? entries.back().position() < position
                                          : position < entries.back().position()),
              "entries are in order");
      entries.emplace_back(iterator->entry());
    }
    if (!iterator->status().ok()) RequireDamage(iterator->status());
    return entries;
  }

  std::optional<FoundEntry> Find(std::string_view key) {
    Result<std::optional<FoundEntry>> found = file_.Find(key, ~Sequence{0}, context_);
    if (found.ok()) return *std::move(found);
    RequireDamage(found.status());
    return std::nullopt;
  }

  // Which blocks a scan would read; that equality and ranges lose nothing is verified.
  void Select(const std::vector<KeptEntry>& entries, bool is_sound) {
    const auto index = file_.skip_index(context_);
    if (index == nullptr) return;
    for (const char* text : {"word = 'w1'", "number >= 3", "tags = 'tag1'", "word != 'w2'"}) {
      const Predicate predicate = *Predicate::Parse(text, columns());
      const GranuleSet blocks = index->CandidateBlocks(predicate, ~Sequence{0});
      Require(blocks.num_granules() == file_.num_blocks(), "an index is of a file's blocks");
      if (!is_sound || std::string_view(text).find("!=") != std::string_view::npos) continue;
      for (const KeptEntry& entry : entries) {
        if (entry.type != EntryType::kPut || !predicate.Matches(entry.value)) continue;
        Require(blocks.Has(file_.FindBlock(entry.key)), "every matching row is read");
      }
    }
  }

  const Run run_;
  const SstReader& file_;
  const ReadContext context_;
};

void Read(const std::string& contents, uint64_t number) {
  MemoryEnv env;
  env.SetContents(kPath, contents);
  Counters counters;
  BlockCache cache(1 << 20);
  for (BlockCache* const cache_or_none : {static_cast<BlockCache*>(nullptr), &cache}) {
    const ReadContext context{&counters, cache_or_none};
    const FileInfo info{.number = number, .level = 0, .num_bytes = contents.size()};
    const auto file = SstReader::Open(&env, kPath, info, context);
    if (!file.ok()) return RequireDamage(file.status());
    FileCheck(*file, context).ReadAll();
  }
}

}  // namespace
}  // namespace blocksieve::toylsm

void blocksieve::testing::TestOneInput(ByteView bytes) {
  const uint64_t number = SstNumberOf(bytes);
  CheckAlsoResealed(
      bytes, [&](ByteView sst) { return ResealSst(sst, number); },
      [&](ByteView sst) { toylsm::Read(std::string(AsText(sst)), number); });
}
