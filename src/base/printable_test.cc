#include "base/printable.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "base/status.h"

namespace clump::base {
namespace {

TEST(Printable, OrdinaryTextStays) {
  for (const std::string text : {"", "plain\n\tlines\n", "\xc3\xbc\xe2\x82\xac\xf0\x9f\x98\x80", "C:\\x1b"})
    EXPECT_EQ(printable(text), text);
}

TEST(Printable, ControlCharactersAreNamed) {
  EXPECT_EQ(printable("\x1b[2Jgone\x07\x7f"), "\\x1b[2Jgone\\x07\\x7f");
  EXPECT_EQ(printable(std::string("a\0b", 3)), "a\\x00b");
  EXPECT_EQ(printable("over\rwritten"), "over\\x0dwritten");
  EXPECT_EQ(printable("\xc2\x9b"
                      "31m"),
            "\\xc2\\x9b31m")
      << "CSI as a character of UTF-8";
  EXPECT_EQ(printable("\x9b"
                      "31m"),
            "\\x9b31m")
      << "and as a byte";
}

TEST(Printable, OtherBytesStay) {
  EXPECT_EQ(printable("caf\xe9 \x1b"), "caf\xe9 \\x1b") << "Latin-1";
  EXPECT_EQ(printable("\xe2\x82\x1b"), "\xe2\\x82\\x1b") << "a character that is cut off hides nothing";
}

TEST(Printable, LinesEndInLineFeeds) {
  EXPECT_EQ(printable("ssh: no route\r\nsecond\r\r\n"), "ssh: no route\nsecond\\x0d\n");
}

TEST(Printable, NoMoreThanThereIsRoomFor) {
  char room[6];
  EXPECT_EQ(std::string_view(room, printable_into(room, "abc\x1b")), "abc");
  EXPECT_EQ(std::string_view(room, printable_into(room,
                                                  "ab\x1b"
                                                  "c")),
            "ab\\x1b");
}

TEST(Printable, TextsOfErrorsAre) {
  EXPECT_EQ(message_of(fail(MPI_ERR_ARG, "'{}' is no name", "\x1b[31m").code()), "'\\x1b[31m' is no name");
}

}  // namespace
}  // namespace clump::base
