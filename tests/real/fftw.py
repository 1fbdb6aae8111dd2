"""FFTW's own checks of its MPI transforms: mpi-bench, driven by tests/check.pl as `make check` in mpi/ does it, with random problems."""

import re

from checks import Check
from sources import run_quietly

NAME = "fftw"
PACKAGE = "fftw3"
RANKS = [1, 2, 3, 4, 7, 16]
PROBLEMS = 10  # random problems of each check


def build(place):
    folder, version = place.archive.source(PACKAGE, place.folder)
    there = folder / "build"
    there.mkdir(exist_ok=True)
    if not (there / "Makefile").exists():
        place.say("configuring")
        run_quietly(["../configure", "--enable-mpi", "--disable-fortran", "--disable-doc", "--disable-shared", f"MPICC={place.bin / 'mpicc'}",
                     "CFLAGS=-O1"], place.logs / "configure.txt", cwd=there)
    place.say("building")
    run_quietly(["make", f"-j{place.jobs}"], place.logs / "make.txt", cwd=there)
    return version


def checks(place):
    for ranks in RANKS:
        # More ranks make each plan slower to find, because the plans are measured.
        problems = max(2, PROBLEMS * 2 // (ranks + 1))
        program = f"{place.bin / 'mpiexec'} -n {ranks} {place.folder / 'build/mpi/mpi-bench'}"
        command = ["perl", "-w", place.folder / "tests/check.pl", "--verbose", "--random", "--maxsize=5000", f"-c={problems}", "--mpi",
                   program]
        yield Check(f"{ranks} ranks", "random", command, place.folder / "build/mpi", judge, timeout=240)


def judge(code, text):
    if code != 0:
        end = [line for line in text.splitlines() if line.strip()][-1:]
        return f"exit code {code}: {' '.join(end)[:160]}"
    verified = re.findall(r"^\S+ (\S+) (\S+) (\S+)$", text, re.M)  # a problem and its three errors
    return "" if verified else "it verified nothing"
