"""mpi4py's own test suite, each of its modules by itself, as its test/main.py runs it.

Tests of mpi4py.futures and of spawn start processes of their own; under the other libraries they are switched off, with mpi4py's variable for that.
"""

import python

NAME = "mpi4py"


def build(place):
    for environment in python.environments(place) + python.wheels(place)[:1]:
        environment.install(place, ["cffi", "dill", "pyyaml"])  # without these, some tests are skipped
    return python.sources(place, python.MPI4PY)[1]


def checks(place):
    tests = place.folder / "test"
    differences = python.read_differences("mpi4py_differences.txt")
    for ranks in python.ranks_on(place.hosts, python.RANKS):
        for environment in python.environments(place) + python.wheels(place):
            for module in sorted(path.stem for path in tests.glob("test_*.py")):
                spawn = {"MPI4PY_TEST_SPAWN": "yes" if environment.way == python.OURS and not place.hosts else "no"}
                yield python.Tests(module, ["mpi4py", tests, "-i", rf"^{module}\.py$"], tests, differences, spawn).check(place, environment, ranks)
