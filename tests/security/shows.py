"""What other users see of a job, and where it can be reached: of each process the sockets at which it listens, and the words of its command line.
Prints a table for jobs on one host and on three, by ssh and by srun (programs that stand for them, which Clump gives the words for the real ones):

    tests/cluster/hosts.sh with DIR 4 env CLUMP_BUILD=build/release python3 tests/security/shows.py

docs/guide/security.md has the table, and wire_test looks whether it is still so. A star is what differs from job to job, ADDRESS that of the host."""

import contextlib
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "cluster"))
from cluster import CLUSTER, hosts, name_of, on, processes, program_of, tool, words_of  # noqa: E402
from listen_test import listening, sockets_of  # noqa: E402

RING = tool.BIN / "cluster_ring"
# It stays as long as what it runs: ps shows its words.
STAYS = """#!/bin/sh
while :; do case $1 in -o) shift 2 ;; --nodelist=*) host=${1#*=}; shift ;; -*) shift ;; *) break ;; esac; done
%s
"""
LAUNCHERS = {"ssh": f'{CLUSTER}/agent "$@"', "srun": f'{hosts.SCRIPT} run {CLUSTER} "$host" "$@"'}
JOBS = {
    "1 host": ("-n", 4),
    "3 hosts, ssh": ("--host", "h0,h1,h2", "-n", 6),
    "3 hosts, srun": ("--launcher", "slurm", "--host", "h0,h1,h2", "-n", 6),
}
ORDER = ("mpiexec", "ssh", "srun", "clump-supervise", "ranks")


def unix_names(pid: int) -> list:
    """Of sockets that the process has, those with a name that other users see."""
    own, found = sockets_of(pid), set()
    with contextlib.suppress(OSError):
        for line in pathlib.Path(f"/proc/{pid}/net/unix").read_text().splitlines()[1:]:
            words = line.split()
            if len(words) > 7 and int(words[6]) in own:
                found.add(re.sub(r"\b([0-9]+|[0-9a-f]{8,})\b", "*", " ".join(words[7:])))
    return sorted(found)


def command_line(pid: int) -> str:
    """What is Clump's and the launcher's, without the places that are this test's; the script that finds mpiexec there is cut."""
    words = words_of(pid)
    if words[:1] == ["/bin/sh"] and pathlib.Path(words[1]).name in LAUNCHERS:
        words = words[1:]
    words = [re.sub(r"/\S+/(?=[\w-]+( |$))", "", word) if word.startswith("/") else word for word in words]
    text = " ".join("'exec /bin/sh ...'" if word.startswith("exec ") else word for word in words)
    return re.sub(r" sh -c .*", " sh -c ...", text).replace("|", r"\|")


def kind(pid: int) -> str:
    words = words_of(pid)
    if program_of(pid) == RING.name:
        return "ranks"
    if name_of(pid) == "clump-supervise":
        return "clump-supervise"
    if words[:1] == ["/bin/sh"] and pathlib.Path(words[1]).name in LAUNCHERS:
        return pathlib.Path(words[1]).name
    return "mpiexec" if program_of(pid) == "mpiexec" else ""


def rows(job: str) -> list:
    """(host, process, where it listens, its names of sockets, its words) of a job that runs."""
    found = []
    for host in "h0", "h1", "h2":
        ports = {}
        for pid, _, address, _ in listening(host):
            ports.setdefault(pid, []).append(f"TCP {address}:*")
        for pid in processes(host):
            if what := kind(pid):
                found.append((job, host, what, ", ".join(ports.get(pid, ())), unix_names(pid), command_line(pid)))
    return found


def look_at(job: str) -> list:
    with tempfile.TemporaryDirectory() as folder:
        for name, rest in LAUNCHERS.items():
            path = pathlib.Path(folder, name)
            path.write_text(STAYS % rest)
            path.chmod(0o755)
        command = on("h0", "env", "-u", "PRTE_MCA_plm_ssh_agent", f"PATH={folder}:{os.environ['PATH']}", tool.BIN / "mpiexec", *JOBS[job], RING, 250)
        began = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        try:
            if began.stdout.readline() != "begun\n":
                raise AssertionError(f"{job}: it has not begun")
            return rows(job)
        finally:
            began.terminate()
            began.communicate(timeout=tool.HANGS)


def table() -> list:
    """The lines of all jobs; what hosts have alike is one."""
    alike = {}
    for job in JOBS:
        for name, host, what, listens, names, words in look_at(job):
            words = re.sub(r"(?<=--proxy )\d", "*", re.sub(r"(?<![,\w])h[12]\b(?!,)", "HOST", words))
            where, all_names = alike.setdefault((name, what, listens.replace(f"10.77.0.{int(host[1]) + 1}", "ADDRESS"), words), (set(), set()))
            where.add(host)
            all_names.update(names)
    lines = ["| job | on | process | listens | names of sockets | its command line |", "|---|---|---|---|---|---|"]
    in_order = lambda row: (list(JOBS).index(row[0][0]), ORDER.index(row[0][1]), row[0][3])
    for (name, what, listens, words), (where, names) in sorted(alike.items(), key=in_order):
        seen = [f"`{text}`" if text else "none" for text in (listens, ", ".join(sorted(names)))]
        lines.append(f"| {name} | {', '.join(sorted(where))} | {what} | {seen[0]} | {seen[1]} | `{words}` |")
    return lines


if __name__ == "__main__":
    print("\n".join(table()))
