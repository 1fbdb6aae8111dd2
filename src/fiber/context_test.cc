// Switching between threads of control: what must follow the thread of control, and what must not be lost.
#include "fiber/context.h"

#include "fiber/float_flags.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cfenv>
#include <csignal>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <stdexcept>
#include <thread>

#if defined(__x86_64__)
#include <immintrin.h>
constexpr std::size_t kRegisters = 6;
#elif defined(__aarch64__)
constexpr std::size_t kRegisters = 19;
#endif

namespace clump::fiber {
namespace {

using Registers = std::array<unsigned long, kRegisters>;
extern "C" Context* clump_test_switch(Context* from, Context* to, const Registers* in, Registers* out);

thread_local int mine = 0;

Registers pattern(unsigned long first) {
  Registers all;
  std::iota(all.begin(), all.end(), first << 32);
  return all;
}

pid_t kernel_thread() { return static_cast<pid_t>(::syscall(SYS_gettid)); }

/// A thread of control without a kernel thread: it has left its own, and runs `body` when it is resumed, with
/// the Context of whoever did that.
class Parked {
 public:
  explicit Parked(std::function<void(Parked&, Context*)> body) : body_(std::move(body)) {
    pthread_create(&thread_, nullptr, &run, this);
    while (in_use_.load(std::memory_order_acquire) != 0)
      sched_yield();  // acquire: see clump_leave_kernel_thread
  }

  Context context;
  bool over = false;
  pthread_t thread() const { return thread_; }

 private:
  static void* run(void* argument) {
    Parked& self = *static_cast<Parked*>(argument);
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, nullptr);
    self.context.thread_pointer = __builtin_thread_pointer();
    Context* resumer = clump_leave_kernel_thread(&self.context, &self.in_use_);
    self.body_(self, resumer);
    self.over = true;
    clump_switch_context(&self.context, resumer);
    std::abort();
  }

  std::function<void(Parked&, Context*)> body_;
  std::atomic<int> in_use_{1};
  pthread_t thread_{};
};

/// The calling thread, as a thread of control that others can resume.
Context here() { return {nullptr, __builtin_thread_pointer()}; }

/// With the instruction for the thread pointer, where there is one, and with the system call.
class Switching : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    prepare_contexts();
    supported_ = clump_has_fsgsbase;
    if (GetParam() && supported_ == 0) GTEST_SKIP() << "user code may not write the thread pointer here";
    clump_has_fsgsbase = GetParam() ? 1 : 0;
  }
  void TearDown() override { clump_has_fsgsbase = supported_; }

 private:
  char supported_ = 0;
};

TEST_P(Switching, KeepsRegisters) {
  Context main = here();
  Registers theirs{};
  Parked other([&](Parked& self, Context* resumer) {
    const Registers in = pattern(2);
    clump_test_switch(&self.context, resumer, &in, &theirs);
  });
  const Registers in = pattern(1);
  Registers mine_now{};
  EXPECT_EQ(clump_test_switch(&main, &other.context, &in, &mine_now), &other.context);
  EXPECT_EQ(mine_now, in);
  EXPECT_EQ(clump_test_switch(&main, &other.context, &in, &mine_now), &other.context);
  EXPECT_EQ(mine_now, in);
  EXPECT_EQ(theirs, pattern(2));
  EXPECT_TRUE(other.over);
}

TEST_P(Switching, ThreadLocalStorageFollows) {
  Context main = here();
  mine = 1;
  errno = EDOM;
  pid_t runner = 0;
  Parked other([&](Parked& self, Context* resumer) {
    EXPECT_EQ(mine, 0);
    EXPECT_TRUE(pthread_equal(pthread_self(), self.thread()));
    mine = 2;
    errno = ERANGE;
    EXPECT_EQ(clump_switch_context(&self.context, resumer), resumer);
    EXPECT_EQ(mine, 2);
    EXPECT_EQ(errno, ERANGE);
    runner = kernel_thread();
  });
  for (int round = 0; round < 2; ++round) {
    clump_switch_context(&main, &other.context);
    EXPECT_EQ(mine, 1);
    EXPECT_EQ(errno, EDOM);
  }
  EXPECT_EQ(runner, kernel_thread());
}

TEST_P(Switching, AnotherKernelThreadGoesOn) {
  Context main = here();
  const pid_t first = kernel_thread();
  pid_t second = 0;
  Parked other([&](Parked& self, Context* resumer) {
    EXPECT_EQ(kernel_thread(), first);
    mine = 7;
    Context* next = clump_switch_context(&self.context, resumer);
    EXPECT_NE(next, resumer);
    EXPECT_EQ(mine, 7);
    EXPECT_TRUE(pthread_equal(pthread_self(), self.thread()));
    second = kernel_thread();
    clump_switch_context(&self.context, next);
  });
  clump_switch_context(&main, &other.context);
  pid_t worker_thread = 0;
  std::thread([&] {
    Context place = here();
    worker_thread = kernel_thread();
    clump_switch_context(&place, &other.context);
    EXPECT_EQ(mine, 0);
  }).join();
  EXPECT_EQ(second, worker_thread);
  EXPECT_NE(second, first);
}

TEST_P(Switching, RoundingFollows) {
  Context main = here();
  volatile double one = 1;
  volatile double three = 3;
  const double nearest = one / three;
  double upward = 0;
  Parked other([&](Parked& self, Context* resumer) {
    EXPECT_EQ(std::fegetround(), FE_TONEAREST);
    std::fesetround(FE_UPWARD);
    clump_switch_context(&self.context, resumer);
    EXPECT_EQ(std::fegetround(), FE_UPWARD);
    upward = one / three;
#if defined(__x86_64__)
    EXPECT_EQ(_MM_GET_ROUNDING_MODE(), static_cast<unsigned>(_MM_ROUND_UP));
    EXPECT_EQ(_MM_GET_FLUSH_ZERO_MODE(), static_cast<unsigned>(_MM_FLUSH_ZERO_OFF));
#endif
  });
  clump_switch_context(&main, &other.context);
  EXPECT_EQ(std::fegetround(), FE_TONEAREST);
  EXPECT_EQ(one / three, nearest);
#if defined(__x86_64__)
  _MM_SET_FLUSH_ZERO_MODE(_MM_FLUSH_ZERO_ON);
  unsigned short x87 = 0;
  asm volatile("fnstcw %0" : "=m"(x87));
#endif
  clump_switch_context(&main, &other.context);
  EXPECT_EQ(std::fegetround(), FE_TONEAREST);
  EXPECT_GT(upward, nearest);
#if defined(__x86_64__)
  EXPECT_EQ(_MM_GET_FLUSH_ZERO_MODE(), static_cast<unsigned>(_MM_FLUSH_ZERO_ON));
  _MM_SET_FLUSH_ZERO_MODE(_MM_FLUSH_ZERO_OFF);
  unsigned short x87_after = 0;
  asm volatile("fnstcw %0" : "=m"(x87_after));
  EXPECT_EQ(x87_after, x87);
#endif
}

#if defined(__x86_64__)
unsigned short x87_flags() {
  unsigned short status = 0;
  asm volatile("fnstsw %0" : "=m"(status));
  return status & 0x3f;
}

TEST_P(Switching, X87FlagsStayInTheirThreadOfControl) {
  keep_float_flags();
  constexpr unsigned short kDividedByZero = 4;
  Context main = here();
  volatile long double zero = 0;
  std::feclearexcept(FE_ALL_EXCEPT);
  Parked other([&](Parked& self, Context* resumer) {
    EXPECT_EQ(x87_flags(), 0);
    volatile long double infinite = 1 / zero;
    static_cast<void>(infinite);
    for (int round = 0; round < 2; ++round) {
      EXPECT_EQ(x87_flags(), kDividedByZero);
      clump_switch_context(&self.context, resumer);
    }
    EXPECT_EQ(x87_flags(), kDividedByZero);
    std::feclearexcept(FE_ALL_EXCEPT);
  });
  for (int round = 0; round < 2; ++round) {
    clump_switch_context(&main, &other.context);
    EXPECT_EQ(x87_flags(), 0);
  }
  volatile long double three = 3;
  EXPECT_EQ(static_cast<double>(three * three), 9);
  clump_switch_context(&main, &other.context);
  EXPECT_EQ(x87_flags(), 0);
  clump_keeps_float_flags = 0;
}
#endif

/// The exception flags that a switch keeps if it keeps any, and where the x87 stack begins.
unsigned long kept_flags() {
#if defined(__x86_64__)
  unsigned short status = 0;
  asm volatile("fnstsw %0" : "=m"(status));
  return status & 0x387fU;
#elif defined(__aarch64__)
  unsigned long status = 0;
  asm volatile("mrs %0, fpsr" : "=r"(status));
  return status;
#endif
}

/// Leaves ones in the stack below the caller, as a deeper call with negative numbers does.
[[gnu::noinline]] void fill_stack_below() {
  volatile unsigned char bytes[4096];
  for (volatile unsigned char& byte : bytes) byte = 0xff;
}

// A program that asks for flags may be loaded while others are suspended.
TEST_P(Switching, WhatWasSuspendedBeforeFlagsAreKeptGoesOnWithNone) {
  clump_keeps_float_flags = 0;
  Context main = here();
  unsigned long theirs = ~0UL;
  Parked other([&](Parked& self, Context* resumer) {
    fill_stack_below();
    clump_switch_context(&self.context, resumer);
    theirs = kept_flags();
  });
  std::feclearexcept(FE_ALL_EXCEPT);
  clump_switch_context(&main, &other.context);
  keep_float_flags();
  clump_switch_context(&main, &other.context);
  clump_keeps_float_flags = 0;
  EXPECT_EQ(theirs, 0);
  EXPECT_EQ(kept_flags(), 0);
}

TEST_P(Switching, ExceptionsStayInTheirThreadOfControl) {
  Context main = here();
  int caught = 0;
  Parked other([&](Parked& self, Context* resumer) {
    try {
      clump_switch_context(&self.context, resumer);
      throw std::runtime_error("theirs");
    } catch (const std::runtime_error&) {
      clump_switch_context(&self.context, resumer);  // with an exception in flight
      ++caught;
    }
  });
  clump_switch_context(&main, &other.context);
  try {
    throw std::logic_error("ours");
  } catch (const std::logic_error&) {
    clump_switch_context(&main, &other.context);
    EXPECT_NE(std::current_exception(), nullptr);
    ++caught;
  }
  EXPECT_EQ(std::current_exception(), nullptr);
  clump_switch_context(&main, &other.context);
  EXPECT_EQ(caught, 2);
}

TEST_P(Switching, ManyInATurn) {
  constexpr int kParked = 16;
  constexpr int kRounds = 1000;
  Context main = here();
  std::array<int, kParked> runs{};
  std::vector<std::unique_ptr<Parked>> all;
  for (int i = 0; i < kParked; ++i) {
    all.push_back(std::make_unique<Parked>([&runs, i](Parked& self, Context* resumer) {
      for (mine = 0; mine < kRounds; ++mine) {
        ++runs[static_cast<std::size_t>(i)];
        clump_switch_context(&self.context, resumer);
      }
    }));
  }
  for (int round = 0; round < kRounds; ++round)
    for (const auto& parked : all) clump_switch_context(&main, &parked->context);
  for (const int count : runs) EXPECT_EQ(count, kRounds);
}

#if defined(__x86_64__)
INSTANTIATE_TEST_SUITE_P(Context, Switching, testing::Bool(),
                         [](const auto& info) { return info.param ? "ByInstruction" : "BySystemCall"; });
#else
INSTANTIATE_TEST_SUITE_P(Context, Switching, testing::Values(true));
#endif

}  // namespace
}  // namespace clump::fiber
