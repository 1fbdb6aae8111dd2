"""The ways in which a program runs: which library, which build of the program, what Clump's ranks are."""

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

from .place import Wrapper

HERE = Path(__file__).resolve()
sys.path.insert(0, str(HERE.parents[2] / "lab"))
from clump_lab.libraries import SHARING, settings_of  # noqa: E402

STANDARD, OPENMPI = "standard", "openmpi"
FIBERS, PROCESSES, FACADE = "clump", "clump-processes", "clump-openmpi"
PEERS = ("mpich", "openmpi", "intel")
OURS = (FIBERS, PROCESSES, FACADE)
NAMES = {FIBERS: "Clump", PROCESSES: "Clump, processes", FACADE: "Clump, Open MPI's binary", "mpich": "MPICH", "openmpi": "Open MPI",
         "intel": "Intel MPI"}
# Of a program in Fortran, where Open MPI's package has no wrapper for it: the system's own Open MPI builds and starts it.
SYSTEM_FORTRAN, SYSTEM_LAUNCHER = "mpif90.openmpi", "mpirun.openmpi"


@dataclass(frozen=True)
class Way:
    name: str
    abi: str                 # of the build that it runs
    launcher: tuple          # what stands before `-n RANKS program`
    environment: dict = field(default_factory=dict)
    crowded: dict = field(default_factory=dict)    # also in the environment where there are more ranks than cores
    fortran_launcher: tuple = ()                   # for programs in Fortran, where that differs

    def command(self, ranks, executable, arguments, fortran=False):
        launcher = self.fortran_launcher if fortran and self.fortran_launcher else self.launcher
        return [*launcher, "-n", ranks, executable, *arguments]

    def variables(self, ranks, cores):
        common = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "LC_ALL": "C"}
        return {**os.environ, **common, **self.environment, **(self.crowded if ranks > cores else {})}


def peer(name, home):
    variables, words = settings_of(name, home)
    fortran = ()
    if name == "openmpi" and not (home / "bin/mpifort").exists():
        fortran = (SYSTEM_LAUNCHER, "--oversubscribe")
    return Way(name, OPENMPI if name == "openmpi" else STANDARD, (home / "bin/mpiexec", *words), variables,
               SHARING["more ranks than cores"].get(name, {}), fortran)


def find(build, homes):
    """Clump's ways, and one for each of the peers, {name: folder}, that is there; and {name: reason} of the others."""
    mpiexec = build / "bin/mpiexec"
    ways = [Way(FIBERS, STANDARD, (mpiexec, "--ranks", "fibers")), Way(PROCESSES, STANDARD, (mpiexec, "--ranks", "processes"))]
    absent = {}
    for name, home in homes.items():
        if not (home / "bin/mpiexec").exists():
            absent[name] = "it is not installed"
            continue
        ways.append(peer(name, home))
        if name == "openmpi":
            ways.append(Way(FACADE, OPENMPI, (mpiexec, "--ranks", "fibers")))
    return ways, absent


def standard_wrapper(build, home):
    """MPICH's wrapper for the standard ABI; Fortran, for which it has none, is compiled by Clump's, whose library needs the standard ABI only."""
    return Wrapper(STANDARD, home / "bin/mpicc_abi", home / "bin/mpicxx_abi", build / "bin/mpifort", home / "lib",
                   dict(os.environ, LD_LIBRARY_PATH=str(home / "lib")))


def openmpi_wrapper(home):
    fortran = home / "bin/mpifort"
    if not fortran.exists():
        found = shutil.which(SYSTEM_FORTRAN)
        fortran = Path(found) if found else None
    return Wrapper(OPENMPI, home / "bin/mpicc", home / "bin/mpicxx", fortran, home / "lib", dict(os.environ))


def versions(ways):
    """{name: what its mpiexec says of itself}, shortened."""
    found = {}
    for way in ways:
        done = subprocess.run([str(way.launcher[0]), "--version"], capture_output=True, text=True, env=way.variables(1, 1), timeout=60, check=False)
        line = next((line.strip() for line in (done.stdout + done.stderr).splitlines() if any(c.isdigit() for c in line)), "?")
        found[way.name] = " ".join(line.split("(id:")[0].split())[:80]
    return found
