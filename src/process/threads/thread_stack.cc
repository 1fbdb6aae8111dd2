#include "process/threads/thread_stack.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdint>

namespace clump::image {

namespace {

constexpr std::size_t kSmallGuard = 1 << 20;
constexpr std::size_t kLargeGuard = 64 << 20;

/// Whether the program has set the place of the stack.
bool names_memory(const pthread_attr_t& attributes) {
  void* lowest = nullptr;
  std::size_t bytes = 0;
  // An end of null means "none" to the C library.
  return ::pthread_attr_getstack(&attributes, &lowest, &bytes) == 0 &&
         reinterpret_cast<std::uintptr_t>(lowest) + bytes != 0;
}

/// Whether the address space is limited (ulimit -v). The limit is for the process: threads would lack what
/// guards take.
bool is_address_space_limited() {
  rlimit limit{};
  return ::getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
}

}  // namespace

ThreadAttributes::ThreadAttributes(const pthread_attr_t* given, Guard guard) : is_copy_(given != nullptr) {
  if (is_copy_)
    attributes_ = *given;  // the copy refers to the original's memory, which is not changed
  else if (::pthread_getattr_default_np(&attributes_) != 0)
    ::pthread_attr_init(&attributes_);
  if (names_memory(attributes_)) return;
  std::size_t bytes = 0, guard_bytes = 0;
  ::pthread_attr_getguardsize(&attributes_, &guard_bytes);
  if (guard != Guard::kGiven && guard_bytes == static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)) &&
      !is_address_space_limited())
    ::pthread_attr_setguardsize(&attributes_, guard == Guard::kLarge ? kLargeGuard : kSmallGuard);
  has_room_ = ::pthread_attr_getstacksize(&attributes_, &bytes) == 0 &&
              ::pthread_attr_setstacksize(&attributes_, bytes + kThreadSignalStack) == 0;
}

ThreadAttributes::~ThreadAttributes() {
  if (!is_copy_) ::pthread_attr_destroy(&attributes_);
}

ThreadSignalStack::ThreadSignalStack(void* memory) : memory_(memory) {
  if (memory_ == nullptr) return;
  stack_t stack{};
  stack.ss_sp = memory_;
  stack.ss_size = kThreadSignalStack;
  ::sigaltstack(&stack, nullptr);
}

ThreadSignalStack::~ThreadSignalStack() {
  if (memory_ == nullptr) return;
  // What the thread still does, as it ends, uses the part of its stack where the signal stack was.
  stack_t now{};
  if (::sigaltstack(nullptr, &now) != 0 || now.ss_sp != memory_) return;  // the program has its own
  stack_t none{};
  none.ss_flags = SS_DISABLE;
  ::sigaltstack(&none, nullptr);
}

}  // namespace clump::image
