#include "datatype/external32.h"

#include <gtest/gtest.h>

#include <cstring>

#include "datatype/derive.h"

namespace clump::datatype {
namespace {

std::vector<std::byte> packed(const Layout& from) {
  std::vector<std::byte> out(static_cast<std::size_t>(external32_bytes(*from.type, from.count)));
  pack_external32(out.data(), from);
  return out;
}

std::vector<std::byte> bytes(std::initializer_list<int> values) {
  std::vector<std::byte> found;
  for (const int value : values) found.push_back(static_cast<std::byte>(value));
  return found;
}

TEST(External32, IsBigEndian) {
  int number = 0x01020304;
  EXPECT_EQ(packed({&number, 1, predefined(MPI_INT)}), bytes({1, 2, 3, 4}));
  double one = 1;
  EXPECT_EQ(packed({&one, 1, predefined(MPI_DOUBLE)}), bytes({0x3f, 0xf0, 0, 0, 0, 0, 0, 0}));
  float complex[] = {1, -2};
  EXPECT_EQ(packed({complex, 1, predefined(MPI_C_COMPLEX)}), bytes({0x3f, 0x80, 0, 0, 0xc0, 0, 0, 0}));
  long double half = 0.5L;
  EXPECT_EQ(packed({&half, 1, predefined(MPI_LONG_DOUBLE)}),
            bytes({0x3f, 0xfe, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}));
}

TEST(External32, LongHasFourBytes) {
  long numbers[] = {-2, 5}, back[2] = {};
  const std::vector<std::byte> out = packed({numbers, 2, predefined(MPI_LONG)});
  EXPECT_EQ(out, bytes({0xff, 0xff, 0xff, 0xfe, 0, 0, 0, 5}));
  unpack_external32({back, 2, predefined(MPI_LONG)}, out.data());
  EXPECT_EQ(back[0], -2);
  EXPECT_EQ(back[1], 5);
  unsigned long large = 0xfffffffe, same = 0;
  unpack_external32({&same, 1, predefined(MPI_UNSIGNED_LONG)},
                    packed({&large, 1, predefined(MPI_UNSIGNED_LONG)}).data());
  EXPECT_EQ(same, large);
}

TEST(External32, ConvertsWhatThereIsOfAnElement) {
  struct Record {
    short few[3];
    long number;
  };
  const Count lengths[] = {3, 1}, places[] = {offsetof(Record, few), offsetof(Record, number)};
  const Datatype* const types[] = {predefined(MPI_SHORT), predefined(MPI_LONG)};
  Made made;
  ASSERT_TRUE(make_struct(lengths, places, types, made).ok());
  const Record all[] = {{{1, 2, 3}, 4}, {{5, 6, 7}, 8}};
  const std::vector<std::byte> out = packed({const_cast<Record*>(all), 2, made.type.get()});
  ASSERT_EQ(out.size(), 20u);
  const Count of_one = 3 * sizeof(short) + sizeof(long);
  const auto read = [&](Count bytes, Record* back) {
    return unpack_external32({back, 2, made.type.get()}, out.data(), bytes);
  };
  Record back[2] = {};
  EXPECT_EQ(read(15, back), of_one + 2 * static_cast<Count>(sizeof(short)));  // a byte of the third one
  EXPECT_EQ(back[0].number, 4);
  EXPECT_EQ(back[1].few[1], 6);
  EXPECT_EQ(back[1].few[2], 0);
  EXPECT_EQ(read(8, back), 3 * static_cast<Count>(sizeof(short)));  // the rest is less than a long
  EXPECT_EQ(read(20, back), 2 * of_one);
  EXPECT_EQ(back[1].number, 8);
  EXPECT_EQ(read(1, back), 0);
  EXPECT_EQ(read(0, back), 0);
}

TEST(External32, ConvertsStructsAndBack) {
  struct Record {
    short few[3];
    double value;
    struct {
      double value;
      int index;
    } pair;
    long double precise;
  };
  const Count lengths[] = {3, 1, 1, 1};
  const Count places[] = {offsetof(Record, few), offsetof(Record, value), offsetof(Record, pair),
                          offsetof(Record, precise)};
  const Datatype* types[] = {predefined(MPI_SHORT), predefined(MPI_DOUBLE), predefined(MPI_DOUBLE_INT),
                             predefined(MPI_LONG_DOUBLE)};
  Made record, spread;
  ASSERT_TRUE(make_struct(lengths, places, types, record).ok());
  ASSERT_TRUE(make_vector({50, 1, 2}, *record.type, spread).ok());
  EXPECT_EQ(external32_bytes(*record.type, 3), 3 * (6 + 8 + 12 + 16));
  std::vector<Record> from(200), to(200);
  for (int i = 0; i < 200; ++i) from[i] = {{1, static_cast<short>(i), -1}, i / 3.0, {-i / 7.0, i}, i / 9.0L};
  const std::vector<std::byte> out = packed({from.data(), 2, spread.type.get()});
  unpack_external32({to.data(), 2, spread.type.get()}, out.data());
  for (int i = 0; i < 198; ++i) {
    const bool sent = i < 99 ? i % 2 == 0 : (i - 99) % 2 == 0;
    const Record expected = sent ? from[i] : Record{};
    EXPECT_EQ(to[i].few[1], expected.few[1]) << i;
    EXPECT_EQ(to[i].value, expected.value) << i;
    EXPECT_EQ(to[i].pair.value, expected.pair.value) << i;
    EXPECT_EQ(to[i].pair.index, expected.pair.index) << i;
    EXPECT_EQ(to[i].precise, expected.precise) << i;
  }
}

}  // namespace
}  // namespace clump::datatype
