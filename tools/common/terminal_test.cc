#include "common/terminal.h"

#include <gtest/gtest.h>
#include <pty.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>

namespace clump::tools {
namespace {

TEST(Terminal, LinesAreBrokenBehindWhereTheirTextBegins) {
  EXPECT_EQ(fit("short\n", 20), "short\n");
  EXPECT_EQ(fit("", 20), "");
  EXPECT_EQ(fit("\n\na\n", 20), "\n\na\n");
  EXPECT_EQ(fit("  -n N    number of ranks of the job\n", 24),
            "  -n N    number of\n          ranks of the\n          job\n");
  EXPECT_EQ(fit("          which goes on\n", 18), "          which\n            goes\n            on\n");
  EXPECT_EQ(fit("          which goes on\n", 18, 0), "          which\n          goes on\n");
  EXPECT_EQ(fit("mpiexec: one two three four", 20), "mpiexec: one two\n  three four");
}

TEST(Terminal, DeepLinesFitNarrowTerminals) {
  EXPECT_EQ(fit(std::string(30, ' ') + "which goes on\n", 20),
            std::string(30, ' ') + "which\n" + std::string(13, ' ') + "goes on\n");
}

TEST(Terminal, WhatIsOneWordStaysWhole) {
  EXPECT_EQ(fit("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa b", 20), "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n  b");
  EXPECT_EQ(fit("a/very/long/path/without/blanks", 20), "a/very/long/path/without/blanks");
  EXPECT_EQ(fit("12345678901234567890   \nb", 20), "12345678901234567890\nb");
}

TEST(Terminal, LettersAreCountedAndNotBytes) {
  EXPECT_EQ(fit("äöüäöüäöü äöüäöüäöü", 19), "äöüäöüäöü äöüäöüäöü");
}

TEST(Terminal, ItsColumnsCountThenTheVariable) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  ::unsetenv("COLUMNS");
  EXPECT_EQ(columns(ends[1]), 80U);
  ::setenv("COLUMNS", "120", 1);
  EXPECT_EQ(columns(ends[1]), 120U);
  ::setenv("COLUMNS", "wide", 1);
  EXPECT_EQ(columns(ends[1]), 80U);
  int leader, follower;
  winsize size{.ws_row = 10, .ws_col = 60, .ws_xpixel = 0, .ws_ypixel = 0};
  ASSERT_EQ(::openpty(&leader, &follower, nullptr, nullptr, &size), 0);
  EXPECT_EQ(columns(follower), 60U);
  for (const int end : {ends[0], ends[1], leader, follower}) ::close(end);
  ::unsetenv("COLUMNS");
}

TEST(Terminal, ColorIsForTerminalsUnlessItIsChosen) {
  int leader, follower, ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  ASSERT_EQ(::openpty(&leader, &follower, nullptr, nullptr, nullptr), 0);
  ::unsetenv("NO_COLOR");
  ::setenv("TERM", "xterm", 1);
  EXPECT_TRUE(has_color(follower));
  EXPECT_FALSE(has_color(ends[1]));
  ::setenv("NO_COLOR", "1", 1);
  EXPECT_FALSE(has_color(follower));
  EXPECT_TRUE(choose_color("always"));
  EXPECT_TRUE(has_color(ends[1]));
  EXPECT_TRUE(choose_color("never"));
  ::unsetenv("NO_COLOR");
  EXPECT_FALSE(has_color(follower));
  EXPECT_FALSE(choose_color("sometimes"));
  EXPECT_TRUE(choose_color("auto"));
  ::setenv("TERM", "dumb", 1);
  EXPECT_FALSE(has_color(follower));
  for (const int end : {ends[0], ends[1], leader, follower}) ::close(end);
}

}  // namespace
}  // namespace clump::tools
