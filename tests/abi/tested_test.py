"""Is every function that has a body called by a program of tests/mpi?  tested_test.py --functions FILE --programs FOLDER --nm NM"""

import argparse
import re
import subprocess
import sys
from pathlib import Path


def called_by(nm, programs):
    symbols = subprocess.run([nm, "-D", "--undefined-only", *programs], check=True, capture_output=True, text=True).stdout
    return {name.removeprefix("P") for name in re.findall(r"^ +U (P?MPI_\w+)", symbols, re.MULTILINE)}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--functions", type=Path, required=True, help="the generator's functions.inc")
    parser.add_argument("--programs", type=Path, required=True, help="where the programs mpi_<chapter>_<name> are")
    parser.add_argument("--nm", required=True)
    options = parser.parse_args()
    rows = re.findall(r'\{"(MPI_\w+)", "\w+", (true|false)\}', options.functions.read_text())
    built = {name for name, has_body in rows if has_body == "true"}
    programs = sorted(path for path in options.programs.glob("mpi_*") if path.is_file())
    called = called_by(options.nm, programs)
    untested = sorted(built - called)
    if not built or untested:
        print(f"{len(untested)} of {len(built)} functions are in no test program of {len(programs)}: {', '.join(untested)}")
        return 1
    print(f"all {len(built)} functions are called by one of {len(programs)} test programs")
    return 0


if __name__ == "__main__":
    sys.exit(main())
