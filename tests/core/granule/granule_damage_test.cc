#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "lib/base/coding.h"
#include "lib/granule/class_tree.h"
#include "lib/granule/format.h"
#include "lib/granule/packed.h"
#include "lib/hash/checksum.h"
#include "tests/core/granule/granule_test_index.h"

// A damaged index cannot be opened. One whose damage is covered up by right checksums may open;
// then nothing that is asked of it may crash or read outside of it (run this under a sanitizer).

namespace blocksieve::testing {
namespace {

std::string SmallIndex() {
  GranuleIndexOptions options =
      IndexOptions(3, {Column(ValueType::kBytes, 0.05), Column(ValueType::kFloat, 0.3)});
  GranuleIndexBuilder builder = MakeIndexBuilder(options);
  for (uint64_t row = 0; row < 70; ++row) {
    builder.StartRow("a/common/path/of/keys/" + RowKey(row * row), 10);
    if (row == 30) builder.MarkAlwaysMatch();
    builder.NoteSequence(row);
    for (uint64_t i = 0; i < (row == 40 ? 30 : 1 + row % 2); ++i) {
      builder.AddValue(0, Value::Bytes("word " + RowKey(row * i)));
    }
    if (row % 5 != 0) builder.AddValue(1, Value::Float(static_cast<double>(row) / 3));
  }
  Result<std::string> bytes = builder.Finish();
  EXPECT_TRUE(bytes.ok());
  return *std::move(bytes);
}

/// A copy in memory of just its size, so that a sanitizer sees any read beyond.
Result<GranuleIndex> OpenCopy(const std::string& bytes, std::vector<uint8_t>* memory) {
  memory->assign(bytes.begin(), bytes.end());
  memory->shrink_to_fit();
  return GranuleIndex::Open(*memory);
}

/// Asks for everything there is.
void AskAll(const GranuleIndex& index) {
  const auto num_granules = static_cast<size_t>(index.num_granules());
  std::string first;
  std::string last;
  for (size_t g = 0; g < num_granules && g < 1000; ++g) {
    index.GetKeyRange(g, &first, &last);
    index.NumRows(g);
    index.MinSequence(g);
    index.AlwaysMatches(g);
  }
  for (size_t c = 0; c < index.num_columns(); ++c) {
    const ColumnIndex& column = index.column_index(c);
    Value value = Value::Bytes("word key 00000017");
    if (index.column(c).type == ValueType::kInt) value = Value::Int(5);
    if (index.column(c).type == ValueType::kUint) value = Value::Uint(5);
    if (index.column(c).type == ValueType::kFloat) value = Value::Float(5);
    GranuleSet set = GranuleSet::All(num_granules);
    const std::vector<uint64_t> hashes = {1, ~uint64_t{0}, value.Hash()};
    for (const uint64_t hash : hashes) {
      set = GranuleSet::All(num_granules);
      column.KeepContaining(hash, &set);
    }
    set = GranuleSet::All(num_granules);
    const Value values[] = {value, value};
    column.KeepContainingAny(values, &set);
    set = GranuleSet::All(num_granules);
    column.KeepOverlapping({value, value}, &set);
    set = GranuleSet::All(num_granules);
    column.KeepDiffering(value, &set);
    column.KeepMissing(&set);
    column.KeepPresent(&set);
  }
}

TEST(DamagedGranuleIndex, EveryTruncationIsAnError) {
  const std::string bytes = SmallIndex();
  std::vector<uint8_t> memory;
  for (size_t size = 0; size < bytes.size(); ++size) {
    const Result<GranuleIndex> index = OpenCopy(bytes.substr(0, size), &memory);
    ASSERT_FALSE(index.ok()) << size << " of " << bytes.size() << " bytes";
    ASSERT_EQ(index.status().code(), StatusCode::kCorruption);
  }
}

TEST(DamagedGranuleIndex, EveryFlippedBitIsAnError) {
  const std::string bytes = SmallIndex();
  std::vector<uint8_t> memory;
  for (size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    std::string damaged = bytes;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ 1 << (bit % 8));
    ASSERT_FALSE(OpenCopy(damaged, &memory).ok()) << "bit " << bit;
  }
}

TEST(DamagedGranuleIndex, BytesTooManyAreAnError) {
  std::vector<uint8_t> memory;
  EXPECT_FALSE(OpenCopy(SmallIndex() + "x", &memory).ok());
  EXPECT_FALSE(OpenCopy(std::string(1, 'x').append(SmallIndex()), &memory).ok());
}

TEST(DamagedGranuleIndex, ANewerVersionIsNotSupported) {
  std::string bytes = SmallIndex();
  bytes[4] = 2;
  const uint32_t field_bytes =
      LoadLittleEndian<uint32_t>(reinterpret_cast<const uint8_t*>(bytes.data()) + 5);
  StoreLittleEndian(reinterpret_cast<uint8_t*>(bytes.data()) + 9 + field_bytes,
                    Checksum(AsBytes(bytes).first(9 + field_bytes)));
  std::vector<uint8_t> memory;
  EXPECT_EQ(OpenCopy(bytes, &memory).status().code(), StatusCode::kNotSupported);
}

/// The index with its checksums made right for its parts as they are, and other fields of the
/// header changed by `change`.
template <class Change>
std::string Patched(const std::string& bytes, Change change) {
  size_t header_bytes = 0;
  internal::GranuleIndexHeader header =
      *internal::DecodeGranuleIndexHeader(AsBytes(bytes), &header_bytes);
  std::string parts = bytes.substr(header_bytes);
  change(&header, &parts);
  Decoder decoder(AsBytes(parts));
  header.granules.checksum = Checksum(decoder.Bytes(header.granules.num_bytes));
  for (internal::ColumnHeader& column : header.columns) {
    column.checksum = Checksum(decoder.Bytes(column.num_bytes()));
  }
  return internal::EncodeGranuleIndexHeader(header) + parts;
}

TEST(DamagedGranuleIndex, RandomPartsWithRightChecksumsDoNoHarm) {
  const std::string bytes = SmallIndex();
  std::mt19937_64 random(1);
  std::vector<uint8_t> memory;
  int opened = 0;
  for (int i = 0; i < 30'000; ++i) {
    const std::string damaged =
        Patched(bytes, [&](internal::GranuleIndexHeader*, std::string* parts) {
          for (uint64_t n = 1 + random() % 3; n > 0; --n) {
            (*parts)[random() % parts->size()] = static_cast<char>(random());
          }
        });
    const Result<GranuleIndex> index = OpenCopy(damaged, &memory);
    if (!index.ok()) continue;
    ++opened;
    AskAll(*index);
  }
  EXPECT_GT(opened, 1'000) << "too few to mean anything";
}

TEST(DamagedGranuleIndex, RandomFieldsWithRightChecksumsDoNoHarm) {
  const std::string bytes = SmallIndex();
  std::mt19937_64 random(2);
  std::vector<uint8_t> memory;
  int opened = 0;
  const auto garbage = [&](uint64_t* field) {
    *field = random() % 2 == 0 ? *field + random() % 5 - 2 : random() >> (random() % 64);
  };
  for (int i = 0; i < 20'000; ++i) {
    const std::string damaged =
        Patched(bytes, [&](internal::GranuleIndexHeader* header, std::string*) {
          internal::ColumnHeader& column = header->columns[random() % header->columns.size()];
          internal::SizeClass& size_class = column.classes[random() % column.classes.size()];
          switch (random() % 8) {
            case 0:
              return garbage(&header->num_granules);
            case 1:
              return garbage(&header->num_rows);
            case 2:
              return garbage(&size_class.num_bits);
            case 3:
              return garbage(&size_class.max_values);
            case 4:
              return garbage(&size_class.num_granules);
            case 5:
              column.num_probes = static_cast<uint32_t>(random() % 40);
              return;
            case 6:
              column.type = static_cast<ValueType>(random() % 5);
              return;
            default: {
              // Moves a border between two parts of a column.
              const uint64_t moved = random() % 4;
              column.filter_bytes += moved;
              column.bounds_bytes -= moved;
              return;
            }
          }
        });
    const Result<GranuleIndex> index = OpenCopy(damaged, &memory);
    if (!index.ok()) continue;
    ++opened;
    AskAll(*index);
  }
  EXPECT_GT(opened, 1'000);
}

TEST(DamagedGranuleIndex, RowsWithoutGranulesAreAnError) {
  const std::string empty = *MakeIndexBuilder(IndexOptions(3, {})).Finish();
  std::vector<uint8_t> memory;
  EXPECT_TRUE(OpenCopy(Patched(empty, [](auto*, auto*) {}), &memory).ok());
  const std::string hidden = Patched(empty, [](auto* header, auto*) { header->num_rows = 1; });
  EXPECT_FALSE(OpenCopy(hidden, &memory).ok());
}

TEST(DamagedGranuleIndex, NumbersThatWrapAreNoBits) {
  std::string bytes;
  AppendVarint(&bytes, UINT64_MAX);  // and a number of one bit above it
  bytes += "\x01\x01";
  Decoder decoder(AsBytes(bytes));
  EXPECT_FALSE(internal::PackedInts::Read(2, &decoder).IsBits());
  EXPECT_TRUE(decoder.ok());
}

// Two bytes can stand for the bits of any number of granules; reading them takes no longer for it.
TEST(DamagedGranuleIndex, BitsThatTakeNoBytesTakeNoTime) {
  constexpr uint64_t kGranules = uint64_t{1} << 60;
  const std::vector<internal::SizeClass> classes = {
      {.num_bits = 1, .max_values = 1, .num_granules = kGranules}, {}};
  const std::string bytes("\xff\0\1\0\0", 5);  // an inner node, its leaves, its bits: all 0
  Decoder decoder(AsBytes(bytes));
  internal::ClassTree tree;
  EXPECT_TRUE(tree.Read(classes, kGranules, &decoder));
}

TEST(DamagedGranuleIndex, GarbageIsAnError) {
  std::mt19937_64 random(3);
  std::vector<uint8_t> memory;
  for (int i = 0; i < 1'000; ++i) {
    std::string garbage(random() % 200, '\0');
    for (char& c : garbage) c = static_cast<char>(random());
    EXPECT_FALSE(OpenCopy(garbage, &memory).ok());
  }
}

}  // namespace
}  // namespace blocksieve::testing
