#include "keys/handshake.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace clump::mpiexec {
namespace {

/// The two sides of a connection, and what is on it.
class HandshakeTest : public testing::Test {
 protected:
  const Key key_ = Key::draw(), other_key_ = Key::draw();
  const std::vector<std::uint32_t> hosts_{7, 8};
  Handshake mpiexec_{key_, hosts_}, proxy_{key_, 7U};
};

TEST_F(HandshakeTest, BothSidesProveTheirKey) {
  const std::string hello = proxy_.take_output();
  EXPECT_EQ(hello.size(), Handshake::kHello);
  ASSERT_TRUE(mpiexec_.take(hello));
  EXPECT_EQ(mpiexec_.host(), 7U);
  EXPECT_FALSE(mpiexec_.is_done());
  ASSERT_TRUE(proxy_.take(mpiexec_.take_output()));
  EXPECT_FALSE(proxy_.is_done()) << "mpiexec may have dropped it";
  ASSERT_TRUE(mpiexec_.take(proxy_.take_output()));
  EXPECT_TRUE(mpiexec_.is_done());
  ASSERT_TRUE(proxy_.take(mpiexec_.take_output()));
  EXPECT_TRUE(proxy_.is_done());
  EXPECT_EQ(proxy_.wanted(), 0U);
  EXPECT_EQ(mpiexec_.wanted(), 0U);
  Seal one = mpiexec_.seal(), other = proxy_.seal();
  std::string down = one.seal("to the proxy"), up = other.seal("to mpiexec"), bytes;
  EXPECT_TRUE(other.open(down, bytes));
  EXPECT_TRUE(one.open(up, bytes));
  EXPECT_EQ(bytes, "to the proxyto mpiexec");
}

TEST_F(HandshakeTest, AProxyRefusesAListenerWithoutTheKey) {
  Handshake listener(other_key_, hosts_);
  ASSERT_TRUE(listener.take(proxy_.take_output()));
  EXPECT_FALSE(proxy_.take(listener.take_output()));
  EXPECT_FALSE(proxy_.is_done());
  EXPECT_EQ(proxy_.take_output(), "");  // it is told nothing more
}

TEST_F(HandshakeTest, MpiexecRefusesAProxyWithoutTheKey) {
  Handshake stranger(other_key_, 7U);
  ASSERT_TRUE(mpiexec_.take(stranger.take_output()));
  EXPECT_FALSE(stranger.take(mpiexec_.take_output()));
  EXPECT_FALSE(mpiexec_.take(std::string(Handshake::kProof, 'x')));
  EXPECT_FALSE(mpiexec_.is_done());
}

TEST_F(HandshakeTest, WhatMpiexecHasAnsweredIsNoProofOfAProxy) {
  ASSERT_TRUE(mpiexec_.take(proxy_.take_output()));
  const std::string answer = mpiexec_.take_output();
  EXPECT_FALSE(mpiexec_.take(answer.substr(answer.size() - Handshake::kProof)));
}

TEST_F(HandshakeTest, WhatAProxyHasSentIsNoAnswerOfMpiexec) {
  // To another proxy, and to itself.
  Handshake other(key_, 8U);
  const std::string hello = proxy_.take_output();
  const std::string padding(Handshake::kAnswer - Handshake::kHello, '\0');
  EXPECT_FALSE(other.take(hello + padding));
  EXPECT_FALSE(proxy_.take(hello + padding));
}

TEST_F(HandshakeTest, AnOldProofIsNoneForANewConnection) {
  const std::string hello = proxy_.take_output();
  ASSERT_TRUE(mpiexec_.take(hello));
  const std::string answer = mpiexec_.take_output();
  ASSERT_TRUE(proxy_.take(answer));
  const std::string proof = proxy_.take_output();
  Handshake again(key_, hosts_);
  ASSERT_TRUE(again.take(hello));
  EXPECT_NE(again.take_output(), answer);
  EXPECT_FALSE(again.take(proof));
  Handshake next(key_, 7U);
  EXPECT_FALSE(next.take(answer));
}

/// It has no key, and changes what it passes on: each byte in turn.
TEST_F(HandshakeTest, AManInTheMiddleCanPassOnButNotChange) {
  for (std::size_t i = 0; i < Handshake::kHello; ++i) {
    Handshake mpiexec(key_, hosts_), proxy(key_, 7U);
    std::string hello = proxy.take_output();
    hello[i] = static_cast<char>(hello[i] ^ 1);
    EXPECT_FALSE(mpiexec.take(hello) && proxy.take(mpiexec.take_output())) << i;
  }
  for (std::size_t i = 0; i < Handshake::kAnswer; ++i) {
    Handshake mpiexec(key_, hosts_), proxy(key_, 7U);
    ASSERT_TRUE(mpiexec.take(proxy.take_output()));
    std::string answer = mpiexec.take_output();
    answer[i] = static_cast<char>(answer[i] ^ 1);
    EXPECT_FALSE(proxy.take(answer)) << i;
  }
  for (std::size_t i = 0; i < Handshake::kProof; ++i) {
    Handshake mpiexec(key_, hosts_), proxy(key_, 7U);
    ASSERT_TRUE(mpiexec.take(proxy.take_output()));
    ASSERT_TRUE(proxy.take(mpiexec.take_output()));
    std::string proof = proxy.take_output();
    proof[i] = static_cast<char>(proof[i] ^ 1);
    EXPECT_FALSE(mpiexec.take(proof)) << i;
  }
  for (std::size_t i = 0; i < Handshake::kWelcome; ++i) {
    Handshake mpiexec(key_, hosts_), proxy(key_, 7U);
    ASSERT_TRUE(mpiexec.take(proxy.take_output()));
    ASSERT_TRUE(proxy.take(mpiexec.take_output()));
    ASSERT_TRUE(mpiexec.take(proxy.take_output()));
    std::string welcome = mpiexec.take_output();
    welcome[i] = static_cast<char>(welcome[i] ^ 1);
    EXPECT_FALSE(proxy.take(welcome)) << i;
    EXPECT_FALSE(proxy.is_done());
  }
}

/// It takes one host's proxy for another's: it has connected to both.
TEST_F(HandshakeTest, ProofsOfTwoHostsCannotBeExchanged) {
  Handshake other_proxy(key_, 8U), other_mpiexec(key_, hosts_);
  ASSERT_TRUE(mpiexec_.take(proxy_.take_output()));
  ASSERT_TRUE(other_mpiexec.take(other_proxy.take_output()));
  const std::string answer = mpiexec_.take_output(), other_answer = other_mpiexec.take_output();
  ASSERT_TRUE(proxy_.take(answer));
  EXPECT_FALSE(other_proxy.take(answer));
  EXPECT_FALSE(other_mpiexec.take(proxy_.take_output()));
}

TEST_F(HandshakeTest, ReadsNoMoreAndNoLessThanItWants) {
  const std::string hello = proxy_.take_output();
  EXPECT_FALSE(Handshake(key_, hosts_).take(hello.substr(1)));
  EXPECT_FALSE(Handshake(key_, hosts_).take(hello + "x"));
  EXPECT_FALSE(Handshake(key_, hosts_).take(""));
  EXPECT_FALSE(Handshake(key_, hosts_).take(Handshake(key_, 9U).take_output())) << "no host of this job";
  EXPECT_FALSE(Handshake(key_, hosts_).take("GET / HTTP/1.1\r\nHost: 10.77.0.1:40123 and more\r\n"));
  ASSERT_TRUE(mpiexec_.take(hello));
  EXPECT_FALSE(mpiexec_.take(hello));
  EXPECT_EQ(mpiexec_.wanted(), 0U);
}

TEST_F(HandshakeTest, EachConnectionHasItsOwnKeys) {
  const auto sealed = [&] {
    Handshake mpiexec(key_, hosts_), proxy(key_, 7U);
    EXPECT_TRUE(mpiexec.take(proxy.take_output()));
    EXPECT_TRUE(proxy.take(mpiexec.take_output()));
    return proxy.seal().seal("the same");
  };
  EXPECT_NE(sealed(), sealed());
}

TEST(KeyTest, IsText) {
  const Key key = Key::draw();
  EXPECT_EQ(key.text().size(), 64U);
  EXPECT_EQ(key.text().find_first_not_of("0123456789abcdef"), std::string::npos);
  EXPECT_NE(key.text(), Key::draw().text());
  ASSERT_TRUE(Key::from_text(" " + key.text() + "\r\n"));
  EXPECT_EQ(Key::from_text(" " + key.text() + "\r\n")->text(), key.text());
  for (const std::string& text :
       {std::string(), std::string("  "), key.text().substr(1), key.text() + "0", "x" + key.text().substr(1),
        key.text().substr(0, 32) + " " + key.text().substr(32)})
    EXPECT_FALSE(Key::from_text(text)) << text;
}

}  // namespace
}  // namespace clump::mpiexec
