// Records with blocks of every length, in loops around loops, against loops over single bytes.
#include <gtest/gtest.h>

#include <algorithm>
#include <span>
#include <vector>

#include "datatype/derive.h"

namespace clump::datatype {
namespace {

using Bytes = std::vector<std::byte>;

const Datatype& kByte() { return *predefined(MPI_BYTE); }

// Rows of records of three blocks.
struct Table {
  Count lengths[3], places[3];
  Count record, records, rows, row;

  explicit Table(Count length) : lengths{length, length * 7 % 33 + 1, 5} {
    Count end = 2;
    for (int i = 0; i < 3; ++i) {
      places[i] = end;
      end += lengths[i] + 1 + i;
    }
    record = end;
    records = length % 11 + 1;
    rows = 9;
    row = records * record + 13;
  }

  // Two tables, one behind the other.
  Ref type() const {
    Made blocks, spread, line, made;
    EXPECT_TRUE(make_hindexed(lengths, places, kByte(), blocks).ok());
    EXPECT_TRUE(make_resized(*blocks.type, 0, record, spread).ok());
    EXPECT_TRUE(make_contiguous(records, *spread.type, line).ok());
    EXPECT_TRUE(make_hvector({rows, 1, row}, *line.type, made).ok());
    Made whole;
    EXPECT_TRUE(make_resized(*made.type, 0, rows * row + 5, whole).ok());
    return whole.type;
  }

  std::vector<Count> packed_places() const {
    std::vector<Count> found;
    for (Count table = 0; table < 2; ++table)
      for (Count i = 0; i < rows; ++i)
        for (Count k = 0; k < records; ++k)
          for (int block = 0; block < 3; ++block)
            for (Count byte = 0; byte < lengths[block]; ++byte)
              found.push_back(table * (rows * row + 5) + i * row + k * record + places[block] + byte);
    return found;
  }
};

Bytes numbered(std::size_t size) {
  Bytes bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(i * 31 + i / 251);
  return bytes;
}

// In three pieces, of which the first two end anywhere.
template <typename Work>
void in_pieces(Count size, const Work& work) {
  const Count cuts[] = {0, size / 3 + 1, size - size / 5, size};
  for (int i = 0; i < 3; ++i) work(cuts[i], cuts[i + 1] - cuts[i]);
}

TEST(Nest, BlocksOfEveryLength) {
  for (Count length = 1; length <= 140; ++length) {
    const Table table(length);
    const Ref type = table.type();
    const std::vector<Count> places = table.packed_places();
    const auto size = static_cast<Count>(places.size());
    ASSERT_EQ(2 * type->size(), size);
    Bytes memory = numbered(static_cast<std::size_t>(2 * type->extent())), packed(places.size());
    const Layout layout{memory.data(), 2, type.get()};
    in_pieces(size, [&](Count at, Count bytes) { pack(std::span(packed).subspan(at, bytes), layout, at); });
    for (std::size_t i = 0; i < places.size(); ++i)
      ASSERT_EQ(packed[i], memory[places[i]]) << "length " << length << ", byte " << i;

    Bytes expected(memory.size()), found(memory.size()), copied(memory.size());
    for (std::size_t i = 0; i < places.size(); ++i) expected[places[i]] = packed[i];
    in_pieces(size, [&](Count at, Count bytes) {
      unpack({found.data(), 2, type.get()}, at, std::span(packed).subspan(at, bytes));
      copy({copied.data(), 2, type.get()}, layout, at, bytes);
    });
    ASSERT_EQ(found, expected) << "length " << length;
    ASSERT_EQ(copied, expected) << "length " << length;
  }
}

TEST(Nest, BlocksThatDoNotFitEachOther) {
  for (Count length = 1; length <= 70; ++length) {
    const Table source(length), target(length * 13 % 71 + 1);
    const Ref from = source.type(), to = target.type();
    const std::vector<Count> out = source.packed_places(), in = target.packed_places();
    const auto size = static_cast<Count>(std::min(out.size(), in.size()));
    Bytes memory = numbered(static_cast<std::size_t>(2 * from->extent()));
    Bytes found(static_cast<std::size_t>(2 * to->extent())), expected(found.size());
    for (Count i = 0; i < size; ++i) expected[in[i]] = memory[out[i]];
    in_pieces(size, [&](Count at, Count bytes) {
      copy({found.data(), 2, to.get()}, {memory.data(), 2, from.get()}, at, bytes);
    });
    ASSERT_EQ(found, expected) << "length " << length;
  }
}

}  // namespace
}  // namespace clump::datatype
