#include "job/end_requests.h"

#include <gtest/gtest.h>

#include <csignal>

namespace clump::mpiexec {
namespace {

using Kind = EndRequests::Kind;
constexpr EndRequests::Clock::time_point kStart{std::chrono::hours(1)};

TEST(EndRequests, TimeoutSendsItsSignalTwice) {
  EndRequests requests;
  EXPECT_EQ(requests.take(SIGTERM, false, kStart), Kind::kFirst);
  EXPECT_EQ(requests.take(SIGTERM, false, kStart + std::chrono::milliseconds(1)), Kind::kSame);
  EXPECT_EQ(requests.take(SIGTERM, false, kStart + std::chrono::milliseconds(999)), Kind::kSame);
  EXPECT_EQ(requests.take(SIGTERM, false, kStart + EndRequests::kSameWithin), Kind::kAgain);
  EXPECT_EQ(requests.signal(), SIGTERM);
}

TEST(EndRequests, ATypedSignalIsOneEachTime) {
  EndRequests requests;
  EXPECT_EQ(requests.take(SIGINT, true, kStart), Kind::kFirst);
  EXPECT_EQ(requests.take(SIGINT, false, kStart), Kind::kSame);  // a wrapper has passed it on
  EXPECT_EQ(requests.take(SIGINT, true, kStart), Kind::kAgain);
}

TEST(EndRequests, AnotherSignalIsAnotherRequest) {
  EndRequests requests;
  EXPECT_EQ(requests.take(SIGHUP, false, kStart), Kind::kFirst);
  EXPECT_EQ(requests.take(SIGTERM, false, kStart), Kind::kAgain);
}

TEST(EndRequests, AClosedTerminalSendsItsSignalTwice) {
  EndRequests requests;
  EXPECT_EQ(requests.take(SIGHUP, false, kStart), Kind::kFirst);
  EXPECT_EQ(requests.take(SIGHUP, true, kStart + std::chrono::milliseconds(1)), Kind::kSame);
}

TEST(EndRequests, WhatIsForgottenIsNotTheFirst) {
  EndRequests requests;
  EXPECT_EQ(requests.take(SIGHUP, false, kStart), Kind::kFirst);
  requests.forget();
  EXPECT_EQ(requests.signal(), 0);
  EXPECT_EQ(requests.take(SIGTERM, false, kStart), Kind::kFirst);
}

}  // namespace
}  // namespace clump::mpiexec
