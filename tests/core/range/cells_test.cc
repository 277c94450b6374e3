#include "lib/range/cells.h"

#include <gtest/gtest.h>

#include <iterator>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace blocksieve::internal {
namespace {

using Reader = CellsReader<SelectByLoop>;  // kernels are compared as a whole

class WrittenCells {
 public:
  // They begin at any bit, as they do in a leaf.
  WrittenCells(const std::set<uint32_t>& cells, uint64_t num_cells, uint64_t cells_per_key,
               unsigned first_bit)
      : shape_(cells.size(), num_cells, cells_per_key), first_bit_(first_bit) {
    BitWriter bits;
    bits.Bits(LowBits(first_bit), first_bit);
    const std::vector<uint32_t> ascending(cells.begin(), cells.end());
    AppendCells(ascending, num_cells, cells_per_key, &bits);
    EXPECT_EQ(bits.num_bits(), first_bit + shape_.num_bits());
    const std::string written = std::move(bits).Finish() + std::string(kCellSlackBytes, '\xff');
    bytes_.assign(written.begin(), written.end());
  }

  Reader Open() const { return Reader(bytes_.data(), first_bit_, shape_); }

 private:
  const CellsShape shape_;
  const unsigned first_bit_;
  std::vector<uint8_t> bytes_;  // of just this size, for a sanitizer
};

void ExpectAt(const Reader& reader, bool found, const std::set<uint32_t>& cells,
              std::set<uint32_t>::const_iterator expected) {
  ASSERT_EQ(found, expected != cells.end());
  if (!found) return;
  ASSERT_EQ(reader.cell(), *expected);
  ASSERT_EQ(reader.index(), static_cast<uint64_t>(std::distance(cells.begin(), expected)));
}

void ExpectFound(const std::set<uint32_t>& cells, uint64_t num_cells, uint64_t cells_per_key,
                 unsigned first_bit) {
  SCOPED_TRACE(std::to_string(cells.size()) + " of " + std::to_string(num_cells));
  const WrittenCells written(cells, num_cells, cells_per_key, first_bit);
  std::mt19937_64 random(num_cells);
  const auto seek = [&](uint64_t least) {
    Reader reader = written.Open();
    bool found = reader.Seek(least);
    auto expected = cells.lower_bound(static_cast<uint32_t>(least));
    for (int steps = 0; steps < 4; ++steps) {
      ASSERT_NO_FATAL_FAILURE(ExpectAt(reader, found, cells, expected)) << least;
      if (!found) return;
      found = reader.Next();
      ++expected;
    }
  };
  for (const uint64_t least : {uint64_t{0}, num_cells / 2, num_cells - 1}) {
    ASSERT_NO_FATAL_FAILURE(seek(least));
  }
  for (int i = 0; i < 50; ++i) ASSERT_NO_FATAL_FAILURE(seek(random() % num_cells));
  for (const uint32_t cell : cells) {
    if (cells.size() > 300 && random() % 16 != 0) continue;
    ASSERT_NO_FATAL_FAILURE(seek(cell));
    if (cell + uint64_t{1} < num_cells) {
      ASSERT_NO_FATAL_FAILURE(seek(cell + uint64_t{1}));
    }
  }
  Reader reader = written.Open();
  bool found = reader.Seek(0);
  for (auto expected = cells.begin();; ++expected) {
    ASSERT_NO_FATAL_FAILURE(ExpectAt(reader, found, cells, expected));
    if (!found) break;
    found = reader.Next();
  }
}

TEST(Cells, OfAllShapesAreFound) {
  std::mt19937_64 random(1);
  for (const uint64_t count : {1, 2, 3, 7, 56, 57, 58, 64, 300, 512, 4096}) {
    for (const uint64_t cells_per_key : {1, 2, 3, 4, 7, 64, 67, 1000, 100'000}) {
      const uint64_t num_cells = count * cells_per_key;
      std::set<uint32_t> spread;
      while (spread.size() < count) spread.insert(static_cast<uint32_t>(random() % num_cells));
      std::set<uint32_t> front;
      std::set<uint32_t> back;
      std::set<uint32_t> ends;
      for (uint32_t i = 0; i < count; ++i) {
        front.insert(i);
        back.insert(static_cast<uint32_t>(num_cells) - 1 - i);
        ends.insert(i % 2 == 0 ? i : static_cast<uint32_t>(num_cells) - 1 - i);
      }
      for (const auto& cells : {spread, front, back, ends}) {
        ASSERT_NO_FATAL_FAILURE(
            ExpectFound(cells, num_cells, cells_per_key, static_cast<unsigned>(random() % 50)));
      }
      // Fewer than there is room for.
      ASSERT_NO_FATAL_FAILURE(ExpectFound({*spread.begin()}, num_cells, cells_per_key,
                                          static_cast<unsigned>(random() % 50)));
    }
  }
}

TEST(Cells, TakeWhatTheirShapeSays) {
  EXPECT_EQ(CellsShape(1, 1, 1).num_bits(), 2u);
  EXPECT_EQ(CellsShape(512, 512 * 64, 64).num_bits(), 512u * 6 + 512 + 512);
  EXPECT_EQ(CellsShape(512, 512 * 67, 67).low_bits, 6u);
}

// Whatever the bits are, nothing behind the slack is read, and no cell comes twice.
TEST(Cells, OfAnyBitsEnd) {
  std::mt19937_64 random(2);
  for (int round = 0; round < 20'000; ++round) {
    const uint64_t count = 1 + random() % (round % 2 == 0 ? 5 : 600);
    const uint64_t cells_per_key = 1 + (random() % 100'000 >> random() % 17);
    const uint64_t num_cells = count * cells_per_key;
    const CellsShape shape(count, num_cells, cells_per_key);
    std::vector<uint8_t> bytes(static_cast<size_t>((shape.num_bits() + 7) / 8) + kCellSlackBytes);
    const uint64_t kind = random() % 4;
    for (uint8_t& byte : bytes) {
      byte = static_cast<uint8_t>(kind == 0 ? 0 : kind == 1 ? 255 : random());
    }
    Reader reader(bytes.data(), 0, shape);
    uint64_t steps = 0;
    for (bool found = reader.Seek(random() % num_cells); found; found = reader.Next()) {
      ASSERT_LE(++steps, count);
    }
  }
}

}  // namespace
}  // namespace blocksieve::internal
