// Resource limits of a rank. A process may change them in its main(), and so does a rank that shares its
// process with others: each rank has limits of its own, and is told what it has set.
//
// RLIMIT_STACK: the rank's stack grows up to it. RLIMIT_NOFILE: functions that open files count the rank's.
// Of the others the kernel gets the largest that a rank has, or their sum where the process uses up a thing
// for all of its ranks, as its time; so a limit is in force when all ranks have set it, as programs do, in
// which all ranks run the same code. Programs that a rank starts get the rank's. Limits of memory cannot be
// kept for a rank: lowering one is refused.
#include <pthread.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>

#include "base/process.h"
#include "host/shares.h"
#include "host/stacks.h"
#include "image/symbols.h"
#include "process/children/spawn.h"
#include "process/files/standard.h"
#include "process/ids.h"
#include "process/refusal.h"

namespace clump::host {

namespace {

/// The kernel's, of this process. -1 with errno, or 0.
int kernels(int resource, const rlimit* wanted, rlimit* before) {
  return static_cast<int>(::syscall(SYS_prlimit64, 0, resource, wanted, before));
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

void take_in_child() noexcept;

/// The same, for a function that is asked for `resource`.
HostedRank* rank_with(int resource) {
  take_in_child();
  return resource >= 0 && resource < RLIM_NLIMITS ? rank_with_limits() : nullptr;
}

const char* name_of_memory(int resource) {
  return resource == RLIMIT_AS ? "RLIMIT_AS" : resource == RLIMIT_DATA ? "RLIMIT_DATA" : nullptr;
}

/// What the ranks have together.
rlim_t soft_of_all(int resource) {
  Host& here = host();
  rlim_t all = 0;
  for (int i = 0; i < here.rank_count(); ++i)
    all = add_limit(resource, all, here.rank_at(i).soft_limits[resource].load(std::memory_order_relaxed));
  return all;
}

void change_kernels(int resource) {
  rlimit now{};
  if (kernels(resource, nullptr, &now) != 0) return;
  const rlim_t soft = std::min(soft_of_all(resource), now.rlim_max);
  // The native rank's stack is the kernel's, and Clump has descriptors of its own.
  const bool may_fall = resource != RLIMIT_STACK && resource != RLIMIT_NOFILE;
  if (soft == now.rlim_cur || (soft < now.rlim_cur && !may_fall)) return;
  now.rlim_cur = soft;
  kernels(resource, &now, nullptr);
}

/// The kernel's limits of this process that the rank does not have.
image::RankLimits limits_of(const HostedRank& rank) {
  image::RankLimits limits;
  // The native rank's stack may have another limit although no rank has changed it.
  const std::uint32_t changed = rank.changed_limits.load(std::memory_order_relaxed) | 1U << RLIMIT_STACK;
  for (int resource = 0; resource < RLIM_NLIMITS; ++resource) {
    if ((changed >> resource & 1) == 0) continue;
    const rlimit own{rank.soft_limits[resource].load(std::memory_order_relaxed),
                     rank.hard_limits[resource].load(std::memory_order_relaxed)};
    rlimit now{};
    if (kernels(resource, nullptr, &now) == 0 && now.rlim_cur == own.rlim_cur && now.rlim_max == own.rlim_max)
      continue;
    limits.differ |= 1U << resource;
    limits.all[resource] = own;
  }
  return limits;
}

void take(const image::RankLimits& limits) {
  for (int resource = 0; resource < RLIM_NLIMITS; ++resource)
    if ((limits.differ >> resource & 1) != 0) kernels(resource, &limits.all[resource], nullptr);
}

/// Whether this is a child that fork() has made, which has its rank's limits.
constinit bool has_forked = false;
/// The last child of the calling thread that has its parent's memory, and its rank's limits.
constinit thread_local pid_t has_taken = 0;

void of_caller(image::RankLimits& limits) noexcept {
  if (const HostedRank* const rank = rank_with_limits()) limits = limits_of(*rank);
}

/// In the child of vfork() or _Fork().
void take_in_child() noexcept {
  const fiber::Identity* const mine = fiber::identity();
  if (mine == nullptr || has_forked || !host().have_own_limits) return;
  const pid_t process = base::process_id();
  if (process == host().process || process == has_taken) return;
  has_taken = process;
  take(limits_of(host().rank(*mine)));
}

constexpr image::LimitsHooks kHooks{of_caller, take_in_child};

/// Either may be null. -1 with errno, or 0.
int change(HostedRank& rank, int resource, const rlimit* wanted, rlimit* before) {
  const rlimit now{rank.soft_limits[resource].load(std::memory_order_relaxed),
                   rank.hard_limits[resource].load(std::memory_order_relaxed)};
  if (wanted != nullptr) {
    const bool is_wrong = wanted->rlim_cur > wanted->rlim_max;
    if (is_wrong || (wanted->rlim_max > now.rlim_max && ::geteuid() != 0)) {
      errno = is_wrong ? EINVAL : EPERM;
      return -1;
    }
    if (const char* const name = name_of_memory(resource); name != nullptr && wanted->rlim_cur < now.rlim_cur)
      image::refuse(std::string("setrlimit(") + name + ")", "limits the memory of the process");
    const int error = errno;
    rank.soft_limits[resource].store(wanted->rlim_cur, std::memory_order_relaxed);
    rank.hard_limits[resource].store(wanted->rlim_max, std::memory_order_relaxed);
    rank.changed_limits.fetch_or(1U << resource, std::memory_order_relaxed);
    change_kernels(resource);
    if (resource == RLIMIT_STACK) grow_stack(rank, wanted->rlim_cur);
    if (resource == RLIMIT_NOFILE) image::standard::limit_open_files(rank.identity, wanted->rlim_cur);
    errno = error;
  }
  if (before != nullptr) *before = now;
  return 0;
}

}  // namespace

void begin_own_limits() {
  Host& here = host();
  if (here.rank_count() == 1) return;
  for (int resource = 0; resource < RLIM_NLIMITS; ++resource) {
    rlimit now{};
    if (kernels(resource, nullptr, &now) != 0) return;
    for (int i = 0; i < here.rank_count(); ++i) {
      here.rank_at(i).soft_limits[resource].store(now.rlim_cur, std::memory_order_relaxed);
      here.rank_at(i).hard_limits[resource].store(now.rlim_max, std::memory_order_relaxed);
    }
  }
  here.have_own_limits = true;
  image::set_limits_hooks(kHooks);
}

void give_limits_to_joining(HostedRank& rank) {
  Host& here = host();
  const bool is_first = !here.have_own_limits;
  for (int resource = 0; resource < RLIM_NLIMITS; ++resource) {
    rlimit now{};
    if (kernels(resource, nullptr, &now) != 0) return;
    for (HostedRank* const one : {&rank, is_first ? &here.ranks[0] : &rank}) {
      one->soft_limits[resource].store(now.rlim_cur, std::memory_order_relaxed);
      one->hard_limits[resource].store(now.rlim_max, std::memory_order_relaxed);
    }
  }
  here.have_own_limits = true;
  image::set_limits_hooks(kHooks);
}

void take_limits_after_fork() {
  const fiber::Identity* const mine = fiber::identity();
  if (mine != nullptr && host().have_own_limits) take(limits_of(host().rank(*mine)));
  has_forked = true;
}

}  // namespace clump::host

using namespace clump::host;  // the functions below are the C library's, outside of any namespace
using clump::image::Hidden;

// On the machines that we know `rlimit` and `rlimit64` are the same.
static_assert(sizeof(rlimit) == sizeof(rlimit64) && sizeof(rlim_t) == sizeof(rlim64_t));

extern "C" {

CLUMP_HOST_API int prlimit(pid_t process, __rlimit_resource resource, const rlimit* wanted,
                           rlimit* before) noexcept {
  static constinit Hidden<int(pid_t, __rlimit_resource, const rlimit*, rlimit*)> real{"prlimit"};
  const bool is_own = process == 0 || process == clump::image::process_ids::mine();
  HostedRank* const rank = is_own ? rank_with(resource) : nullptr;
  return rank != nullptr ? change(*rank, resource, wanted, before) : real(process, resource, wanted, before);
}

CLUMP_HOST_API int getrlimit(__rlimit_resource_t resource, rlimit* limit) noexcept {
  static constinit Hidden<int(int, rlimit*)> real{"getrlimit"};
  HostedRank* const rank = rank_with(resource);
  return rank != nullptr ? change(*rank, resource, nullptr, limit) : real(resource, limit);
}

CLUMP_HOST_API int setrlimit(__rlimit_resource_t resource, const rlimit* limit) noexcept {
  static constinit Hidden<int(int, const rlimit*)> real{"setrlimit"};
  HostedRank* const rank = rank_with(resource);
  return rank != nullptr ? change(*rank, resource, limit, nullptr) : real(resource, limit);
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
