"""PnetCDF's own parallel tests: what `make ptest` runs in its test folders, each program by itself, and its validator on the file that it leaves.

The library is built with our mpicc, without Fortran and C++. PnetCDF uses MPI-IO for all that it does: views by derived types, collective and
independent access, and non-blocking requests of its own, which become one collective access.
"""

import re
import shutil
import subprocess

from checks import Check, first_words
from python import OURS
from sources import Missing, run_quietly

NAME = "pnetcdf"
PACKAGE = "pnetcdf"
RANKS = 4  # as `make ptest` runs them
FOLDERS = ["C", "cdf_format", "header", "testcases", "nonblocking"]
# What a program is given instead of the name of a file to write; None: its folder's parallel_run.sh does not run it.
ARGUMENTS = {"tst_version": "", "test_inq_format": "{source}", "tst_open_cdf5": None, "tst_corrupt": None}
AFTER = {"pres_temp_4D_rd": "pres_temp_4D_wr"}  # it reads what that one writes
LEAVES = {"put_all_kinds": ["1", "2", "5"], "iput_all_kinds": ["1", "2", "5"], "mcoll_perf": []}  # ends of the names of files; otherwise one


def build(place):
    folder, version = place.archive.source(PACKAGE, place.folder)
    if not (folder / "configure").exists():
        lacking = [name for name in ("autoreconf", "libtoolize", "m4") if shutil.which(name) is None]
        if lacking:
            raise Missing(f"{', '.join(lacking)}: the sources have no configure script; Debian's packages autoconf, automake, libtool and m4 make one")
        place.say("making configure")
        run_quietly(["autoreconf", "-i"], place.logs / "autoreconf.txt", cwd=folder)
    there = folder / "build"
    there.mkdir(exist_ok=True)
    if not (there / "Makefile").exists():
        place.say("configuring")
        run_quietly(["../configure", "--disable-fortran", "--disable-cxx", "--disable-shared", f"MPICC={place.bin / 'mpicc'}", "CFLAGS=-O1 -w"],
                    place.logs / "configure.txt", cwd=there)
    place.say("building")
    run_quietly(["make", f"-j{place.jobs}", "-C", "src"], place.logs / "make.txt", cwd=there)
    for part in ["common", *FOLDERS]:
        run_quietly(["make", f"-j{place.jobs}", "-C", f"test/{part}", "tests"], place.logs / f"make.{part}.txt", cwd=there)
    return version


def programs_of(folder):
    """Those that the folder's Makefile has."""
    rules = "include Makefile\nprint:\n\t@echo $(check_PROGRAMS)\n"
    return subprocess.run(["make", "-s", "-C", folder, "-f", "-", "print"], input=rules, capture_output=True, text=True, check=True).stdout.split()


def checks(place):
    for part in FOLDERS:
        for name in programs_of(place.folder / "build/test" / part):
            if ARGUMENTS.get(name, "") is None:
                continue
            yield make_check(place, part, name)
            yield make_check(place, part, name, way=OURS)


def make_check(place, part, name, way=""):
    source, written = place.folder / "test" / part, name in ARGUMENTS
    argument = ARGUMENTS[name].format(source=source) if written else '"$file"'
    runs = [f'"$@" ./{program} {argument}' for program in (AFTER.get(name), name) if program]
    if not written:
        runs += [f'{place.folder / "build/src/utils/ncvalidator/ncvalidator"} -q "${{file}}{end}"' for end in LEAVES.get(name, [""])]
    script = f'file=out.$$/{name}.nc; mkdir out.$$ && trap "rm -rf out.$$" EXIT; ' + " && ".join(runs)
    command = ["sh", "-c", script, "sh", place.bin / "mpiexec", *(["--ranks", "processes"] if way else []), "-n", RANKS]
    return Check(part, name, command, place.folder / "build/test" / part, judge, timeout=300, way=way)


def judge(code, text):
    if code == 0 and not re.search(r"\bfail", text, re.I):
        return ""
    wrong = re.search(r"^.*(fail|error|mismatch).*$", text, re.M | re.I)
    return f"exit code {code}: {wrong[0].strip()[:160] if wrong else first_words(text)}"
