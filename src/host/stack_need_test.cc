#include "host/stack_need.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "host/stack_plan.h"

namespace clump::host {
namespace {

constexpr std::uintptr_t kTop = 0x7f00'0000'0000;
constexpr std::size_t kBytes = 8 * kMiB;

/// A stack of 8 MiB, with 64 MiB below it that nothing else has.
FoundStack stack_of(StackOwner owner) {
  return {.owner = owner,
          .guard = kTop - kBytes - 64 * kMiB,
          .bottom = kTop - kBytes,
          .top = kTop,
          .bytes = kBytes};
}

std::string words(const FoundStack& stack, std::size_t needed, rlim_t hard = RLIM_INFINITY,
                  std::size_t capacity = 320) {
  std::string text(capacity + 1, '#');
  const std::size_t length = describe_need(text.data(), capacity, stack, needed, hard);
  EXPECT_EQ(text[capacity], '#') << "written beyond the room";
  EXPECT_TRUE(length == 0 || text[length] == '\0');
  return text.substr(0, length);
}

TEST(StackNeed, AnAccessInTheStackIsNoOverflow) {
  const FoundStack stack = stack_of(StackOwner::kRank);
  EXPECT_EQ(stack_needed(stack, stack.bottom, stack.bottom, false), 0u);
  EXPECT_EQ(stack_needed(stack, kTop + 8, stack.bottom, false), 0u);
}

TEST(StackNeed, AnAccessBelowIsOneAsFarAsNothingElseIsMeant) {
  const FoundStack stack = stack_of(StackOwner::kRank);
  const std::uintptr_t far = stack.bottom + kMiB;  // the stack pointer, far from the end
  EXPECT_EQ(stack_needed(stack, stack.bottom - 1, far, false), kBytes + 1);
  EXPECT_EQ(stack_needed(stack, stack.guard, far, false), kBytes + 64 * kMiB);
  EXPECT_EQ(stack_needed(stack, stack.guard - 1, far, false), 0u) << "another thing may have been meant";
}

TEST(StackNeed, AnAccessNearTheStackPointerIsOne) {
  FoundStack stack = stack_of(StackOwner::kThread);
  stack.guard = stack.bottom;
  EXPECT_EQ(stack_needed(stack, stack.bottom - 8, stack.bottom + kMiB, false), 0u)
      << "the pointer is elsewhere";
  EXPECT_EQ(stack_needed(stack, stack.bottom - 8, stack.bottom, false), kBytes + 8);
  EXPECT_EQ(stack_needed(stack, stack.bottom - 8, stack.bottom + 64 * kKiB - 8, false), kBytes + 8);
  EXPECT_EQ(stack_needed(stack, stack.bottom - 8, stack.bottom + 64 * kKiB, false), 0u);
  EXPECT_EQ(stack_needed(stack, stack.bottom - 64 * kKiB, stack.bottom, false), kBytes + 64 * kKiB);
  EXPECT_EQ(stack_needed(stack, stack.bottom - 64 * kKiB - 1, stack.bottom, false), 0u);
}

TEST(StackNeed, AStackPointerThatHasLeftTheStackTellsHowFar) {
  FoundStack stack = stack_of(StackOwner::kThread);
  stack.guard = stack.bottom;
  const std::uintptr_t pointer = stack.bottom - 3 * kMiB;
  EXPECT_EQ(stack_needed(stack, pointer + 16, pointer, true), kBytes + 3 * kMiB)
      << "all of the frame is needed";
  EXPECT_EQ(stack_needed(stack, pointer - 16, pointer, true), kBytes + 3 * kMiB + 16);
  EXPECT_EQ(stack_needed(stack, pointer - kMiB, pointer, true), 0u) << "far from the pointer";
  EXPECT_EQ(stack_needed(stack, pointer + 16, pointer, false), 0u) << "there is another stack";
}

TEST(StackNeed, ProposesTwiceAsMuchOrAQuarterMore) {
  const FoundStack stack = stack_of(StackOwner::kRank);
  EXPECT_EQ(words(stack, 0), "");
  EXPECT_EQ(words(stack, kBytes + 1),
            "stack overflow: its stack has 8192 KiB, and at least 8193 KiB are needed; raise it with (ulimit "
            "-s 16384; "
            "mpiexec ...)");
  EXPECT_EQ(words(stack, 100 * kMiB),
            "stack overflow: its stack has 8192 KiB, and at least 102400 KiB are needed; raise it with "
            "(ulimit -s 128000; "
            "mpiexec ...)");
  EXPECT_EQ(words(stack, 100 * kMiB + 4),
            "stack overflow: its stack has 8192 KiB, and at least 102401 KiB are needed; raise it with "
            "(ulimit -s 129024; "
            "mpiexec ...)")
      << "in whole MiB";
}

TEST(StackNeed, NamesTheHardLimitThatIsInTheWay) {
  const FoundStack stack = stack_of(StackOwner::kMainThread);
  EXPECT_EQ(words(stack, kBytes + 1, 16 * kMiB).find("hard limit"), std::string::npos);
  EXPECT_EQ(words(stack, kBytes + 1, 16 * kMiB - 1),
            "stack overflow: its stack has 8192 KiB, and at least 8193 KiB are needed; raise it with (ulimit "
            "-s 16384; "
            "mpiexec ...), and the hard limit of 16383 KiB (ulimit -Hs) before");
}

TEST(StackNeed, NamesWhatHelpsAThreadOfTheProgram) {
  EXPECT_EQ(words(stack_of(StackOwner::kThread), kBytes + 1, 0),
            "stack overflow: the stack of one of its threads has 8192 KiB, and at least 8193 KiB are needed; "
            "raise it with "
            "OMP_STACKSIZE=16M (OpenMP), pthread_attr_setstacksize(), or (ulimit -s 16384; mpiexec ...)");
}

TEST(StackNeed, ProposesMoreProcessesWhereNoLimitHoldsBack) {
  FoundStack stack = stack_of(StackOwner::kRank);
  stack.is_all_there_is = true;
  EXPECT_EQ(words(stack, kBytes + 1, kMiB),
            "stack overflow: its stack has 8192 KiB, and at least 8193 KiB are needed, and there is no room "
            "for more in a "
            "process of so many ranks; mpiexec --per-process K makes more processes");
}

TEST(StackNeed, KeepsToTheRoomOfItsText) {
  const std::string whole = words(stack_of(StackOwner::kRank), kBytes + 1);
  for (const std::size_t capacity :
       {std::size_t{1}, std::size_t{2}, std::size_t{40}, whole.size(), whole.size() + 1})
    EXPECT_EQ(words(stack_of(StackOwner::kRank), kBytes + 1, RLIM_INFINITY, capacity),
              whole.substr(0, capacity - 1));
}

TEST(StackNeed, TellsOfAnAccessAboveARanksStack) {
  const auto above = [](StackOwner owner, std::uintptr_t address) {
    char text[200] = "";
    return std::string(text, describe_above(text, sizeof text, stack_of(owner), address));
  };
  EXPECT_EQ(above(StackOwner::kRank, kTop - 1), "");
  EXPECT_EQ(above(StackOwner::kRank, kTop),
            "stack overflow upwards: address 0x7f0000000000 is 1 bytes above its stack of 8192 KiB");
  EXPECT_NE(above(StackOwner::kRank, kTop + kNearStack - 1), "");
  EXPECT_EQ(above(StackOwner::kRank, kTop + kNearStack), "");
  EXPECT_EQ(above(StackOwner::kThread, kTop), "") << "above it lies another thing";
}

}  // namespace
}  // namespace clump::host
