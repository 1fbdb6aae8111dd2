"""numba-mpi's own tests: compiled Python that calls the MPI library through ctypes, past mpi4py.

numba-mpi 1.3.1 knows no MPI library with the standard ABI, whosever it is: it looks for a file named libmpich, libmpi, libmsmpi or libimpi
among those that the process has mapped, and takes a status for five ints. Both are said to it here, in a copy of its own.
"""

import re

import python

NAME = "numba-mpi"
REQUIREMENT = "numba-mpi==1.3.1"
RANKS = [2, 3]  # its conftest wants more than one; each compiles everything for itself


def build(place):
    folder, version = python.sources(place, REQUIREMENT)
    for environment in python.environments(place):
        environment.install(place, ["numba", "psutil"])
    common = folder / "numba_mpi/common.py"
    text = common.read_text()
    text = text.replace('names = ("mpich", "mpi", "msmpi", "impi")', 'names = ("mpich", "mpi", "msmpi", "impi", "mpi_abi")')
    text = re.sub(r"np\.empty\(count \* 5, dtype=np\.intc\)", "np.empty(count * 8, dtype=np.intc)", text)
    common.write_text(text)
    return version


def checks(place):
    tests = place.folder / "tests"
    for ranks in python.ranks_on(place.hosts, RANKS):
        for environment in python.environments(place):
            for path in sorted(tests.glob("api/test_*.py")):
                yield python.Tests(path.stem, ["pytest", "-q", "-p", "no:unraisableexception", path], place.folder, [],
                                   {"PYTHONPATH": place.folder}).check(place, environment, ranks)
