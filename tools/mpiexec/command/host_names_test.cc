#include "command/host_names.h"

#include <gtest/gtest.h>

#include "common/reach.h"

namespace clump::mpiexec {
namespace {

using Strings = std::vector<std::string>;

Host host(const Strings& addresses) {
  Host made{.name = "a"};
  made.addresses = addresses;
  return made;
}

TEST(OwnAddressesTowards, AreThoseOfTheRoute) {
  EXPECT_EQ(own_addresses_towards({host({"127.0.0.9"})}), Strings{"127.0.0.1"});
}

TEST(OwnAddressesTowards, AreAllTowardsAHostThatSshAloneKnows) {
  Strings all = tools::own_addresses();
  if (all.empty()) all.emplace_back("127.0.0.1");
  EXPECT_EQ(own_addresses_towards({host({})}), all);
}

}  // namespace
}  // namespace clump::mpiexec
