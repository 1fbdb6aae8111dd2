#include "mpi/dynamic/port_name.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "base/test_failure.h"

namespace clump::mpi {
namespace {

PortName sample_port() {
  return {.job = "host-p17",
          .rank = 3,
          .port = 2,
          .token = 0xfedcba9876543210,
          .process = 1,
          .link = {.id = 0x1f, .token = 0},
          .where = {.host = 0xab, .address = {1, 2, 0xf3}, .port = 4567}};
}

constexpr const char* kSampleText =
    "clump:host-p17:3:1:000000000000001f:0000000000000000:00000000000000ab:"
    "0102f300000000000000000000000000:4567:2:fedcba9876543210";

bool is_port_name(std::string_view text) {
  PortName name;
  return read_port_name(text, name);
}

/// Of a name with these parts, and with a place that leads nowhere.
bool is_port_name_of(const std::string& before, const std::string& after) {
  return is_port_name("clump:h:" + before + ":0:" + std::string(32, '0') + ":0:" + after);
}

TEST(PortName, IsWrittenWithAllItsParts) { EXPECT_EQ(sample_port().text(), kSampleText); }

TEST(PortName, ComesBackAsItWas) {
  PortName largest = sample_port();
  largest.rank = largest.port = largest.process = INT32_MAX;
  largest.token = largest.link.id = largest.link.token = largest.where.host = UINT64_MAX;
  largest.where.address.fill(0xff);
  largest.where.port = UINT16_MAX;
  for (const PortName& written : {sample_port(), largest, PortName{.job = "h", .rank = 0}}) {
    PortName read;
    ASSERT_TRUE(read_port_name(written.text(), read)) << written.text();
    EXPECT_EQ(read, written);
  }
}

// The longest name of a host (Linux: 64 characters) and the largest numbers fit into what a program has room
// for, also one that was compiled for MPICH, where there is room for 256.
TEST(PortName, FitsIntoTheRoomOfAProgram) {
  PortName longest{
      .job = std::string(64, 'h') + "-m18446744073709551615", .rank = INT32_MAX, .port = INT32_MAX};
  longest.token = longest.link.id = longest.link.token = longest.where.host = UINT64_MAX;
  longest.where.port = UINT16_MAX;
  longest.process = INT32_MAX;
  EXPECT_LT(longest.text().size(), 256u);
}

TEST(PortName, OfAnotherFormIsNone) {
  const std::string whole = kSampleText;
  EXPECT_TRUE(is_port_name(whole));
  EXPECT_FALSE(is_port_name(""));
  EXPECT_FALSE(is_port_name("tcp://1.2.3.4:5"));
  EXPECT_FALSE(is_port_name("Clump" + whole.substr(5)));
  EXPECT_FALSE(is_port_name(" " + whole));
  EXPECT_FALSE(is_port_name(whole + " "));
  EXPECT_FALSE(is_port_name(whole + ":"));
  for (std::size_t length = 0; length <= whole.rfind(':'); ++length)
    EXPECT_FALSE(is_port_name(whole.substr(0, length))) << whole.substr(0, length);
}

TEST(PortName, WithAWrongNumberIsNone) {
  EXPECT_TRUE(is_port_name_of("1:0:0:0", "1:2"));
  EXPECT_FALSE(is_port_name_of("-1:0:0:0", "1:2")) << "no rank has a negative number";
  EXPECT_FALSE(is_port_name_of(":0:0:0", "1:2"));
  EXPECT_FALSE(is_port_name_of("1x:0:0:0", "1:2"));
  EXPECT_FALSE(is_port_name_of("2147483648:0:0:0", "1:2")) << "more than an int holds";
  EXPECT_FALSE(is_port_name_of("1:0:g:0", "1:2"));
  EXPECT_FALSE(is_port_name_of("1:0:0:10000000000000000", "1:2")) << "65 bits";
  EXPECT_FALSE(is_port_name_of("1:0:0:0", "a:2")) << "this one is decimal";
  EXPECT_FALSE(is_port_name_of("1:0:0:0", "1:0x2"));
}

TEST(PortName, WithAWrongPlaceIsNone) {
  const std::string before = "clump:h:1:0:0:0:", address(32, '0'), after = ":1:2";
  EXPECT_TRUE(is_port_name(before + "f:" + address + ":65535" + after));
  EXPECT_FALSE(is_port_name(before + "f:" + address + ":65536" + after));
  EXPECT_FALSE(is_port_name(before + "f:" + address + ":-1" + after));
  EXPECT_FALSE(is_port_name(before + "f:" + address + "0:1" + after));
  EXPECT_FALSE(is_port_name(before + "f:" + address.substr(1) + ":1" + after));
  EXPECT_FALSE(is_port_name(before + "f:" + address.substr(1) + "g:1" + after));
  EXPECT_FALSE(is_port_name(before + "x:" + address + ":1" + after));
}

TEST(PortName, IsReadAsFarAsOneMayReach) {
  EXPECT_EQ(text_of("abc"), "abc");
  EXPECT_EQ(text_of(""), "");
  EXPECT_EQ(text_of(std::string(3 * MPI_MAX_PORT_NAME, 'x').c_str()).size(), std::size_t{MPI_MAX_PORT_NAME});
}

TEST(PortName, ThatIsNoneIsToldWithItsText) {
  EXPECT_EQ(base::failure(no_port("nonsense")),
            (base::Failure{MPI_ERR_PORT,
                           "(port_name = \"nonsense\"): no port has such a name; MPI_Open_port makes them"}));
}

}  // namespace
}  // namespace clump::mpi
