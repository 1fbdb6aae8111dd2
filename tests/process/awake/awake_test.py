"""Runs woken, works or stuck once for each of its cases, all at the same time, as nearly all they do is to sleep.

usage: awake_test.py MPIEXEC PROGRAM MODE KIND [CASE ...]     KIND: woken, works, stuck, polls, queues; without CASE all of the kind"""

import os
import re
import subprocess
import sys
from pathlib import Path

MODES = {"fibers": {"CLUMP_SCHEDULER": "fibers"}, "threads": {"CLUMP_SCHEDULER": "threads"}, "processes": {"CLUMP_RANKS": "processes"},
         "pairs": {"CLUMP_SCHEDULER": "fibers", "CLUMP_PER_PROCESS": "2"}}  # fmt: skip
DEADLOCK = "deadlock: every rank waits for what cannot come any more"
# By kind: options of mpiexec; the exit code; what it prints; what mpiexec says.
KINDS = {"woken": ([], 1, "woken\n", DEADLOCK), "queues": ([], 1, "woken\n", DEADLOCK), "stuck": ([], 1, "", DEADLOCK), "works": (["--hang-after", "1"], 0, "done\n", ""),
         "polls": (["--hang-after", "1"], 1, "", "no progress: nothing has moved in MPI for 1 s")}  # fmt: skip
# It hangs, if it takes longer.
LIMIT = 120


def cases(kind: str) -> list:
    """Those of the table in the program's sources."""
    folder = Path(__file__).parent
    text = (folder / ("sources.h" if kind == "woken" else f"{kind}.c")).read_text()
    return re.findall(r'^    \{"(\w+)",', text, re.MULTILINE)


def main() -> None:
    mpiexec, program, mode, kind, *chosen = sys.argv[1:]
    options, code, out, said = KINDS[kind]
    environment = {**os.environ, **MODES[mode], "CLUMP_OBSERVER_PAUSE": "100"}
    ranks = "4" if mode == "pairs" else "2"
    jobs = {}
    for case in chosen or cases(kind):
        jobs[case] = subprocess.Popen([mpiexec, *options, "-n", ranks, program, case], env=environment, stdout=subprocess.PIPE,
                                      stderr=subprocess.PIPE, text=True)
    wrong = 0 if jobs else 1
    for case, job in jobs.items():
        try:
            printed, told = job.communicate(timeout=LIMIT)
        except subprocess.TimeoutExpired:
            job.terminate()
            printed, told = job.communicate()
            told = f"not ended after {LIMIT} s\n{told}"
        if job.returncode != code or printed != out or said not in told:
            wrong += 1
            print(f"{kind} {case} as {mode}: code {job.returncode}, printed '{printed}', and:\n{told}")
    sys.exit(1 if wrong else 0)


main()
