"""expect_lines.py EXPECTED RANKS MPIEXEC PROGRAM...: every rank prints the lines of the file EXPECTED, in their order.

"{r}" stands for the rank in a line; a line that begins with "exit " tells the exit code of the job, 0 if there is none.
"""

import subprocess
import sys


def main():
    expected_path, ranks, mpiexec, *program = sys.argv[1:]
    with open(expected_path, encoding="utf-8") as file:
        expected = file.read().splitlines()
    code = 0
    if expected and expected[-1].startswith("exit "):
        code = int(expected.pop().split()[1])

    run = subprocess.run([mpiexec, "-n", ranks, "--tag-output", *program], capture_output=True, text=True, timeout=240, check=False)
    bad = []
    if run.returncode != code:
        bad.append(f"exit code {run.returncode}, not {code}")
    for rank in range(int(ranks)):
        tag = f"[{rank}] "
        got = [line[len(tag):] for line in run.stdout.splitlines() if line.startswith(tag)]
        wanted = [line.replace("{r}", str(rank)) for line in expected]
        if got != wanted:
            bad.append(f"rank {rank} printed {got}, not {wanted}")
    if bad:
        print("\n".join(bad))
        print(run.stdout, run.stderr, sep="\n")
    return 1 if bad else 0


sys.exit(main())
