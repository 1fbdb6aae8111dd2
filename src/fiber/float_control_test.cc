#include "fiber/float_control.h"

#include <gtest/gtest.h>

#include <cfenv>
#include <csetjmp>
#include <csignal>
#include <limits>

namespace clump::fiber {
namespace {

// Where the compiler cannot compute.
template <typename Number>
Number divide(Number one, Number other) {
  const volatile Number left = one, right = other;
  const volatile Number result = left / right;
  return result;
}

FloatControl control_with(int rounding) {
  std::fesetround(rounding);
  const FloatControl control = FloatControl::here();
  std::fesetround(FE_TONEAREST);
  return control;
}

class FloatControlTest : public testing::Test {
 protected:
  void SetUp() override { std::feclearexcept(FE_ALL_EXCEPT); }
  void TearDown() override {
    std::fesetenv(FE_DFL_ENV);
    std::feclearexcept(FE_ALL_EXCEPT);
  }
};

TEST_F(FloatControlTest, ComputesAsAnother) {
  EXPECT_EQ(FloatControl().bits(), FloatControl::here().bits()) << "as a process begins";
  const FloatControl upward = control_with(FE_UPWARD);
  const double third = divide(1.0, 3.0);
  const long double long_seventh = divide(1.0L, 7.0L);  // a third is the same in both modes
  {
    const ComputeAs other(upward);
    EXPECT_EQ(std::fegetround(), FE_UPWARD);
    EXPECT_GT(divide(1.0, 3.0), third);
    EXPECT_GT(divide(1.0L, 7.0L), long_seventh);
    const ComputeAs nobody(FloatControl::none());
    EXPECT_EQ(std::fegetround(), FE_UPWARD);
  }
  EXPECT_EQ(std::fegetround(), FE_TONEAREST);
  EXPECT_EQ(divide(1.0, 3.0), third);
}

// Of double and of long double, which are different units on x86-64; and whatever the thread has met before.
TEST_F(FloatControlTest, KeepsExceptionsApart) {
  for (const bool is_long : {false, true})
    for (const int before : {0, FE_INEXACT, FE_INVALID, FE_DIVBYZERO}) {
      std::feclearexcept(FE_ALL_EXCEPT);
      if (before == FE_INEXACT) is_long ? divide(1.0L, 3.0L) : divide(1.0, 3.0);
      if (before == FE_INVALID) is_long ? divide(0.0L, 0.0L) : divide(0.0, 0.0);
      if (before == FE_DIVBYZERO) is_long ? divide(1.0L, 0.0L) : divide(1.0, 0.0);
      std::uint32_t met = 0;
      {
        const ComputeAs other(FloatControl::here());
        EXPECT_EQ(other.met(), 0u);
        is_long ? static_cast<double>(divide(1.0L, 0.0L)) : divide(1.0, 0.0);
        met = other.met();
      }
      EXPECT_EQ(std::fetestexcept(FE_ALL_EXCEPT), before);
      meet(met);
      EXPECT_EQ(std::fetestexcept(FE_ALL_EXCEPT), before | FE_DIVBYZERO);
      EXPECT_EQ(divide(1.0L, 4.0L), 0.25L);
    }
}

#if defined(__x86_64__)

TEST_F(FloatControlTest, FlushesDenormalsAsAnother) {
  constexpr std::uint32_t kFlushes = 0x8040;  // flush to zero, denormals are zeros
  const std::uint32_t own = detail::read_mxcsr();
  detail::write_mxcsr(own | kFlushes);
  const FloatControl flushing = FloatControl::here();
  detail::write_mxcsr(own);
  {
    const ComputeAs other(flushing);
    EXPECT_EQ(divide(1e-310, 2.0), 0);
    const ComputeAs usual{FloatControl()};
    EXPECT_GT(divide(1e-310, 2.0), 0);
  }
  EXPECT_EQ(detail::read_mxcsr() & kFlushes, 0u);
}

sigjmp_buf after_trap;

// Another one computes without traps; the thread that has asked for them gets its own.
TEST_F(FloatControlTest, LeavesTrapsToTheOwner) {
  ASSERT_NE(::feenableexcept(FE_OVERFLOW), -1);
  std::uint32_t met = 0;
  {
    const ComputeAs other(FloatControl::here());
    const volatile double most = std::numeric_limits<double>::max();
    const volatile double result = most * most;
    static_cast<void>(result);
    met = other.met();
  }
  EXPECT_EQ(::fegetexcept(), FE_OVERFLOW);
  struct sigaction action {
  }, former{};
  action.sa_handler = [](int) { siglongjmp(after_trap, 1); };
  ASSERT_EQ(::sigaction(SIGFPE, &action, &former), 0);
  volatile bool trapped = false;
  if (sigsetjmp(after_trap, 1) == 0)
    meet(met);
  else
    trapped = true;
  ::sigaction(SIGFPE, &former, nullptr);
  ::fedisableexcept(FE_ALL_EXCEPT);
  EXPECT_TRUE(trapped);
}

#endif

}  // namespace
}  // namespace clump::fiber
