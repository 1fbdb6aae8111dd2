// The stacks of threads that ranks make. Behind such a stack is a rank's memory or another thread's stack, so
// its guard is larger than the C library's 4 KiB. A thread that has used up its stack needs another stack to
// report it.
#pragma once

#include <pthread.h>

#include <cstddef>

namespace clump::image {

/// The bytes of the signal stack, at the upper end of the thread's own stack. Pages of it that no handler
/// uses take no memory.
inline constexpr std::size_t kThreadSignalStack = 64 << 10;

/// The attributes with which a thread is made instead of `given`, which may be null: the guard is larger,
/// unless the program has set one, and there is room for a signal stack, unless the program has provided the
/// stack's memory.
class ThreadAttributes {
 public:
  /// kLarge is 64 MiB, kSmall is 1 MiB. The C library does not keep a stack of more than 40 MiB, guard
  /// included, for the next thread. So for a program that makes threads all the time, new stacks would cost
  /// as much as the threads.
  enum class Guard : unsigned char { kGiven, kSmall, kLarge };
  ThreadAttributes(const pthread_attr_t* given, Guard guard);
  ~ThreadAttributes();
  ThreadAttributes(const ThreadAttributes&) = delete;
  ThreadAttributes& operator=(const ThreadAttributes&) = delete;

  const pthread_attr_t* get() const { return &attributes_; }
  bool has_room_for_signals() const { return has_room_; }

 private:
  pthread_attr_t attributes_;
  bool is_copy_;
  bool has_room_ = false;
};

/// While one lives, signal handlers of the calling thread that ask for it run in [memory, memory +
/// kThreadSignalStack). Null: does nothing.
class ThreadSignalStack {
 public:
  explicit ThreadSignalStack(void* memory);
  ~ThreadSignalStack();
  ThreadSignalStack(const ThreadSignalStack&) = delete;
  ThreadSignalStack& operator=(const ThreadSignalStack&) = delete;

 private:
  void* memory_;
};

}  // namespace clump::image
