"""Does mpiexec's loop wait only in poll()? It has one thread, which hears signals, --timeout and failures there: a call that waits for a reader, for a
writer or for a process makes mpiexec deaf. So tools/mpiexec reads, writes, connects and reaps without waiting, but for the places that are named here.

  check_blocking.py ROOT
"""

import re
import sys
from collections import Counter
from pathlib import Path

CALLS = re.compile(r"(?:(?<![\w>])::(read|write|pread|readv|writev|recv|recvfrom|recvmsg|send|sendto|sendmsg|connect|accept|accept4|wait|waitpid|waitid|wait4)"
                   r"|\b(fmt::print|print_out|print_error|pmi::send|std::fputs|std::fwrite|std::fflush|sleep_for|sleep_until)|\.(wait)(?=\(-1\)))\(")
NO_WAIT = re.compile(r"MSG_DONTWAIT|WNOHANG|SOCK_NONBLOCK")
NO_CODE = re.compile(r'//[^\n]*|"(?:\\.|[^"\\\n])*"')

# (file, call): how often it is there, and why it waits for nothing, or may.
ALLOWED = {
    # Before the loop, and behind it.
    ("command/main.cc", "print_error"): (10, "before anything is started, or when the job is over: signals have their usual effect"),
    ("command/main.cc", "print_out"): (3, "before anything is started: signals have their usual effect"),
    ("cluster/proxy.cc", "print_error"): (5, "before the loop of a proxy"),
    ("cluster/proxy.cc", "wait"): (1, "a proxy waits for what it is to run"),
    # Files, which have no reader; and descriptors that are non-blocking.
    ("job/thread_sanitizer.cc", "write"): (1, "to a file in memory"),
    ("job/explore.cc", "pread"): (1, "from a file in memory"),
    ("job/explore.cc", "write"): (1, "when the runs have ended: signals have their usual effect"),
    ("job/explore.cc", "fmt::print"): (2, "signals have their usual effect"),
    ("job/explore.cc", "print_error"): (3, "signals have their usual effect"),
    ("job/explore.cc", "waitpid"): (1, "for a run, which is an mpiexec of its own: signals have their usual effect"),
    ("job/records.cc", "std::fwrite"): (1, "files, when the ranks have ended"),
    ("job/records.cc", "sleep_until"): (1, "5 ms at most"),
    ("output/output_buffer.cc", "write"): (3, "only what the descriptor takes: see find_way()"),
    ("output/ranks_output.cc", "read"): (1, "the pipes are non-blocking"),
    ("cluster/frame_stream.cc", "read"): (1, "the descriptors are non-blocking"),
    ("cluster/frame_stream.cc", "write"): (1, "the descriptors are non-blocking"),
    ("cluster/channels.cc", "read"): (1, "the descriptors are non-blocking"),
    ("cluster/channels.cc", "write"): (1, "the descriptors are non-blocking"),
    ("cluster/launcher_line.cc", "read"): (1, "the pipe is non-blocking"),
    ("cluster/proxy_relay.cc", "write"): (1, "a line, when the stream is over"),
    ("cluster/arrivals.cc", "write"): (1, "to the terminal, before the loop: signals have their usual effect"),
    ("keys/invitation.cc", "write"): (1, "to a file"),
    ("keys/invitation.cc", "pread"): (1, "from a file"),
    ("keys/invitation.cc", "read"): (1, "a proxy that the user has started, before its loop"),
    ("keys/invitation.cc", "print_error"): (2, "a proxy that the user has started, before its loop"),
    ("keys/invitation.cc", "sleep_for"): (1, "a proxy, before its loop"),
    ("job/successors.cc", "pmi::send"): (1, "one packet, on a socket that has none"),
    # Threads and processes of their own.
    ("job/distribution.cc", "read"): (1, "a thread that does nothing else"),
    ("job/distribution.cc", "write"): (1, "a thread that does nothing else, to non-blocking descriptors"),
    ("job/distribution.cc", "sleep_for"): (1, "a thread that does nothing else"),
    ("job/distribution.cc", "wait"): (1, "a thread that does nothing else"),
    ("cluster/record_collector.cc", "recv"): (1, "threads that do nothing else; a proxy before its ranks begin, and when they have ended"),
    ("cluster/record_collector.cc", "send"): (1, "the same"),
    ("cluster/record_collector.cc", "pread"): (1, "a proxy when its ranks have ended"),
    ("cluster/record_collector.cc", "wait"): (1, "a thread that does nothing else"),
    ("job/supervisor.cc", "send"): (1, "the supervisor, to mpiexec"),
    ("job/descendants.cc", "waitpid"): (2, "the supervisor, behind SIGKILL"),
    ("gdb/gdb.cc", "read"): (1, "a process that only carries bytes between gdb and a host"),
    ("gdb/gdb.cc", "write"): (1, "a process that only carries bytes between gdb and a host"),
    ("gdb/gdb.cc", "wait"): (1, "a process that only carries bytes between gdb and a host"),
    ("gdb/gdb.cc", "waitpid"): (1, "for gdb, behind SIGKILL"),
}


def problems_in(root, allowed):
    used = Counter()
    folder = root / "tools" / "mpiexec"
    for path in sorted(folder.rglob("*")):
        if path.suffix not in {".h", ".cc"} or path.name.endswith("_test.cc"):
            continue
        name = path.relative_to(folder).as_posix()
        text = NO_CODE.sub(lambda found: re.sub(r"[^\n]", " ", found.group()), path.read_text())
        for match in CALLS.finditer(text):
            call = next(filter(None, match.groups()))
            if NO_WAIT.search(text[match.start():text.index(";", match.start())]):
                continue
            used[name, call] += 1
            if used[name, call] > allowed.get((name, call), (0, ""))[0]:
                line = text.count("\n", 0, match.start()) + 1
                yield (f"tools/mpiexec/{name}:{line}: {call}() may wait, and mpiexec hears no signal then: use MSG_DONTWAIT, WNOHANG, output_buffer() or "
                       "poll(), or say in check_blocking.py why it does not")
    for (name, call), (count, _) in sorted(allowed.items()):
        if used[name, call] < count:
            yield f"check_blocking.py: {call}() is {used[name, call]} times in tools/mpiexec/{name}, and not {count} times"


def main():
    problems = list(problems_in(Path(sys.argv[1]), ALLOWED))
    print("\n".join(problems), end="\n" if problems else "")
    return int(bool(problems))


if __name__ == "__main__":
    sys.exit(main())
