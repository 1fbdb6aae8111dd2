"""Ways to restrict what the system gives to a job: each is the beginning of a command line, which runs what stands behind it."""

import os
import pathlib
import shlex
import stat

FORBID = os.path.join(os.environ["CLUMP_BUILD"], "bin", "restricted_forbid")

# Where the programs are that run under a restriction: the checkout, and the build tree if it lies elsewhere.
CHECKOUT, BUILD = pathlib.Path(__file__).resolve().parents[2], pathlib.Path(os.environ["CLUMP_BUILD"]).resolve()
TREES = [CHECKOUT] if CHECKOUT in BUILD.parents else [CHECKOUT, BUILD]

# What the filters of container runtimes forbid: each alone, and all of a kind together.
CALLS_WITH_USE = ("membarrier", "signalfd4", "memfd_create", "process_vm_readv,process_vm_writev", "pidfd_open", "eventfd2",
                  "timerfd_create", "epoll_create1", "get_mempolicy,set_mempolicy,mbind", "personality", "sched_setaffinity",
                  "sched_getaffinity", "prlimit64", "madvise", "timer_create")
CALLS_OF_OTHERS = "io_uring_setup,userfaultfd,perf_event_open,ptrace,rseq,epoll_pwait2,close_range,statx,unshare"


def limit(words):
    return ["bash", "-c", f'ulimit {words} && exec "$@"', "bash"]


def mounted(commands):
    """In a mount namespace of its own."""
    return ["unshare", "-m", "sh", "-c", f'{commands} && exec "$@"', "sh"]


def over(place, options=""):
    """Commands that mount an empty file system over a folder. Trees that lie below the folder are in it again."""
    hidden = [tree for tree in TREES if pathlib.Path(place).resolve() in tree.parents]
    commands, readers = [], []
    for number, tree in enumerate(hidden, 3):
        commands.append(f"exec {number}<{shlex.quote(str(tree))}")
        # By its number: its name leads into the new file system. -c: mount looks up no other name for it.
        readers.append(f"mkdir -p {shlex.quote(str(tree))} && mount -c --bind /proc/self/fd/{number} {shlex.quote(str(tree))} && exec {number}<&-")
    options = [word for word in options.split(",") if word]
    first = ",".join(word for word in options if word != "ro" or not hidden)
    commands.append(f"mount -t tmpfs {f'-o {first}' if first else ''} none {place}")
    commands += readers
    if hidden:
        commands.append("cd /")  # what was the working directory may be hidden
        if "ro" in options:
            commands.append(f"mount -o remount,bind,ro {place}")
    return " && ".join(commands)


def as_other_user():
    """A user without rights. Where a folder above the trees is closed to all but its owner, an open one is in its place."""
    above = sorted({parent for tree in TREES for parent in (tree, *tree.parents)[::-1]})
    closed = [folder for folder in above if not folder.stat().st_mode & stat.S_IXOTH and folder not in TREES]
    user = ["setpriv", "--reuid=65533", "--regid=65533", "--clear-groups"]
    return [*mounted(over(closed[0], "mode=755")), *user] if closed else user


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
    # Whom the kernel holds to ulimit -u.
    ways |= {f"ulimit -u {tasks}": [*as_other_user(), *limit(f"-u {tasks}")] for tasks in (1, 3, 8, 20)}
    ways |= {f"ulimit -d {kib}": limit(f"-d {kib}") for kib in (2000, 10000, 50000)}
    ways |= {f"ulimit -l 0": limit("-l 0"), "ulimit -i 0": limit("-i 0"), "ulimit -q 0": limit("-q 0")}
    ways |= {
        "no /proc": mounted("umount -l /proc"),
        "/proc hidepid=2": mounted("mount -t proc -o hidepid=2 proc /proc"),
        "no /sys": mounted("umount -l /sys"),
        "no /proc, no /sys": mounted("umount -l /sys && umount -l /proc"),
        "no /dev": mounted(over("/dev", "size=64k")),
        "/dev/shm read-only": mounted(over("/dev/shm", "ro")),
        "/dev/shm tiny": mounted(over("/dev/shm", "size=4k")),
        "/tmp read-only": mounted(over("/tmp", "ro")),
        "/tmp full": mounted(over("/tmp", "size=4k") + " && { cat /dev/zero >/tmp/full 2>/dev/null; true; }"),
        "no /etc/hosts": mounted(over("/etc")),
        "strange host name": ["unshare", "-u", "sh", "-c", 'hostname does-not-resolve.invalid && exec "$@"', "sh"],
        "no HOME": ["env", "-u", "HOME"],
        "HOME is missing": ["env", "HOME=/does/not/exist"],
        "no environment": ["env", "-i"],
        "no passwd entry": as_other_user(),
        "no memfd_create, no /dev/shm, no /tmp": mounted(over("/dev/shm", "ro") + " && " + over("/tmp", "ro")) + forbidden("EPERM", "memfd_create"),
        "memfd_create and no /proc": mounted("umount -l /proc") + forbidden("EPERM", "memfd_create"),
    }
    return ways
