"""A program on a leash: nothing that it starts outlives whoever has started it, however that one ends.

    process = start(command, ...)      the arguments of subprocess.Popen, but for stdin
    end(process)                       ends it with all that it has started

Between the two stands this file as a process of its own. It adopts every descendant of the program that loses its parent, in whatever
session or group that is, and kills them all when the program has ended, or when it reads the end of its standard input: then the process
that called start() has gone, be it by SIGKILL.
"""

import ctypes
import os
import select
import signal
import subprocess
import sys

PR_SET_CHILD_SUBREAPER = 36


def start(command, **options):
    # A session of its own, so that Ctrl-C reaches the caller alone, who then ends what is to be ended.
    return subprocess.Popen([sys.executable, "-ISB", __file__, *map(str, command)], stdin=subprocess.PIPE, start_new_session=True,
                            **options)


def end(process):
    process.stdin.close()
    try:
        os.killpg(process.pid, signal.SIGCONT)  # whoever has stopped it
        process.wait(timeout=10)
    except ProcessLookupError:
        pass  # it has ended, and was waited for
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def run(command, **options):
    """The exit code."""
    process = start(command, **options)
    try:
        return process.wait()
    finally:
        end(process)


def children():
    with open(f"/proc/self/task/{os.getpid()}/children", encoding="ascii") as listed:
        return [int(word) for word in listed.read().split()]


def kill_all():
    """Children of a killed child become ours, so there may be several rounds."""
    while left := children():
        for child in left:
            os.kill(child, signal.SIGKILL)
        for child in left:
            os.waitpid(child, 0)


def main():
    if ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        sys.exit(f"prctl(PR_SET_CHILD_SUBREAPER): {os.strerror(ctypes.get_errno())}")
    process = subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL)
    select.select([sys.stdin.fileno(), os.pidfd_open(process.pid)], [], [])
    code = process.poll()
    kill_all()
    sys.exit(128 + signal.SIGKILL if code is None else code if code >= 0 else 128 - code)


if __name__ == "__main__":
    main()
