#include "job/end_requests.h"

#include <csignal>

namespace clump::mpiexec {

bool EndRequests::ends_job(int signal) { return signal == SIGINT || signal == SIGTERM || signal == SIGHUP; }

EndRequests::Kind EndRequests::take(int signal, bool is_typed, Clock::time_point now) {
  if (first_ != 0)
    // No key sends SIGHUP: a terminal that closes does, once by the shell and once by the kernel.
    return (!is_typed || signal == SIGHUP) && signal == first_ && now - at_ < kSameWithin ? Kind::kSame : Kind::kAgain;
  first_ = signal;
  at_ = now;
  return Kind::kFirst;
}

}  // namespace clump::mpiexec
