#include "rma/messages.h"

#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <string>

namespace clump::rma {
namespace {

using Asks = Header::Kind;

Header asking(Asks kind) {
  Header made{.kind = kind,
              .has_data = true,
              .op = static_cast<std::int32_t>(datatype::PredefinedOp::kSum),
              .count = 2,
              .type = datatype::predefined(MPI_INT)->handle_value(),
              .element = datatype::predefined(MPI_INT)->handle_value(),
              .data_bytes = 8};
  if (kind == Asks::kCompareAndSwap) made.count = 1;
  return made;
}

std::string wrong(const Header& header, Count behind = 8) {
  const char* const what = wrong_with(header, static_cast<Count>(sizeof header) + behind);
  return what != nullptr ? what : "";
}

TEST(Header, RightOnesPass) {
  for (const Asks kind : {Asks::kPut, Asks::kCombine, Asks::kCompareAndSwap})
    EXPECT_EQ(wrong(asking(kind)), "");
  Header get = asking(Asks::kGet);
  get.has_data = false, get.data_bytes = 0;
  EXPECT_EQ(wrong(get, 0), "");
  for (const Asks kind : {Asks::kLock, Asks::kTryLock, Asks::kUnlock, Asks::kStop})
    EXPECT_EQ(wrong({.kind = kind}, 0), "");
}

TEST(Header, EachFieldIsLookedAt) {
  const auto changed = [](Asks kind, const std::function<void(Header&)>& change) {
    Header other = asking(kind);
    change(other);
    return wrong(other);
  };
  EXPECT_EQ(wrong(asking(Asks::kPut), -1), "its length");
  EXPECT_EQ(wrong(asking(Asks::kPut), 7), "the length of its data");
  EXPECT_EQ(changed(Asks::kPut, [](Header& one) { one.kind = static_cast<Asks>(99); }), "its kind");
  EXPECT_EQ(changed(Asks::kPut, [](Header& one) { one.lock = static_cast<LockType>(2); }),
            "its kind of lock");
  EXPECT_EQ(changed(Asks::kPut, [](Header& one) { one.number = -1; }), "its number");
  EXPECT_EQ(changed(Asks::kPut, [](Header& one) { one.count = -1; }), "its count");
  EXPECT_EQ(changed(Asks::kPut, [](Header& one) { one.data_bytes = -1; }), "the length of its data");
  for (const Count bytes : {Count{-8}, Count{12}, Count{16}, std::numeric_limits<Count>::max() - 7})
    EXPECT_EQ(changed(Asks::kPut, [&](Header& one) { one.has_type = true, one.type_bytes = bytes; }),
              "the length of its datatype")
        << bytes;
  EXPECT_EQ(changed(Asks::kPut, [](Header& one) { one.type = 0x7777; }), "its datatype");
  EXPECT_EQ(changed(Asks::kGet, [](Header& one) { one.type = 0; }), "its datatype");
  EXPECT_EQ(changed(Asks::kCombine, [](Header& one) { one.element = 0x7777; }), "its operation");
  EXPECT_EQ(changed(Asks::kCombine, [](Header& one) { one.op = 1; }), "its operation");
  EXPECT_EQ(changed(Asks::kCompareAndSwap, [](Header& one) { one.count = 2; }), "its operation");
}

}  // namespace
}  // namespace clump::rma
