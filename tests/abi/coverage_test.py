"""Does `clump info --coverage` count what `clump info --missing` lists, and name all of it?  coverage_test.py CLUMP"""

import re
import subprocess
import sys

FUNCTIONS = 664


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def main():
    clump = sys.argv[1]
    missing = set(output(clump, "info", "--missing").split())
    counted, _, rest = output(clump, "info", "--coverage").partition("What remains:")
    rows = re.findall(r"^ +(\d+) of +(\d+)  (.*)$", counted, re.MULTILINE)
    *chapters, (have, of, last) = rows
    named = set()
    for name in re.findall(r"^    +(MPI_.*)$", rest, re.MULTILINE):
        for word in name.split():
            base = word.removesuffix("(_c)")
            named.update({base, base + "_c"} if word != base else {base})
    wrong = []
    if last != "in all" or int(of) != FUNCTIONS or int(have) != FUNCTIONS - len(missing):
        wrong.append(f"the sum is {have} of {of}, and {len(missing)} are missing")
    if sum(int(row[0]) for row in chapters) != int(have) or sum(int(row[1]) for row in chapters) != FUNCTIONS:
        wrong.append("the chapters do not add up")
    if named != missing:
        wrong.append(f"named by one of them only: {', '.join(sorted(named ^ missing))}")
    for line in wrong:
        print(line)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
