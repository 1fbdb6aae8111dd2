// Signals, timers and jumps. SIGURG is ignored where nobody asks for it.
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "calls.h"

// Names that no header has any more, or not with these definitions.
extern "C" {
int __libc_current_sigrtmax();
void __longjmp_chk(__jmp_buf_tag*, int) __attribute__((noreturn));
int __sigaction(int, const struct sigaction*, struct sigaction*);
sighandler_t __sysv_signal(int, sighandler_t);
int old_sigblock(int) asm("sigblock");
int old_sigsetmask(int) asm("sigsetmask");
}

namespace calls {
namespace {

jmp_buf place;
sigjmp_buf signal_place;
sigset_t set;
struct sigaction action;
stack_t stack;
siginfo_t info;
const sigset_t kNoSignals{};
const timespec no_time{0, 0};
itimerval interval_timer;
const itimerval kNoInterval{};
itimerspec times;

void with_timer(void (*use)(timer_t)) {
  sigevent event{};
  event.sigev_notify = SIGEV_NONE;
  timer_t timer;
  if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0) return;
  use(timer);
  timer_delete(timer);
}

void jump() {
  if (setjmp(place) == 0) longjmp(place, 1);
}
void jump_too() {
  if (_setjmp(place) == 0) _longjmp(place, 1);
}
void jump_with_signals() {
  if (sigsetjmp(signal_place, 1) == 0) siglongjmp(signal_place, 1);
}
void jump_checked() {
  if (_setjmp(place) == 0) __longjmp_chk(place, 1);
}

const Row kRows[] = {
    // What is done with one.
    {"sigaction", [] { sigaction(SIGUSR2, nullptr, &action); }},
    {"__sigaction", [] { __sigaction(SIGUSR2, nullptr, &action); }},
    {"signal", [] { signal(SIGURG, SIG_DFL); }},
    {"__sysv_signal", [] { __sysv_signal(SIGURG, SIG_DFL); }},
    {"sigset", [] { sigset(SIGURG, SIG_DFL); }},
    {"sigignore", [] { sigignore(SIGURG), signal(SIGURG, SIG_DFL); }},
    {"siginterrupt", [] { siginterrupt(SIGURG, 0); }},
    {"sigaltstack", [] { sigaltstack(nullptr, &stack); }},
    {"__libc_current_sigrtmax", [] { __libc_current_sigrtmax(); }},
    // Blocked and waited for.
    {"sigprocmask", [] { sigprocmask(SIG_BLOCK, nullptr, &set); }},
    {"pthread_sigmask", [] { pthread_sigmask(SIG_BLOCK, nullptr, &set); }},
    {"sighold", [] { sighold(SIGURG); }},
    {"sigrelse", [] { sigrelse(SIGURG); }},
    {"sigblock", [] { old_sigblock(0); }},
    {"sigsetmask", [] { old_sigsetmask(old_sigblock(0)); }},
    {"sigpending", [] { sigpending(&set); }},
    {"sigtimedwait", [] { sigtimedwait(&kNoSignals, &info, &no_time); }},
    {"sigwait", nullptr, kWaits},
    {"sigwaitinfo", nullptr, kWaits},
    {"sigsuspend", nullptr, kWaits},
    {"sigpause", nullptr, kWaits},
    {"__sigpause", nullptr, kWaits},
    {"__xpg_sigpause", nullptr, kWaits},
    {"pause", nullptr, kWaits},
    // Sent.
    {"kill", [] { kill(getpid(), 0); }},
    {"killpg", [] { killpg(getpgrp(), 0); }},
    {"tgkill", [] { tgkill(getpid(), gettid(), 0); }},
    {"sigqueue", [] { sigqueue(getpid(), 0, {}); }},
    {"pidfd_send_signal", nullptr, kNew},
    {"pthread_kill", [] { pthread_kill(pthread_self(), 0); }},
    {"pthread_sigqueue", [] { pthread_sigqueue(pthread_self(), SIGURG, {}); }},
    {"raise", [] { raise(SIGURG); }},
    {"gsignal", [] { gsignal(SIGURG); }},
    {"abort", nullptr, kEnds},
    // Timers.
    {"alarm", [] { alarm(0); }},
    {"ualarm", [] { ualarm(0, 0); }},
    {"getitimer", [] { getitimer(ITIMER_REAL, &interval_timer); }},
    {"setitimer", [] { setitimer(ITIMER_REAL, &kNoInterval, nullptr); }},
    {"timer_create", [] { with_timer([](timer_t) {}); }},
    {"timer_delete", [] { with_timer([](timer_t) {}); }},
    {"timer_settime", [] { with_timer([](timer_t timer) { timer_settime(timer, 0, &times, nullptr); }); }},
    {"timer_gettime", [] { with_timer([](timer_t timer) { timer_gettime(timer, &times); }); }},
    {"timer_getoverrun", [] { with_timer([](timer_t timer) { timer_getoverrun(timer); }); }},
    // Jumps.
    {"longjmp", jump},
    {"_longjmp", jump_too},
    {"siglongjmp", jump_with_signals},
    {"__longjmp_chk", jump_checked},
};

}  // namespace

std::span<const Row> of_signals() { return kRows; }

}  // namespace calls
