"""Parallel HDF5's own tests (testpar in its sources), which read and write files through MPI-IO in all forms that the library has.

The library is built with our mpicc, without Fortran, C++ and compression, and each program is run as `make check` in testpar runs it.
"""

import re

from checks import Check
from sources import run_quietly

NAME = "hdf5"
PACKAGE = "hdf5"
RANKS = [2, 6]  # 6: as HDF5 runs them
# As TEST_PROG_PARA in testpar/Makefile.am has them.
PROGRAMS = ["t_mpi", "t_bigio", "testphdf5", "t_cache", "t_cache_image", "t_pread", "t_pshutdown", "t_prestart", "t_init_term", "t_shapesame",
            "t_filters_parallel"]
LEAST = {"t_cache": 3, "t_cache_image": 6}  # ranks; with fewer than 3 t_cache frees a type that it has not made
BEFORE = {"t_prestart": "t_pshutdown"}  # it opens what that one has left, and removes it
# t_cache_image has one process make its files, which takes most of its time: once is enough.
# Variables by which HDF5's tests are made shorter: 3 is the shortest.
SHORT = {"HDF5TestExpress": "3", "HDF5_PARAPREFIX": "."}


def build(place):
    folder, version = place.archive.source(PACKAGE, place.folder)
    there = folder / "build"
    there.mkdir(exist_ok=True)
    if not (there / "Makefile").exists():
        place.say("configuring")
        run_quietly(["../configure", "--enable-parallel", "--disable-fortran", "--disable-cxx", "--disable-hl", "--disable-shared", "--disable-tools",
                     "--without-zlib", "--without-szlib", "--disable-doxygen", f"CC={place.bin / 'mpicc'}", "CFLAGS=-O1 -w",
                     f"RUNPARALLEL={place.bin / 'mpiexec'} -n $${{NPROCS:=6}}"], place.logs / "configure.txt", cwd=there)
    place.say("building")
    run_quietly(["make", f"-j{place.jobs}", "-C", "src"], place.logs / "make.txt", cwd=there)
    run_quietly(["make", f"-j{place.jobs}", "-C", "test", "libh5test.la"], place.logs / "make.test.txt", cwd=there)
    run_quietly(["make", "-k", f"-j{place.jobs}", "-C", "testpar", *programs_of(place)], place.logs / "make.testpar.txt", cwd=there)
    return version


def programs_of(place):
    """Those that this version has."""
    known = (place.folder / "testpar/Makefile.am").read_text()
    return [name for name in PROGRAMS if re.search(rf"\b{name}\b", known)]


def checks(place):
    folder = place.folder / "build/testpar"  # where t_cache_image looks for itself, to start a process that writes its files
    for ranks in RANKS:
        for name in programs_of(place):
            if ranks >= LEAST.get(name, 1):
                script = " && ".join(f'"$@" ./{program}' for program in (BEFORE.get(name), name) if program)
                command = ["sh", "-c", script, "sh", place.bin / "mpiexec", "-n", ranks]
                yield Check(f"{ranks} ranks", name, command, folder, judge, timeout=900, environment=SHORT)


def judge(code, text):
    if code == 0 and not re.search(r"\*FAILED\*", text):
        return ""
    wrong = re.search(r"^.*(\*FAILED\*|Proc \d+: \*\*\*|error|aborted).*$", text, re.M)
    return f"exit code {code}: {(wrong[0] if wrong else text).strip()[:160]}"
