// In a process that has the rights of its caller alone. tests/launcher/rights_test.py has the others.
#include "base/environment.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <string_view>

namespace clump::base {
namespace {

TEST(Environment, IsObeyedWithoutMoreRights) {
  ASSERT_FALSE(has_rights_of_file());
  ::setenv("ENVIRONMENT_TEST", "a value", 1);
  EXPECT_STREQ(variable("ENVIRONMENT_TEST"), "a value");
  bool found = false;
  for (char** entry = environment(); *entry != nullptr; ++entry)
    found = found || std::string_view(*entry) == "ENVIRONMENT_TEST=a value";
  EXPECT_TRUE(found);
  EXPECT_EQ(obeyed(environment()), environment());
  ::unsetenv("ENVIRONMENT_TEST");
  EXPECT_EQ(variable("ENVIRONMENT_TEST"), nullptr);
}

}  // namespace
}  // namespace clump::base
