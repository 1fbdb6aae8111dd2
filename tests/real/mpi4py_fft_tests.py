"""mpi4py-fft's own tests: FFTs of distributed arrays over mpi4py, compiled with Debian's FFTW, which is unpacked beside it."""

import python

NAME = "mpi4py-fft"
REQUIREMENT = "mpi4py-fft==2.0.6"
FFTW = ["libfftw3-dev", "libfftw3-double3", "libfftw3-single3", "libfftw3-long3"]
RANKS = [1, 2, 3, 5]  # test_mpifft wants fewer than 6
NO_MODULES = {
    "test_speed",  # measures
    "test_io",     # needs HDF5 or NetCDF on files of MPI
}
NO_TEST = "test_timelimit"  # no MPI in it: FFTW's planner has to keep to 10 ms, and fails to where others use the cores


def build(place):
    root = place.archive.packages(FFTW, place.folder.parent / "fftw3-packages") / "usr"
    libraries = next(root.glob("lib/*/libfftw3.so")).parent
    # What pip may have kept from another checkout has that one's paths in it.
    where = {"PIP_NO_CACHE_DIR": "1", "FFTW_ROOT": root, "FFTW_INCLUDE_DIR": root / "include", "FFTW_LIBRARY_DIR": libraries,
             "LDFLAGS": f"-Wl,-rpath,{libraries}"}
    for environment in python.environments(place):
        environment.install(place, ["cython", "setuptools", "scipy"])
        environment.install(place, [REQUIREMENT], **where)
    return python.sources(place, REQUIREMENT, **where)[1]


def checks(place):
    tests = place.folder / "tests"
    for ranks in python.ranks_on(place.hosts, RANKS):
        for environment in python.environments(place):
            for path in sorted(tests.glob("test_*.py")):
                if path.stem not in NO_MODULES:
                    how = ["pytest", "-q", "-k", f"not {NO_TEST}", path]
                    yield python.Tests(path.stem, how, tests, [], {}).check(place, environment, ranks)
