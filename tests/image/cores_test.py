"""cores_test.py MPIEXEC PROGRAM: ranks that are fibers share the cores, and see their share."""

import os
import subprocess
import sys


def run(mpiexec, program, cores, ranks, share):
    command = [mpiexec, "--scheduler", "fibers", "--cores", ",".join(map(str, cores)), "-n", str(ranks), program, str(share)]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("OMP_")}
    done = subprocess.run(command, capture_output=True, text=True, timeout=240, check=False, env=environment)
    if done.returncode == 0:
        return 0
    print(" ".join(command), done.stdout, done.stderr, sep="\n")
    return 1


def main():
    mpiexec, program = sys.argv[1:]
    cores = sorted(os.sched_getaffinity(0))
    failures = run(mpiexec, program, cores, 1, len(cores))
    failures += run(mpiexec, program, cores, 2 * len(cores), 1)
    failures += run(mpiexec, program, cores[:1], 3, 1)
    if len(cores) >= 4:
        failures += run(mpiexec, program, cores[:4], 2, 2)
    return failures


sys.exit(main())
