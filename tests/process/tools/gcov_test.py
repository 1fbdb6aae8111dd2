"""Counts of several ranks add up in the files of gcov: gcov_test.py MPIEXEC PROGRAM FOLDER GCOV."""
import pathlib
import re
import subprocess
import sys

RANKS = 8
ROUNDS = 5


def main():
    mpiexec, program, folder, gcov = sys.argv[1:]
    wanted = sum(1000 * (rank + 1) for rank in range(RANKS))
    for round_number in range(ROUNDS):
        for data in pathlib.Path(folder).rglob("counted*.gcda"):
            data.unlink()
        subprocess.run([mpiexec, "-n", str(RANKS), program], check=True, timeout=240)
        data, = pathlib.Path(folder).rglob("counted*.gcda")
        text = subprocess.run([gcov, "-t", data], check=True, capture_output=True, text=True).stdout
        counted = int(re.search(r"^ *(\d+):.*this line is counted", text, re.MULTILINE)[1])
        if counted != wanted:
            sys.exit(f"round {round_number}: gcov has counted {counted} calls of {wanted}")


main()
