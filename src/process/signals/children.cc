// SIGCHLD comes to the rank whose child it is about. The kernel tells of several children that end at about
// the same time by one signal, so all that are known are looked at. What a child sends comes to its rank,
// too.
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/process.h"
#include "process/children/children.h"
#include "process/ids.h"
#include "process/signals/state.h"

namespace clump::image::signals {
namespace {

/// waitid() of one child; the C library's is interposed. Whether `found` tells of it.
bool ask(pid_t child, int options, siginfo_t& found) {
  found = {};
  return ::syscall(SYS_waitid, P_PID, child, &found, options, nullptr) == 0 && found.si_pid == child;
}

/// It runs, or has ended and was not waited for.
bool exists(pid_t child) {
  siginfo_t found{};
  return ::syscall(SYS_waitid, P_PID, child, &found, WEXITED | WNOHANG | WNOWAIT, nullptr) == 0;
}

/// What a child has sent before the call that has started it has returned, so that it is not known whose it
/// is.
struct Early {
  enum Stage : int { kFree, kBeingWritten, kWaits };
  std::atomic<int> stage{kFree};
  int looks = 0;
  siginfo_t info{};
};
constinit Early early[16];
/// The service looks every millisecond, so often. Then nobody will know: it is for all ranks.
constexpr int kMostLooks = 200;

void tell(const fiber::Identity& rank, const siginfo_t& info) {
  const Guard guard;
  (void)leave(rank, nullptr, info, true);  // what is not handled is ignored
}

/// The rank wants no zombies, and what the kernel does is for all ranks.
bool leaves_no_zombies(const fiber::Identity& rank) {
  const Guard guard;
  const Action action = action_of(rank, SIGCHLD);
  return action.handler == SIG_IGN || (action.flags & SA_NOCLDWAIT) != 0;
}

void look_at_children_of(const fiber::Identity& rank) {
  for (auto child = next_child_of(&rank, {}); child; child = next_child_of(&rank, child)) {
    siginfo_t end;
    if (!ask(child.process, WEXITED | WNOHANG | WNOWAIT, end) || !ChildTable::tells_first(child)) continue;
    end.si_signo = SIGCHLD;
    tell(rank, end);
    if (leaves_no_zombies(rank) && ask(child.process, WEXITED | WNOHANG, end)) forget_child(child);
  }
}

}  // namespace

Sender sender_of(const siginfo_t& info) noexcept {
  constexpr int kMostGenerations = 16;
  if (info.si_code != SI_USER && info.si_code != SI_QUEUE) return {};
  pid_t process = info.si_pid;
  for (int i = 0; i < kMostGenerations && process > 1 && process != base::process_id(); ++i) {
    if (const fiber::Identity* const owner = starter_of(process)) return {owner, false};
    const pid_t parent = process_ids::parent_of(process);
    if (parent > 0 && parent != base::process_id()) {
      process = parent;
      continue;
    }
    // It may have been noted, and waited for, since we have looked.
    const bool is_early = parent > 0 && !find_child(process);
    const fiber::Identity* const owner = starter_of(process);
    return {owner, owner == nullptr && is_early};
  }
  return {};
}

bool keep_early(const siginfo_t& info) noexcept {
  if (!service_runs()) return false;
  for (Early& place : early) {
    int free = Early::kFree;
    if (!place.stage.compare_exchange_strong(free, Early::kBeingWritten, std::memory_order_acquire)) continue;
    place.info = info;
    place.looks = 0;
    place.stage.store(Early::kWaits, std::memory_order_release);  // release: pairs with acquire below
    call_service();
    return true;
  }
  return false;
}

bool bring_early() {
  bool any = false;
  for (Early& place : early) {
    if (place.stage.load(std::memory_order_acquire) != Early::kWaits) continue;
    const Sender sender = sender_of(place.info);
    if (sender.is_early && ++place.looks < kMostLooks) {
      any = true;
      continue;
    }
    const siginfo_t info = place.info;
    place.stage.store(Early::kFree, std::memory_order_release);  // release: `info` was read before
    come_from_outside(info, sender.starter);
  }
  return any;
}

void on_child(const siginfo_t& info) {
  const bool ended = info.si_code == CLD_EXITED || info.si_code == CLD_KILLED || info.si_code == CLD_DUMPED;
  // A child may end before the call that has started it returns in its parent: then every rank may look. One
  // that is not there any more was waited for before this signal was seen: its rank knows.
  const bool is_known = find_child(info.si_pid) || !exists(info.si_pid);
  const fiber::Identity* const owner = owner_of_child(info.si_pid);
  for (int i = 0; i < rank_count(); ++i) {
    const fiber::Identity* const rank = runtime().rank(i);
    if (rank == nullptr) continue;
    look_at_children_of(*rank);
    if (!is_known || (!ended && rank == owner)) tell(*rank, info);
  }
}

}  // namespace clump::image::signals
