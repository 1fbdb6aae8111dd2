"""Boost.MPI's tests, with the numbers of ranks that its Jamfile gives, and some of its own.

Boost.MPI is built from source with our mpicxx; the rest of Boost, and Boost.Serialization's library, are Debian's packages, unpacked.
"""

from checks import Check, exit_code_zero
from sources import run_quietly

NAME = "boost-mpi"
PACKAGE = "boost1.81"
LIBRARIES = ["libboost1.81-dev", "libboost-serialization1.81-dev", "libboost-serialization1.81.0"]

# Those without numbers run on 2, as bjam's mpi-test has it, and on ours.
RANKS = {
    "version_test": [1], "block_nonblock_test": [2], "random_gather": [2], "random_scatter": [2], "cartesian_communicator": [24],
    "cartesian_topology_init_test": [1], "broadcast_stl_test": [2], "all_gather_test": [1, 2, 11], "all_reduce_test": [1, 2, 11],
    "all_to_all_test": [1, 2, 11], "broadcast_test": [2, 17], "gather_test": [1, 2, 11], "is_mpi_op_test": [1], "mt_level_test": [1],
    "mt_init_test": [1, 4], "nonblocking_test": [2, 11, 24], "reduce_test": [1, 2, 4, 7], "ring_test": [2, 3, 4, 7, 8, 13, 17],
    "sendrecv_test": [1, 4, 7, 48], "wait_any_test": [1, 4, 7, 20], "wait_all_vector_test": [2], "wait_all_on_null": [1, 2],
    "scan_test": [1, 2, 4, 7], "scatter_test": [1, 2, 4, 7], "skeleton_content_test": [2, 3, 4, 7, 8, 13, 17],
    "graph_topology_test": [2, 7, 13], "cartesian_topology_test": [24], "pointer_test": [2], "groups_test": [1, 2, 4, 7],
    "sendrecv_vector": [2], "non_blocking_any_source": [2, 17],
}

MAKE = """\
CXXFLAGS = -std=c++14 -O1 -w -fPIC -I{root}/usr/include
LDLIBS = -L. -Wl,-rpath,{here} -L{libraries} -Wl,-rpath,{libraries}
library = $(patsubst ../libs/mpi/src/%.cpp,%.o,$(wildcard ../libs/mpi/src/*.cpp))
all: {programs}
%.o: ../libs/mpi/src/%.cpp
	{cxx} $(CXXFLAGS) -c $< -o $@
libboost_mpi.so: $(library)
	{cxx} -shared $^ -o $@ $(LDLIBS) -lboost_serialization
%: ../libs/mpi/test/%.cpp libboost_mpi.so
	{cxx} $(CXXFLAGS) $< ../libs/mpi/test/debugger.cpp -o $@ $(LDLIBS) -lboost_mpi -lboost_serialization
%: ../libs/mpi/example/%.cpp libboost_mpi.so
	{cxx} $(CXXFLAGS) $< -o $@ $(LDLIBS) -lboost_mpi -lboost_serialization
"""


def build(place):
    folder, version = place.archive.source(PACKAGE, place.folder, members=["libs/mpi"])
    root = place.archive.packages(LIBRARIES, place.folder.parent / "boost")
    there = folder / "build"
    there.mkdir(exist_ok=True)
    libraries = next(root.glob("usr/lib/*/libboost_serialization.so")).parent
    (there / "Makefile").write_text(MAKE.format(root=root, here=there, libraries=libraries, cxx=place.bin / "mpicxx",
                                                programs=" ".join(RANKS)))
    place.say("building, which takes some minutes")
    run_quietly(["make", "-k", f"-j{place.jobs}"], place.logs / "make.txt", cwd=there)
    return version


def checks(place):
    for program, numbers in RANKS.items():
        for ranks in numbers:
            yield Check(program, f"{ranks}", [place.bin / "mpiexec", "-n", ranks, place.folder / "build" / program],
                        place.folder / "build", exit_code_zero)
