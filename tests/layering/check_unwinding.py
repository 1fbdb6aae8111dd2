"""Can a thread end in a function that libclump_host.so stands in for? A cancelled thread unwinds its stack through the cancellation point in which it
waits, and pthread_exit() in a signal handler through the function in which the handler runs. Through a function that is noexcept it goes without
destructors (src/process/threads/forced_unwind.cc), and what the function has locked stays locked. So none of those in POINTS and HANDLERS is; where a header
of the C library declares it noexcept, our function has a C++ name of its own and the other as its name for the linker
(`int call_raise(int) asm("raise")`).

  check_unwinding.py SRC
"""

import re
import sys
from pathlib import Path

# POSIX, XSH 2.9.5.2: all that shall be cancellation points, and wait3() and wait4(), which are in the C library.
POINTS = """accept accept4 aio_suspend clock_nanosleep close connect creat creat64 epoll_pwait epoll_pwait2 epoll_wait fcntl fcntl64 fdatasync fsync getmsg
getpmsg lockf lockf64 mq_receive mq_send mq_timedreceive mq_timedsend msgrcv msgsnd msync nanosleep open open64 openat openat64 pause poll ppoll pread
pread64 preadv preadv64 pselect pthread_cond_clockwait pthread_cond_timedwait pthread_cond_wait pthread_join pthread_testcancel putmsg putpmsg pwrite
pwrite64 pwritev pwritev64 read readv recv recvfrom recvmmsg recvmsg select sem_clockwait sem_timedwait sem_wait send sendmmsg sendmsg sendto sigpause
sigsuspend sigtimedwait sigwait sigwaitinfo sleep system tcdrain thrd_join thrd_sleep usleep wait wait3 wait4 waitid waitpid write writev
__open_2 __open64_2 __openat_2 __openat64_2 __poll_chk __ppoll_chk __read_chk __sigpause __sigsuspend __wait __waitpid __xpg_sigpause
dprintf vdprintf __dprintf_chk __vdprintf_chk fclose fcloseall fflush fflush_unlocked fopen fopen64 freopen freopen64 pclose popen printf puts
__printf_chk __vprintf_chk vprintf getchar scanf vscanf syslog vsyslog""".split()
# A handler may run in them: they send or unblock signals, or wait until another thread does something.
HANDLERS = """abort flock gsignal kill killpg longjmp _longjmp __longjmp_chk pidfd_send_signal pthread_kill pthread_sigmask pthread_sigqueue pthread_yield
raise sched_yield siglongjmp sigprocmask sigqueue sigrelse sigset sigsetmask syscall tgkill thrd_yield""".split()
# As many of them as are ours, at the least: fewer are found if this script does not understand the sources.
LEAST = 90


def heads(text):
    """The heads of functions that are marked as exported: what is before the body or the semicolon."""
    for begin in re.finditer(r"\bCLUMP_HOST_API\b", text):
        depth = 0
        for end in range(begin.end(), len(text)):
            letter = text[end]
            depth += (letter == "(") - (letter == ")")
            if letter in "{;" and depth == 0:
                yield text[begin.start():end], text.count("\n", 0, begin.start()) + 1
                break


def main():
    src = Path(sys.argv[1])
    wanted = {*POINTS, *HANDLERS}
    found, wrong = set(), 0
    for path in sorted(src.rglob("*.cc")):
        for head, line in heads(path.read_text()):
            name = re.search(r'\basm\("(\w+)"\)', head) or re.search(r"\b(\w+)\s*\(", head)
            if name is None or name[1] not in wanted:
                continue
            found.add(name[1])
            if re.search(r"\)\s*noexcept\b(?!\(false\))", head):
                print(f"{path}:{line}: {name[1]}() is noexcept, and a thread may end in it: a C++ name of its own, and asm(\"{name[1]}\")")
                wrong += 1
    print(f"{len(found)} functions in which a thread may end, {wrong} of them noexcept")
    if len(found) < LEAST:
        print(f"{LEAST} were expected")
    return int(wrong > 0 or len(found) < LEAST)


if __name__ == "__main__":
    sys.exit(main())
