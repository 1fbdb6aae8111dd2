"""Does the test of calls in handlers call every function that POSIX names as async-signal-safe and Clump stands in for?

  check_safe_calls.py READELF LIBRARY TEST
"""

import re
import subprocess
import sys
from pathlib import Path

# signal-safety(7), without what only looks at its arguments, and with names that Linux has besides.
SAFE = """
_Exit _exit _Fork abort accept access aio_error aio_return aio_suspend alarm bind cfgetispeed cfgetospeed cfsetispeed cfsetospeed chdir
chmod chown clock_gettime close connect creat dup dup2 dup3 execl execle execv execve faccessat fchdir fchmod fchmodat fchown fchownat fcntl
fdatasync fexecve fork fstat fstatat fsync ftruncate futimens getegid geteuid getgid getgroups getpeername getpgrp getpid getppid
getsockname getsockopt getuid kill link linkat listen longjmp lseek lstat mkdir mkdirat mkfifo mkfifoat mknod mknodat open openat pause pipe
pipe2 poll ppoll pselect pthread_kill pthread_self pthread_sigmask quick_exit raise read readlink readlinkat recv recvfrom recvmsg rename
renameat rmdir select sem_post send sendmsg sendto setegid seteuid setgid setpgid setregid setreuid setsid setsockopt setuid shutdown
sigaction sigaddset sigdelset sigemptyset sigfillset sigismember siglongjmp signal sigpause sigpending sigprocmask sigqueue sigset
sigsuspend sleep nanosleep sockatmark socket socketpair stat symlink symlinkat tcdrain tcflow tcflush tcgetattr tcgetpgrp tcsendbreak
tcsetattr tcsetpgrp time timer_getoverrun timer_gettime timer_settime times umask uname unlink unlinkat utime utimensat utimes wait waitpid
write
""".split()
NOT_CALLED = {
    "fork": "since POSIX.1-2024 it is not in the list; the rank calls it while the handler runs",
    "longjmp": "is called as siglongjmp()",
    "pause": "would have to wait for another signal",
    "quick_exit": "runs functions of the program",
}


def main():
    readelf, library, test = sys.argv[1:]
    text = subprocess.run([readelf, "--dyn-syms", "--wide", library], check=True, capture_output=True, text=True).stdout
    rows = (line.split() for line in text.splitlines())
    defined = {row[7].split("@")[0] for row in rows if len(row) > 7 and row[3] == "FUNC" and row[6] != "UND"}
    ours = [name for name in SAFE if name in defined]
    if len(ours) < 50:
        print(f"only {len(ours)} of the functions are in {library}: it is read wrongly")
        return 1
    source = Path(test).read_text()
    missing = [name for name in ours if name not in NOT_CALLED and not re.search(rf"\b{name}\(", source)]
    for name in missing:
        print(f"{test} does not call {name}(), which a handler may call and libclump_host.so stands in for")
    return int(bool(missing))


if __name__ == "__main__":
    sys.exit(main())
