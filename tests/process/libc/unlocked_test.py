"""unlocked_test.py LINES MPIEXEC OPTIONS... PROGRAM: each rank's lines of unlocked.c come whole and in order."""

import re
import subprocess
import sys

RANKS = 8


def main():
    lines, mpiexec, *words = sys.argv[1:]
    run = subprocess.run([mpiexec, "-n", str(RANKS), *words], capture_output=True, text=True, timeout=240, check=False)
    next_of = [0] * RANKS
    bad = []
    for line in run.stdout.splitlines():
        match = re.fullmatch(r"rank (\d) line (\d+) abcdefghijklmnopqrstuvwxyz", line)
        if match is None:
            bad.append(f"a line that no rank has printed: {line!r}")
            continue
        rank, number = map(int, match.groups())
        if number != next_of[rank]:
            bad.append(f"line {number} of rank {rank} comes after line {next_of[rank] - 1}")
        next_of[rank] = number + 1
    if run.returncode != 0 or bad or next_of != [int(lines)] * RANKS:
        sys.exit("\n".join([f"exit code {run.returncode}, lines {next_of}", *bad[:20], run.stderr]))


main()
