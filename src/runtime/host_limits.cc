// RLIMIT_STACK of a rank. A process may change it in its main(), and the kernel lets its stack grow from then
// on; so does a rank that shares its process with others. Each has limits of its own. What the kernel knows
// is the largest of them, for the native rank's stack, which the kernel makes, and for programs that ranks
// start.
#include <pthread.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "base/process.h"
#include "image/process_ids.h"
#include "image/symbols.h"
#include "runtime/host_stacks.h"

namespace clump::runtime {

namespace {

/// The kernel's, of this process. -1 with errno, or 0.
int kernels(const rlimit* wanted, rlimit* before) {
  return static_cast<int>(::syscall(SYS_prlimit64, 0, RLIMIT_STACK, wanted, before));
}

/// The rank whose limits the caller means; null where they are the kernel's: in a process of one rank, before
/// the ranks have begun, and in a child that a rank has forked.
HostedRank* rank_with_limits() {
  const fiber::Identity* const mine = fiber::identity();
  if (mine == nullptr) return nullptr;  // also as long as there is no host(), which would be made
  Host& here = host();
  const bool are_own = here.have_own_limits && base::process_id() == here.process;
  return are_own ? &here.rank(*mine) : nullptr;
}

/// The same, for a function that is asked for `resource`.
HostedRank* rank_with(int resource) { return resource == RLIMIT_STACK ? rank_with_limits() : nullptr; }

void raise_for_all(rlim_t soft) {
  rlimit now{};
  if (kernels(nullptr, &now) != 0 || now.rlim_cur >= soft) return;
  now.rlim_cur = soft < now.rlim_max ? soft : now.rlim_max;
  kernels(&now, nullptr);
}

/// Either may be null. -1 with errno, or 0.
int change(HostedRank& rank, const rlimit* wanted, rlimit* before) {
  const rlimit now{rank.soft_stack_limit.load(std::memory_order_relaxed),
                   rank.hard_stack_limit.load(std::memory_order_relaxed)};
  if (wanted != nullptr) {
    const bool is_wrong = wanted->rlim_cur > wanted->rlim_max;
    if (is_wrong || (wanted->rlim_max > now.rlim_max && ::geteuid() != 0)) {
      errno = is_wrong ? EINVAL : EPERM;
      return -1;
    }
    const int error = errno;
    rank.soft_stack_limit.store(wanted->rlim_cur, std::memory_order_relaxed);
    rank.hard_stack_limit.store(wanted->rlim_max, std::memory_order_relaxed);
    raise_for_all(wanted->rlim_cur);
    grow_stack(rank, wanted->rlim_cur);
    errno = error;
  }
  if (before != nullptr) *before = now;
  return 0;
}

}  // namespace

void begin_own_limits() {
  Host& here = host();
  if (here.rank_count() == 1) return;
  rlimit now{};
  if (kernels(nullptr, &now) != 0) return;
  for (int i = 0; i < here.rank_count(); ++i) {
    here.ranks[i].soft_stack_limit.store(now.rlim_cur, std::memory_order_relaxed);
    here.ranks[i].hard_stack_limit.store(now.rlim_max, std::memory_order_relaxed);
  }
  here.have_own_limits = true;
}

void take_limits_after_fork() {
  const fiber::Identity* const mine = fiber::identity();
  if (mine == nullptr || !host().have_own_limits) return;
  const HostedRank& rank = host().rank(*mine);
  const rlimit own{rank.soft_stack_limit.load(std::memory_order_relaxed),
                   rank.hard_stack_limit.load(std::memory_order_relaxed)};
  kernels(&own, nullptr);
}

}  // namespace clump::runtime

using namespace clump::runtime;  // the functions below are the C library's, outside of any namespace
using clump::image::Hidden;

// On the machines that we know `rlimit` and `rlimit64` are the same.
static_assert(sizeof(rlimit) == sizeof(rlimit64) && sizeof(rlim_t) == sizeof(rlim64_t));

extern "C" {

CLUMP_HOST_API int prlimit(pid_t process, __rlimit_resource resource, const rlimit* wanted,
                           rlimit* before) noexcept {
  static constinit Hidden<int(pid_t, __rlimit_resource, const rlimit*, rlimit*)> real{"prlimit"};
  const bool is_own = process == 0 || process == clump::image::process_ids::mine();
  HostedRank* const rank = is_own ? rank_with(resource) : nullptr;
  return rank != nullptr ? change(*rank, wanted, before) : real(process, resource, wanted, before);
}

CLUMP_HOST_API int prlimit64(pid_t process, __rlimit_resource resource, const rlimit64* wanted,
                             rlimit64* before) noexcept {
  return prlimit(process, resource, reinterpret_cast<const rlimit*>(wanted),
                 reinterpret_cast<rlimit*>(before));
}

CLUMP_HOST_API int getrlimit(__rlimit_resource_t resource, rlimit* limit) noexcept {
  static constinit Hidden<int(int, rlimit*)> real{"getrlimit"};
  HostedRank* const rank = limit != nullptr ? rank_with(resource) : nullptr;
  return rank != nullptr ? change(*rank, nullptr, limit) : real(resource, limit);
}

CLUMP_HOST_API int getrlimit64(__rlimit_resource_t resource, rlimit64* limit) noexcept {
  return getrlimit(resource, reinterpret_cast<rlimit*>(limit));
}

CLUMP_HOST_API int setrlimit(__rlimit_resource_t resource, const rlimit* limit) noexcept {
  static constinit Hidden<int(int, const rlimit*)> real{"setrlimit"};
  HostedRank* const rank = limit != nullptr ? rank_with(resource) : nullptr;
  return rank != nullptr ? change(*rank, limit, nullptr) : real(resource, limit);
}

CLUMP_HOST_API int setrlimit64(__rlimit_resource_t resource, const rlimit64* limit) noexcept {
  return setrlimit(resource, reinterpret_cast<const rlimit*>(limit));
}

/// Of a rank's main thread it shows the stack as it is now, grown by setrlimit().
CLUMP_HOST_API int pthread_getattr_np(pthread_t thread, pthread_attr_t* attributes) noexcept {
  static constinit Hidden<int(pthread_t, pthread_attr_t*)> real{"pthread_getattr_np"};
  const int error = real(thread, attributes);
  if (error != 0 || !::pthread_equal(thread, ::pthread_self())) return error;
  const HostedRank* const rank = rank_with_limits();
  if (rank == nullptr || !rank->stack.is_of_calling_thread()) return 0;
  const std::uintptr_t bottom = rank->stack.bottom;
  return ::pthread_attr_setstack(attributes, reinterpret_cast<void*>(bottom), rank->stack.top - bottom);
}

}  // extern "C"
