#include "io/domain_buffers.h"

#include <gtest/gtest.h>

#include <utility>

namespace clump::io {
namespace {

TEST(DomainBuffers, DoesNotHandOutABufferOfAnotherSizeThatComesBackLate) {
  DomainBuffers buffers;
  DomainBuffers::Buffer small = buffers.take(4096);
  EXPECT_EQ(small.size, 4096);
  const DomainBuffers::Buffer large = buffers.take(1 << 20);
  EXPECT_EQ(large.size, 1 << 20);
  buffers.give_back(std::move(small));
  EXPECT_EQ(buffers.take(1 << 20).size, 1 << 20);
}

TEST(DomainBuffers, KeepsABufferForTheNextDomainOfItsSize) {
  DomainBuffers buffers;
  DomainBuffers::Buffer first = buffers.take(4096);
  const std::byte* const place = first.bytes.get();
  buffers.give_back(std::move(first));
  DomainBuffers::Buffer again = buffers.take(4096);
  EXPECT_EQ(again.bytes.get(), place);
  buffers.give_back(std::move(again));
  EXPECT_EQ(buffers.take(8192).size, 8192);
}

}  // namespace
}  // namespace clump::io
