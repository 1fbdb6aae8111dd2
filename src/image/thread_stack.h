// The stacks of threads that ranks make. A rank's memory begins where such a stack ends, or another thread's
// does, so the guard is larger than the C library's 4 KiB; and a thread that has used its stack up needs
// another one to tell of it.
#pragma once

#include <pthread.h>

#include <cstddef>

namespace clump::image {

/// Bytes of the signal stack, at the top of the thread's own stack; pages of it that no handler uses take no
/// memory.
inline constexpr std::size_t kThreadSignalStack = 64 << 10;

/// With which attributes a thread is made instead of `given`, which may be null: the guard is larger unless
/// the program has set one, and there is room for a signal stack unless the program has brought the stack's
/// memory.
class ThreadAttributes {
 public:
  /// Large is 64 MiB, small is 1 MiB. The C library keeps no stack of more than 40 MiB, guard included, for
  /// the next thread; a program that makes threads all the time would pay as much for new stacks as for the
  /// threads.
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

/// While it lives, signal handlers of the calling thread that ask for it run in [memory, memory +
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
