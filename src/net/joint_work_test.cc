#include "net/joint_work.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <numeric>
#include <random>
#include <thread>
#include <vector>

#include "datatype/derive.h"
#include "fiber/help.h"
#include "seed.h"

namespace clump::net {
namespace {

using datatype::Layout;

std::mt19937 random_numbers(static_cast<unsigned>(test_seed(7)));

Count number(Count low, Count high) {
  return std::uniform_int_distribution<Count>(low, high)(random_numbers);
}

// All of one signature (bytes), so that each can be copied to each other.
datatype::Ref random_type() {
  const datatype::Datatype& byte = *datatype::predefined(MPI_BYTE);
  datatype::Made made;
  base::Status status;
  switch (number(0, 4)) {
    case 0:
      return datatype::Ref(&byte);
    case 1:
      status = make_contiguous(number(1, 5000), byte, made);
      break;
    case 2: {
      const Count length = number(1, 300);
      status = make_vector({number(1, 50), length, length + number(0, 40)}, byte, made);
      break;
    }
    case 3: {
      std::vector<Count> lengths, places;
      for (Count i = number(1, 20), at = number(0, 9); i > 0; --i) {
        lengths.push_back(number(1, 70));
        places.push_back(at);
        at += lengths.back() + number(0, 30);
      }
      status = make_indexed(lengths, places, byte, made);
      break;
    }
    default: {
      datatype::Made row;
      status = make_vector({number(1, 9), 3, 5}, byte, row);
      EXPECT_TRUE(status.ok());
      status = make_hvector({number(1, 30), 1, row.type->extent() + number(0, 20)}, *row.type, made);
    }
  }
  EXPECT_TRUE(status.ok());
  return std::move(made.type);
}

struct Buffer {
  datatype::Ref type;
  std::vector<unsigned char> memory;
  Layout layout;

  Buffer(Count bytes, unsigned char fill) : type(random_type()) {
    const Count count = (bytes + type->size() - 1) / type->size();
    const Count skew = number(0, 100);
    memory.assign(
        static_cast<std::size_t>(skew + type->true_lb() + count * type->extent() + type->true_extent()),
        fill);
    layout = {memory.data() + skew, count, type.get()};
  }
};

class JointWorkTest : public ::testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    if (GetParam()) {
      helper_ = std::thread([this] {
        while (!over_.load(std::memory_order_relaxed))
          if (!fiber::help()) std::this_thread::yield();
      });
    }
  }
  void TearDown() override {
    over_.store(true, std::memory_order_relaxed);
    if (helper_.joinable()) helper_.join();
  }

 private:
  std::atomic<bool> over_{false};
  std::thread helper_;
};

TEST_P(JointWorkTest, CopiesAsThePlainCopy) {
  for (int round = 0; round < 300; ++round) {
    const Count bytes = number(0, 1) == 0 ? number(0, 60'000) : number(60'000, 2'000'000);
    Buffer from(bytes, 0);
    std::iota(from.memory.begin(), from.memory.end(), static_cast<unsigned char>(round));
    Buffer to(bytes, 0xee);
    std::vector<unsigned char> expected = to.memory;
    const Layout plain{expected.data() + (static_cast<unsigned char*>(to.layout.base) - to.memory.data()),
                       to.layout.count, to.layout.type};
    const Count offset = number(0, 1) == 0 ? 0 : number(0, bytes);
    datatype::copy(plain, from.layout, offset, bytes - offset);
    joint_copy(to.layout, from.layout, offset, bytes - offset);
    ASSERT_TRUE(to.memory == expected) << bytes << " bytes but for the first " << offset << " from "
                                       << from.type->description() << " to " << to.type->description();
  }
}

TEST_P(JointWorkTest, CopiesMoreThanCachesHold) {
  const Count bytes = (Count{48} << 20) + 77;
  std::vector<unsigned char> from(static_cast<std::size_t>(bytes + 5)), to(from.size() + 64, 0xee);
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<unsigned char>(i * 37 >> 5);
  const datatype::Datatype* const byte = datatype::predefined(MPI_BYTE);
  joint_copy({to.data() + 3, bytes, byte}, {from.data() + 5, bytes, byte}, 0, bytes);
  EXPECT_TRUE(std::equal(from.begin() + 5, from.end(), to.begin() + 3));
  EXPECT_TRUE(std::all_of(to.begin(), to.begin() + 3, [](unsigned char left) { return left == 0xee; }));
  EXPECT_TRUE(std::all_of(to.begin() + 3 + bytes, to.end(), [](unsigned char left) { return left == 0xee; }));
}

// As two ranks do that call the same constructors.
TEST_P(JointWorkTest, TypesMadeTwice) {
  for (int round = 0; round < 200; ++round) {
    const Count bytes = number(1, 300'000);
    const std::mt19937 before = random_numbers;
    Buffer from(bytes, 0);
    random_numbers = before;
    Buffer to(bytes, 0xee);
    for (auto& byte : from.memory) byte = static_cast<unsigned char>(number(0, 255));
    joint_copy(to.layout, from.layout, 0, bytes);
    std::vector<std::byte> sent(static_cast<std::size_t>(bytes)), received(sent.size());
    datatype::pack(sent, from.layout, 0);
    datatype::pack(received, to.layout, 0);
    ASSERT_TRUE(sent == received) << bytes << " bytes of " << from.type->description();
    const auto touched = static_cast<Count>(
        std::count_if(to.memory.begin(), to.memory.end(), [](unsigned char byte) { return byte != 0xee; }));
    ASSERT_LE(touched, bytes);
  }
}

TEST_P(JointWorkTest, LargerThanTheCaches) {
  constexpr Count kBytes = (40 << 20) + 13;
  std::vector<unsigned> numbers(kBytes / sizeof(unsigned) + 2);
  std::iota(numbers.begin(), numbers.end(), 0u);
  auto* bytes = reinterpret_cast<unsigned char*>(numbers.data());
  const datatype::Datatype* type = datatype::predefined(MPI_BYTE);
  for (const Count skew : {0, 1, 5}) {
    std::vector<unsigned char> out(kBytes + 64, 0xee);
    joint_copy({out.data() + 7, kBytes, type}, {bytes + skew, kBytes - skew, type}, 0, kBytes - skew);
    EXPECT_TRUE(std::equal(bytes + skew, bytes + kBytes, out.begin() + 7));
    EXPECT_EQ(std::count(out.begin(), out.begin() + 7, 0xee), 7);
    EXPECT_EQ(std::count(out.begin() + 7 + kBytes - skew, out.end(), 0xee), 64 - 7 + skew);
  }
}

TEST_P(JointWorkTest, PacksAndUnpacks) {
  for (int round = 0; round < 100; ++round) {
    const Count bytes = number(1, 1'000'000), offset = number(0, bytes);
    Buffer buffer(bytes, 0);
    for (auto& byte : buffer.memory) byte = static_cast<unsigned char>(number(0, 255));
    std::vector<std::byte> expected(static_cast<std::size_t>(bytes - offset)), packed(expected.size());
    datatype::pack(expected, buffer.layout, offset);
    joint_pack(packed, buffer.layout, offset);
    ASSERT_TRUE(packed == expected) << bytes << " bytes of " << buffer.type->description();
    const std::vector<unsigned char> before = buffer.memory;
    for (auto& byte : packed) byte = ~byte;
    joint_unpack(buffer.layout, offset, packed);
    datatype::pack(expected, buffer.layout, offset);
    ASSERT_TRUE(packed == expected);
    for (auto& byte : packed) byte = ~byte;
    joint_unpack(buffer.layout, offset, packed);
    ASSERT_TRUE(buffer.memory == before) << "something else was written as well";
  }
}

TEST_P(JointWorkTest, CombinesEachElementOnce) {
  const datatype::Datatype& type = *datatype::predefined(MPI_INT32_T);
  const datatype::Kernel sum = datatype::kernel(datatype::PredefinedOp::kSum, type);
  for (const Count count : {0, 1, 2047, 2048, 2049, 1'000'003}) {
    std::vector<int> in(static_cast<std::size_t>(count)), inout(in.size());
    std::iota(in.begin(), in.end(), 5);
    std::iota(inout.begin(), inout.end(), 7);
    joint_combine(sum, in.data(), inout.data(), count, type);
    for (std::size_t i = 0; i < in.size(); ++i) ASSERT_EQ(inout[i], 12 + 2 * static_cast<int>(i));
  }
}

INSTANTIATE_TEST_SUITE_P(WithHelper, JointWorkTest, ::testing::Bool());

}  // namespace
}  // namespace clump::net
