// Signals for a rank of another process of this node, and for the rank that has forked the calling process.
// The kernel would take the rank's process id, which is that of a thread there, for the id of that whole
// process, and would keep one signal of a kind for all its ranks. So such a signal is sent as a different
// one: as one of those that Clump keeps for itself, which are queued, with the rank's id in si_errno and all
// else in its usual place.
#include <sys/syscall.h>
#include <unistd.h>

#include "process/ids.h"
#include "process/signals/state.h"

namespace clump::image::signals {
namespace {

/// si_code of a forwarded signal is this value combined with the code and the number of the intended signal:
/// packed().
constexpr int kForwarded = -0x4000;
constexpr int kCodes = 0x80;  ///< how many numbers of signals there are

int packed(const siginfo_t& info) { return kForwarded + info.si_code * kCodes - info.si_signo; }

void unpack(siginfo_t& info) {
  const int both = kForwarded - info.si_code;
  info.si_errno = 0;
  info.si_signo = both % kCodes;
  info.si_code = -(both / kCodes);
}

}  // namespace

bool forward(pid_t id, const siginfo_t& info) noexcept {
  const int number = info.si_signo;
  const bool is_known = info.si_code == SI_USER || info.si_code == SI_QUEUE || info.si_code == SI_TKILL;
  if (number < 1 || number > kHighest || number == SIGKILL || number == SIGSTOP || number == SIGCONT ||
      !is_known)
    return false;
  const pid_t process = process_ids::process_of(id);
  if (process <= 0 || !runtime().is_of_job(process)) return false;
  siginfo_t forwarded = info;
  forwarded.si_signo = kRestart;
  forwarded.si_code = packed(info);
  forwarded.si_errno = id;
  return ::syscall(SYS_rt_sigqueueinfo, process, kRestart, &forwarded) == 0;
}

bool is_forwarded(const siginfo_t& info) noexcept { return info.si_code <= kForwarded; }

void come_from_rank(const siginfo_t& forwarded) {
  siginfo_t info = forwarded;
  const fiber::Identity* const rank = process_ids::rank_with(info.si_errno);
  unpack(info);
  if (rank == nullptr)
    come_from_outside(info);  // to another thread of this process
  else if (!has_ended(*rank))
    (void)bring(*rank, nullptr, info, false);
}

}  // namespace clump::image::signals
