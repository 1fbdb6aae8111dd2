#include "host/own_preloads.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "host/start_variables.h"

namespace clump::host {
namespace {

const OwnPreloads& sample_preloads() {
  static const auto& own = *new OwnPreloads(
      "/clump", libraries_of("/clump/libmpi.so.12:/clump/libclump_malloc.so:/usr/lib/libasan.so"));
  return own;
}
constexpr const char* kHost = "/clump/libclump_host.so";
constexpr const char* kMpi = "/clump/libmpi_abi.so.1";

TEST(OwnPreloads, AreThoseOfTheFolderAndThoseThatWereAdded) {
  EXPECT_EQ(sample_preloads().host, kHost);
  EXPECT_EQ(sample_preloads().mpi, kMpi);
  for (const std::string_view own : {kHost, kMpi, "/clump/libmpi.so.12", "/usr/lib/libasan.so"})
    EXPECT_TRUE(sample_preloads().has(own)) << own;
  for (const std::string_view other : {"", "libclump_host.so", "/other/libclump_host.so", "/clump/libmpi.so"})
    EXPECT_FALSE(sample_preloads().has(other)) << other;
}

TEST(OwnPreloads, StayInTheirPlacesAroundTheTwo) {
  const std::string list = std::string("/usr/lib/libasan.so:/mine.so:/clump/libmpi.so.12:") + kHost + ":" +
                           kMpi + ":/clump/libclump_malloc.so:/mine_too.so";
  const OwnPreloads::Around around = sample_preloads().around(libraries_of(list.c_str()));
  EXPECT_EQ(around.front, "/usr/lib/libasan.so:/clump/libmpi.so.12:");
  EXPECT_EQ(around.back, ":/clump/libclump_malloc.so");
  const OwnPreloads::Around alone = sample_preloads().around(libraries_of(kHost));
  EXPECT_EQ(alone.front + alone.back, "");
}

TEST(OwnPreloads, LeaveWhatTheProgramHad) {
  const std::string list = std::string("/a.so ") + kHost + ":" + kMpi + ":/clump/libclump_malloc.so:b.so";
  EXPECT_EQ(sample_preloads().without(libraries_of(list.c_str())), "/a.so:b.so");
  EXPECT_EQ(sample_preloads().without(libraries_of(kHost)), "");
  EXPECT_EQ(sample_preloads().without({}), "");
}

}  // namespace
}  // namespace clump::host
