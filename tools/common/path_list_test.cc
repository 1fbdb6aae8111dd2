#include "common/path_list.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <cstdio>

namespace clump::tools {
namespace {

/// What `commands` leave in the variable LIST, where the environment has `before`; null: it has none.
std::string list_after(const std::string& commands, const char* before) {
  before != nullptr ? ::setenv("LIST", before, 1) : ::unsetenv("LIST");
  std::FILE* const pipe = ::popen((commands + "; printf %s \"$LIST\"").c_str(), "r");
  char text[200];
  const std::size_t got = std::fread(text, 1, sizeof text, pipe);
  EXPECT_EQ(::pclose(pipe), 0);
  ::unsetenv("LIST");
  return {text, got};
}

TEST(PathList, LeavesNoEmptyElement) {
  const std::string set = prepend_in_shell("LIST", "/a b/lib");
  EXPECT_EQ(list_after(set, nullptr), "/a b/lib");
  EXPECT_EQ(list_after(set, ""), "/a b/lib");
  EXPECT_EQ(list_after(set, "/x:/y"), "/a b/lib:/x:/y");
}

}  // namespace
}  // namespace clump::tools
