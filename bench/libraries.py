"""How each MPI library compiles and starts the programs that run.py measures."""

import os
import shutil
import signal
import subprocess
from pathlib import Path

HERE = Path(__file__).resolve().parent
EXAMPLES = HERE.parent / "examples"
PROGRAMS = [HERE / name for name in ("pingpong.c", "rate.c", "collectives.c", "overlap.c", "touched.c", "masteronly.c", "halo.c", "threads.c", "many.c",
                                     "partitioned.c", "datatypes.c", "startup.cc", "first_touch.c")]
PROGRAMS += [EXAMPLES / "matmul.c", EXAMPLES / "jacobi.c"]
FLAGS = {"masteronly": ["-fopenmp"]}
PEERS = ["mpich", "openmpi", "intel"]

# MPICH sleeps after so many empty polls. Its own choice, 4096, makes a barrier of 16 ranks on 2 cores take a hundred times longer.
MPICH_SLEEPS = {"MPIR_CVAR_CH4_PROGRESS_THROTTLE": "1", "MPIR_CVAR_CH4_PROGRESS_THROTTLE_NO_PROGRESS_COUNT": "16"}

# What the peers are told where waiting ranks or threads must share a core. Left alone, Open MPI and Intel MPI spin until their time slice
# ends, which makes a message between two ranks on one core take 4 ms. Of the settings they document, these were the best ones.
SHARING = {
    "ranks on one core": {"openmpi": {"OMPI_MCA_mpi_yield_when_idle": "1"}, "intel": {"I_MPI_WAIT_MODE": "1"}},
    # Open MPI sees by itself that there are more ranks than cores; Intel MPI yields by default.
    "more ranks than cores": {"mpich": MPICH_SLEEPS},
    # A rank with threads is not to have all of them on one core.
    "threads that compute": {"openmpi": {"PRTE_MCA_hwloc_default_binding_policy": "none", "OMPI_MCA_hwloc_base_binding_policy": "none"}},
    "threads": {"openmpi": {"OMPI_MCA_mpi_yield_when_idle": "1"}, "intel": {"I_MPI_THREAD_YIELD": "2"}},
}


class Failed(Exception):
    pass


class Library:
    def __init__(self, name, home, programs, options=()):
        self.name, self.home, self.programs, self.options = name, home, programs, list(options)
        self.environment = dict(os.environ)
        if name == "mpich":
            self.environment["LD_LIBRARY_PATH"] = f"{home}/lib"
        elif name == "intel":
            self.environment |= {"LD_LIBRARY_PATH": f"{home}/lib", "I_MPI_ROOT": str(home), "FI_PROVIDER_PATH": f"{home}/lib"}
        elif name == "openmpi":
            self.environment |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
            self.options += ["--map-by", ":OVERSUBSCRIBE"]

    def start(self, measurement, arguments=()):
        """On the first usable cores, as many as the measurement wants."""
        usable = sorted(os.sched_getaffinity(0))[:measurement.cores]
        command = ["taskset", "-c", ",".join(map(str, usable)), f"{self.home}/bin/mpiexec", *self.options, *measurement.our_options,
                   "-n", str(measurement.ranks), str(self.programs / measurement.program), *map(str, arguments)]
        return self.begin(command, self.environment | SHARING.get(measurement.sharing, {}).get(self.name, {}))

    @staticmethod
    def begin(command, environment):
        """In a session of its own: what a broken launcher leaves behind can be ended with it."""
        return subprocess.Popen(list(map(str, command)), env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True, start_new_session=True)


def end(process):
    """Whatever happened, nothing of this run goes on."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def finish(process, timeout):
    """The output of a run; Failed with its reason if it did not end well."""
    try:
        output, errors = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        raise Failed(f"did not end within {timeout:.0f} s") from None
    finally:
        end(process)
    if process.returncode != 0:
        lines = [line.strip() for line in (errors + output).splitlines() if any(c.isalpha() for c in line)]
        raise Failed(f"exit code {process.returncode}" + (f": {lines[0][:160]}" if lines else ""))
    return output


def is_older(target, sources):
    return not target.exists() or any(target.stat().st_mtime < source.stat().st_mtime for source in sources)


def compile_programs(wrappers, folder):
    """wrappers: {suffix: compiler}. Returns the folder, with all programs in it."""
    folder.mkdir(parents=True, exist_ok=True)
    for source in PROGRAMS:
        target, compiler = folder / source.stem, wrappers[source.suffix]
        if is_older(target, [source, HERE / "measure.h"]):
            environment = dict(os.environ, PATH=f"{compiler.parent}:{os.environ['PATH']}")
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
