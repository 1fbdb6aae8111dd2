"""How each MPI library compiles and starts the programs that run.py measures."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "lab"))
from clump_lab.libraries import SHARING, Failed, begin, end, finish, in_front, settings_of  # noqa: E402,F401  -- for measurements.py and run.py, too

EXAMPLES = HERE.parent / "examples"
PROGRAMS = [HERE / name for name in ("pingpong.c", "rate.c", "collectives.c", "overlap.c", "touched.c", "masteronly.c", "halo.c", "threads.c", "many.c",
                                     "partitioned.c", "datatypes.c", "onesided.c", "files.c", "startup.cc", "first_touch.c")]
PROGRAMS += [EXAMPLES / "matmul.c", EXAMPLES / "jacobi.c", EXAMPLES / "imbalance.c"]
FLAGS = {"masteronly": ["-fopenmp"]}
PEERS = ["mpich", "openmpi", "intel"]


class Library:
    def __init__(self, name, home, programs, options=()):
        self.name, self.home, self.programs, self.options = name, home, programs, list(options)
        own, words = settings_of(name, home)
        self.environment = dict(os.environ, **own)
        self.options += words

    def start(self, measurement, arguments=()):
        """On the first usable cores, as many as the measurement wants."""
        usable = sorted(os.sched_getaffinity(0))[:measurement.cores]
        command = ["taskset", "-c", ",".join(map(str, usable)), f"{self.home}/bin/mpiexec", *self.options, *measurement.our_options,
                   "-n", str(measurement.ranks), str(self.programs / measurement.program), *map(str, arguments)]
        return begin(command, self.environment | SHARING.get(measurement.sharing, {}).get(self.name, {}) | measurement.settings)


def is_older(target, sources):
    return not target.exists() or any(target.stat().st_mtime < source.stat().st_mtime for source in sources)


def compile_programs(wrappers, folder):
    """wrappers: {suffix: compiler}. Returns the folder, with all programs in it."""
    folder.mkdir(parents=True, exist_ok=True)
    for source in PROGRAMS:
        target, compiler = folder / source.stem, wrappers[source.suffix]
        if is_older(target, [source, HERE / "measure.h"]):
            environment = dict(os.environ, PATH=in_front(compiler.parent, "PATH"))
            subprocess.run([compiler, "-O3", *FLAGS.get(source.stem, []), source, "-o", target, "-pthread", "-lm"], env=environment, check=True)
    return folder


def compile_limits(folder):
    folder.mkdir(parents=True, exist_ok=True)
    source, target = HERE / "limits.cc", folder / "limits"
    if is_older(target, [source]):
        subprocess.run([shutil.which("c++"), "-std=c++20", "-O2", source, "-o", target, "-pthread"], check=True)
    return target


def compile_standard_programs(peers_dir, out):
    """One binary, compiled with the mpicc_abi of the PyPI package mpich, runs under every library that implements the standard ABI."""
    wrappers = peers_dir / "mpich/bin"
    return compile_programs({".c": wrappers / "mpicc_abi", ".cc": wrappers / "mpicxx_abi"}, out / "programs-abi")


def compile_openmpi_programs(peers_dir, out):
    """Open MPI has an ABI of its own."""
    wrappers = peers_dir / "openmpi/bin"
    return compile_programs({".c": wrappers / "mpicc", ".cc": wrappers / "mpicxx"}, out / "programs-openmpi")


def libraries(build, peers_dir, out, peers, our_options):
    """Ours and the peers."""
    standard = compile_standard_programs(peers_dir, out)
    found = [Library("clump", build, standard, our_options)]
    for peer in peers:
        programs = compile_openmpi_programs(peers_dir, out) if peer == "openmpi" else standard
        found.append(Library(peer, peers_dir / peer, programs))
    return found
