"""Ways to restrict what the system gives to a job: each is the beginning of a command line, which runs what stands behind it."""

import os

FORBID = os.path.join(os.environ["CLUMP_BUILD"], "bin", "restricted_forbid")

# What the filters of container runtimes forbid: each alone, and all of a kind together.
CALLS_WITH_USE = ("membarrier", "signalfd4", "memfd_create", "process_vm_readv,process_vm_writev", "pidfd_open", "eventfd2",
                  "timerfd_create", "epoll_create1", "get_mempolicy,set_mempolicy,mbind", "personality", "sched_setaffinity",
                  "sched_getaffinity", "prlimit64", "madvise", "timer_create")
CALLS_OF_OTHERS = "io_uring_setup,userfaultfd,perf_event_open,ptrace,rseq,epoll_pwait2,close_range,statx,unshare"


def limit(words):
    return ["bash", "-c", f'ulimit {words} && exec "$@"', "bash"]


def as_other_user(words):
    """Of a user without rights, whom the kernel holds to ulimit -u."""
    return ["setpriv", "--reuid=65533", "--regid=65533", "--clear-groups", *limit(words)]


def mounted(commands):
    """In a mount namespace of its own."""
    return ["unshare", "-m", "sh", "-c", f'{commands} && exec "$@"', "sh"]


def forbidden(error, calls):
    return [FORBID, error, calls]


def everything():
    """All restrictions by name."""
    ways = {f"{calls} {error}": forbidden(error, calls) for calls in (*CALLS_WITH_USE, CALLS_OF_OTHERS) for error in ("EPERM", "ENOSYS")}
    # The C library falls back where the kernel does not know it, and gives no thread where it is forbidden.
    ways |= {f"clone3 {error}": forbidden(error, "clone3") for error in ("EPERM", "ENOSYS")}
    ways |= {f"ulimit -v {kib}": limit(f"-v {kib}") for kib in (60000, 100000, 200000, 400000, 1000000)}
    ways |= {f"ulimit -f {blocks}": limit(f"-f {blocks}") for blocks in (0, 1, 8, 100, 10000, 100000)}
    ways |= {f"ulimit -s {kib}": limit(f"-s {kib}") for kib in (64, 128, 256)}
    ways |= {f"ulimit -n {files}": limit(f"-n {files}") for files in (4, 8, 16, 24, 40)}
    ways |= {f"ulimit -u {tasks}": as_other_user(f"-u {tasks}") for tasks in (1, 3, 8, 20)}
    ways |= {f"ulimit -d {kib}": limit(f"-d {kib}") for kib in (2000, 10000, 50000)}
    ways |= {f"ulimit -l 0": limit("-l 0"), "ulimit -i 0": limit("-i 0"), "ulimit -q 0": limit("-q 0")}
    ways |= {
        "no /proc": mounted("umount -l /proc"),
        "/proc hidepid=2": mounted("mount -t proc -o hidepid=2 proc /proc"),
        "no /sys": mounted("umount -l /sys"),
        "no /proc, no /sys": mounted("umount -l /sys && umount -l /proc"),
        "no /dev": mounted("mount -t tmpfs -o size=64k none /dev"),
        "/dev/shm read-only": mounted("mount -t tmpfs -o ro none /dev/shm"),
        "/dev/shm tiny": mounted("mount -t tmpfs -o size=4k none /dev/shm"),
        "/tmp read-only": mounted("mount -t tmpfs -o ro none /tmp"),
        "/tmp full": mounted("mount -t tmpfs -o size=4k none /tmp && cat /dev/zero >/tmp/full 2>/dev/null; true"),
        "no /etc/hosts": mounted("mount -t tmpfs none /etc"),
        "strange host name": ["unshare", "-u", "sh", "-c", 'hostname does-not-resolve.invalid && exec "$@"', "sh"],
        "no HOME": ["env", "-u", "HOME"],
        "HOME is missing": ["env", "HOME=/does/not/exist"],
        "no environment": ["env", "-i"],
        "no passwd entry": ["setpriv", "--reuid=65533", "--regid=65533", "--clear-groups"],
        "no memfd_create, no /dev/shm, no /tmp": mounted("mount -t tmpfs -o ro none /dev/shm && mount -t tmpfs -o ro none /tmp") + forbidden("EPERM", "memfd_create"),
        "memfd_create and no /proc": mounted("umount -l /proc") + forbidden("EPERM", "memfd_create"),
    }
    return ways
