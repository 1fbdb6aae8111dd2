// The observer: a thread of each host process that tells mpiexec about its ranks when it is asked to, and
// otherwise sleeps. docs/decisions/018-who-waits-for-whom.md
#include <linux/futex.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <string_view>

#include "diag/capture.h"
#include "fiber/census.h"
#include "fiber/worker.h"
#include "pmi/waits.h"
#include "runtime/host.h"
#include "runtime/host_state.h"

namespace clump::runtime {

namespace {

/// What has called MPI is told with so many frames, as the innermost may have no debugging information.
constexpr std::size_t kCallers = 4;

pmi::Account (*take_account)() = nullptr;
constinit std::atomic<bool> all_sleep{false};

pmi::HostState& state() { return host().node.host(host().job.process); }

void call_observer() {
  state().news.fetch_add(1, std::memory_order_release);
  ::syscall(SYS_futex, &state().news, FUTEX_WAKE, 1, nullptr, nullptr, 0);
}

void on_deadlock() {
  all_sleep.store(true, std::memory_order_release);
  call_observer();
}

void send_account(std::uint32_t question) {
  const std::string bytes = pmi::encode(take_account());
  for (std::size_t at = 0; at < bytes.size(); at += pmi::AccountNote::kMost) {
    const pmi::AccountNote note{host().job.process, question, at + pmi::AccountNote::kMost >= bytes.size(),
                                bytes.substr(at, pmi::AccountNote::kMost)};
    const std::string packet = pmi::encode(note);
    (void)!::send(host().control, packet.data(), packet.size(), MSG_NOSIGNAL);
  }
}

void* run_observer(void*) {
  ::prctl(PR_SET_NAME, "observer");
  for (std::uint32_t answered = 0;;) {
    const std::uint32_t seen = state().news.load(std::memory_order_acquire);
    if (all_sleep.load(std::memory_order_acquire)) {
      send_account(0);
      fail_job({-1, pmi::Reason::kDeadlock, 1, {}, {}});
    }
    if (const std::uint32_t question = state().question.load(std::memory_order_acquire); question != answered) {
      send_account(question);
      answered = question;
    }
    ::syscall(SYS_futex, &state().news, FUTEX_WAIT, seen, nullptr, nullptr, 0);
  }
}

bool is_of(const pmi::FailureView::Frame& frame, std::string_view library) {
  if (frame.object == nullptr) return false;
  const std::string_view path = frame.object;
  return path.substr(path.rfind('/') + 1).starts_with(library);
}

}  // namespace

void observe(pmi::Account (*account)()) {
  if (!host().started_by_mpiexec()) return;
  take_account = account;
  // Signals are for the ranks' threads.
  sigset_t all, before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_BLOCK, &all, &before);
  const bool started = fiber::start_kernel_thread(run_observer, nullptr);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (!started)
    fail_job({-1, pmi::Reason::kCannotStart, 1,
              "cannot start a thread (ulimit -u, pids.max of the control group, kernel.threads-max)", {}});
  // Nobody else can wake us, and we know of all our threads.
  if (host().job.processes.size() == 1 && !host().job.here().plain) fiber::on_deadlock(on_deadlock);
}

bool has_ended(int rank) { return host().rank(rank).phase.load() == Phase::kEnded; }

std::vector<pmi::Frame> frames_of(const fiber::Registers& registers) {
  diag::Stack stack;
  diag::capture_behind(stack, registers);
  const auto all = stack.view();
  // The outermost frame of the innermost call of MPI; if there is none, the first that is not of Clump.
  std::size_t first = 0;
  while (first < all.size() && is_of(all[first], "libclump_host.so")) ++first;
  while (first + 1 < all.size() && is_of(all[first], "libmpi_abi.so") && is_of(all[first + 1], "libmpi_abi.so"))
    ++first;
  std::vector<pmi::Frame> frames;
  for (std::size_t i = first; i < all.size() && i <= first + kCallers; ++i)
    frames.push_back({all[i].object != nullptr ? all[i].object : "", all[i].address});
  return frames;
}

}  // namespace clump::runtime
