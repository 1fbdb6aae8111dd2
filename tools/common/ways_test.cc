#include "common/ways.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>

#include "common/reach.h"

namespace clump::tools {
namespace {

using Strings = std::vector<std::string>;

const Self kSelf{"here", {"10.0.0.2", "172.17.0.1"}, {}};

TEST(WaysBack, LeaveOutWhatTheHostHasItself) {
  EXPECT_EQ(ways_back(kSelf, {"172.17.0.1", "10.0.0.1", "127.0.0.1", "fd00::1"}, "there"),
            (Strings{"10.0.0.1", "fd00::1"}));
  EXPECT_EQ(ways_back(kSelf, {"172.17.0.1"}, "there"), Strings{});
}

TEST(WaysBack, AreAllAddressesOnTheHostThatHasThem) {
  const Strings all{"172.17.0.1", "10.0.0.2", "127.0.0.1"};
  EXPECT_EQ(ways_back(kSelf, all, "here"), all);
}

TEST(WaysBack, AreNoSharedOnesWhereTheKernelDoesNotTellTheNetwork) {
  Self self = kSelf;
  self.network = "unknown";
  EXPECT_EQ(ways_back(self, {"172.17.0.1", "127.0.0.1"}, "unknown"), Strings{});
}

TEST(WaysBack, TakeTheAddressThatSshdHasSeen) {
  Self self = kSelf;
  self.ssh_connection = "10.1.0.1 40000 10.0.0.2 22";
  EXPECT_EQ(ways_back(self, {"10.0.0.1", "10.1.0.1"}, "there"), Strings{"10.1.0.1"});
  EXPECT_EQ(ways_back(self, {"10.0.0.1"}, "there"), Strings{"10.0.0.1"}) << "that of a gateway";
  self.ssh_connection = "10.1.0.1 40000 10.9.0.9 22";
  EXPECT_EQ(ways_back(self, {"10.0.0.1", "10.1.0.1"}, "there"), (Strings{"10.0.0.1", "10.1.0.1"}))
      << "of another host's sshd";
  self.ssh_connection = "172.17.0.1 40000 10.0.0.2 22";
  EXPECT_EQ(ways_back(self, {"10.0.0.1", "172.17.0.1"}, "there"), Strings{"10.0.0.1"});
}

TEST(ConnectBack, SaysThatNoAddressIsLeft) {
  std::string why;
  EXPECT_EQ(connect_back({"127.0.0.1"}, "there", 9, std::chrono::seconds(1), why), -1);
  EXPECT_EQ(why, "127.0.0.1 port 9: this host has the same address itself");
}

TEST(OwnNetwork, IsTheSameAsLongAsTheProcessIs) {
  EXPECT_EQ(own_network(), own_network());
  EXPECT_EQ(own_network().find_first_of(" \n"), std::string::npos) << "it is one word";
}

TEST(ListenOn, TakesOutAddressesThatItDoesNotHave) {
  Strings addresses{"192.0.2.1", "127.0.0.1", "127.0.0.9"};  // the first is for documents only
  int port = 0;
  const std::vector<int> sockets = listen_on(addresses, port);
  EXPECT_EQ(addresses, (Strings{"127.0.0.1", "127.0.0.9"}));
  EXPECT_EQ(sockets.size(), addresses.size());
  EXPECT_NE(port, 0);
  for (const int socket : sockets) ::close(socket);
}

}  // namespace
}  // namespace clump::tools
