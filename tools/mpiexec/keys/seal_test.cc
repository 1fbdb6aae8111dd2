#include "keys/seal.h"

#include <gtest/gtest.h>

#include <string>

namespace clump::mpiexec {
namespace {

/// Two sides of one connection.
class SealTest : public testing::Test {
 protected:
  static Seal::DirectionKey key(unsigned char byte) {
    Seal::DirectionKey key;
    key.fill(byte);
    return key;
  }
  bool opens(std::string records) { return receiver_.open(records, bytes_); }

  Seal sender_{key(1), key(2)}, receiver_{key(2), key(1)};
  std::string bytes_;
};

TEST_F(SealTest, OpensWhatComesInAnyPieces) {
  std::string records = sender_.seal("first ");
  records += sender_.seal("");
  records += sender_.seal("second");
  EXPECT_EQ(records.find("first"), std::string::npos);
  std::string came;
  for (const char byte : records) {
    came.push_back(byte);
    ASSERT_TRUE(receiver_.open(came, bytes_));
  }
  EXPECT_EQ(bytes_, "first second");
  EXPECT_EQ(came, "");
}

TEST_F(SealTest, CutsLongBytesIntoRecords) {
  const std::string much(3 * Seal::kMost + 5, 'x');
  EXPECT_EQ(sender_.seal(much).size(), much.size() + 4 * Seal::kAround);
  Seal sender(key(1), key(2));
  EXPECT_TRUE(opens(sender.seal(much)));
  EXPECT_EQ(bytes_, much);
}

TEST_F(SealTest, RefusesARecordThatWasChanged) {
  const std::string record = sender_.seal("end the job");
  for (std::size_t i = 0; i < record.size(); ++i) {
    std::string changed = record;
    changed[i] = static_cast<char>(changed[i] ^ 1);
    Seal receiver(key(2), key(1));
    std::string bytes;
    const bool is_good = receiver.open(changed, bytes);
    EXPECT_EQ(bytes, "") << i;
    // Of a longer length more is waited for, which can never fit.
    if (is_good) {
      changed.append(Seal::kMost, 'x');
      EXPECT_FALSE(receiver.open(changed, bytes)) << i;
    }
  }
}

TEST_F(SealTest, RefusesARecordThatComesAgain) {
  const std::string record = sender_.seal("once");
  EXPECT_TRUE(opens(record));
  EXPECT_FALSE(opens(record));
  EXPECT_EQ(bytes_, "once");
}

TEST_F(SealTest, RefusesRecordsInAnotherOrder) {
  const std::string first = sender_.seal("first"), second = sender_.seal("second");
  EXPECT_FALSE(opens(second + first));
  EXPECT_EQ(bytes_, "");
}

TEST_F(SealTest, RefusesItsOwnRecords) {
  EXPECT_FALSE(opens(receiver_.seal("back to its sender")));
  EXPECT_EQ(bytes_, "");
}

TEST_F(SealTest, RefusesALengthThatNoRecordHas) {
  for (const std::size_t length : {std::size_t{0}, Seal::kMost + 1, std::size_t{0xffffffff}}) {
    std::string header(4, '\0');
    for (std::size_t i = 0; i < 4; ++i) header[i] = static_cast<char>(length >> 8 * i & 0xff);
    Seal receiver(key(2), key(1));
    EXPECT_FALSE(receiver.open(header, bytes_)) << length;
  }
}

}  // namespace
}  // namespace clump::mpiexec
