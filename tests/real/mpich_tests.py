"""The tests of MPICH's C interface (test/mpi in its sources), built with our mpicc and judged as their own runtests judges them.

Left out are the folders of what Clump does not have: one-sided communication, files, spawn, Fortran; C++ is no part of MPI any more.
mpich_differences.txt says which other tests are not run, and why.
"""

import fnmatch
import re
import subprocess
from pathlib import Path

from checks import Check, first_words
from sources import run_quietly

NAME = "mpich-tests"
PACKAGE = "mpich"
FOLDERS = ["attr", "coll", "comm", "datatype", "errhan", "group", "info", "init", "mpi_t", "part", "pt2pt", "topo",
           "threads/coll", "threads/comm", "threads/init", "threads/mpi_t", "threads/part", "threads/pt2pt",
           "errors/attr", "errors/basic", "errors/coll", "errors/comm", "errors/datatype", "errors/group", "errors/pt2pt", "errors/topo"]
MANY = 100_000  # messages of so many random datatypes, thousands of times


def build(place):
    folder, version = place.archive.source(PACKAGE, place.folder, members=["test/mpi", "maint/version.m4"])
    tests = folder / "test/mpi"
    wrapper = place.bin / "mpicc"
    if not (tests / "Makefile").exists():
        place.say("configuring")
        run_quietly(["./configure", f"--with-mpi={place.bin.parent}", "--enable-fortran=none", "--disable-cxx", "--disable-romio",
                     "--disable-spawn", "--disable-rma", "--disable-perftest", "--disable-collalgo-tests", "--enable-threads=multiple",
                     "--enable-strictmpi", f"MPICC={wrapper}", f"MPICXX={place.bin / 'mpicxx'}", "CFLAGS=-O1 -g"], place.logs / "configure.txt", cwd=tests)
    flags = f"CPPFLAGS=-include {Path(__file__).with_name('mpich_compat.h')}"
    # What does not compile is found out when its turn to run comes.
    for part in ["util", "dtpools", *FOLDERS]:
        place.say(f"building {part}")
        goals = ["all"] if part in ("util", "dtpools") else ["check-am", "TESTS="]
        command = ["make", "-k", f"-j{place.jobs}", "-C", tests / part, *goals, flags]
        with (place.logs / f"make.{part.replace('/', '.')}.txt").open("w") as log:
            leash.run(command, stdout=log, stderr=subprocess.STDOUT)
    return version


def checks(place):
    tests, differences = place.folder / "test/mpi", read_differences()
    for folder in FOLDERS:
        numbers = {}
        lines = [line for name in ("testlist", "testlist.dtp") if (tests / folder / name).exists()
                 for line in (tests / folder / name).read_text().splitlines()]
        for line in lines:
            words = line.split("#")[0].split()
            if not words or (tests / folder / words[0]).is_dir():
                continue
            program, ranks = words[0], words[1] if len(words) > 1 else "2"
            settings = [word.partition("=")[::2] for word in words[2:]]
            if any(key == "env" or (key == "strict" and value.lower() == "false") for key, value in settings):
                continue  # the same test again with a variable of MPICH's, or a test of what is MPICH's own
            numbers[program] = numbers.get(program, 0) + 1
            name = f"{program}.{ranks}" if numbers[program] == 1 else f"{program}.{ranks}.{numbers[program]}"
            yield make_check(place, folder, name, (program, ranks, settings), differences)


def make_check(place, folder, name, line, differences):
    program, ranks, settings = line
    options = dict(settings)
    where = place.folder / "test/mpi" / folder
    skip = next((reason for pattern, reason in differences if fnmatch.fnmatch(f"{folder}/{program}", pattern)), "")
    if not skip and "xfail" in options:
        skip = "MPICH's list says that it fails with MPICH"
    if not skip and (int(options.get("timeLimit", 0)) > 240 or any(number > MANY for number in counts_of(settings))):
        skip = "takes a minute or more"
    if not skip:
        skip = unbuilt_functions(place, where, program)
    arguments = [value for key, value in settings if key == "arg"]
    return Check(folder, name, [place.bin / "mpiexec", "-n", ranks, where / program, *arguments], where,
                 JUDGES[options.get("resultTest", "")], skip, min(60, int(options.get("timeLimit", 60))))


def counts_of(settings):
    """The counts among a test's arguments."""
    return [int(found[1]) for key, value in settings if key == "arg" and (found := re.fullmatch(r"-(?:\w*cnt|count)=(\d+)", value))]


def read_differences():
    """[(pattern of folder/program, reason)]"""
    lines = Path(__file__).with_name("mpich_differences.txt").read_text().splitlines()
    return [(pattern, reason.strip()) for pattern, _, reason in (line.partition(" ") for line in lines if line and line[0] != "#")]


def unbuilt_functions(place, folder, program):
    """Functions without a body that the program itself calls; what the suite's own library might call does not count."""
    objects = [folder / f"{program}.o", *folder.glob(f"{program}-*.o")]
    called = set()
    for name in objects:
        if name.exists():
            symbols = subprocess.run(["nm", "-u", name], capture_output=True, text=True, check=False).stdout.split()
            called |= {symbol.removeprefix("P") for symbol in symbols if symbol.startswith(("MPI_", "PMPI_"))}
    missing = sorted(called & place.missing)
    return f"needs {', '.join(missing[:3])}{' ...' if len(missing) > 3 else ''}" if missing else ""


def no_errors(code, text):
    """One line 'No Errors' and nothing else."""
    lines = [line for line in text.splitlines() if line.strip()]
    wrong = [line for line in lines if not re.fullmatch(r"\s*(No [Ee]rrors|Test Passed)\s*", line)]
    if wrong or code != 0:
        return f"exit code {code}: {first_words(chr(10).join(wrong))}"
    return "" if lines else "it did not print 'No Errors'"


def fails_silently(code, text):
    """Output is allowed, and the exit code must not be 0."""
    return "" if code != 0 else f"exit code 0, but the job should have failed: {first_words(text)}"


def no_errors_but_fails(code, text):
    return no_errors(0, text) or fails_silently(code, text)


JUDGES = {"": no_errors, "TestStatus": fails_silently, "TestErrFatal": fails_silently, "TestStatusNoErrors": no_errors_but_fails}
