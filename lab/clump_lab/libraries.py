"""How each MPI library compiles and starts programs. bench/ uses this, too."""

import os
import re
import shutil
import signal
import subprocess
from pathlib import Path

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


def settings_of(family, home):
    """What a library wants in its environment, where its files are under `home`, and options of its mpiexec."""
    if family == "mpich":
        return {"LD_LIBRARY_PATH": f"{home}/lib"}, []
    if family == "intel":
        return {"LD_LIBRARY_PATH": f"{home}/lib", "I_MPI_ROOT": str(home), "FI_PROVIDER_PATH": f"{home}/lib"}, []
    if family == "openmpi":
        return {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}, ["--map-by", ":OVERSUBSCRIBE"]
    return {}, []


def in_front(folder, variable):
    """What a list of folders in the environment (PATH) becomes with one more at its front. Where it has none, nothing stands behind that: an empty element
    would be the folder that the user stands in."""
    return ":".join(filter(None, (str(folder), os.environ.get(variable))))


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
        said = next((line for line in lines if re.match(r"rank \d+: ", line)), lines[0] if lines else "")  # the program's own word counts most
        ended = f"exit code {process.returncode}" if process.returncode > 0 else f"ended by {signal.Signals(-process.returncode).name}"
        raise Failed(ended + (f": {said[:160]}" if said else ""))
    return output


class NotFound(Exception):
    pass


FAMILIES = (("clump", re.compile(r"\bclump\b", re.I)), ("openmpi", re.compile(r"Open MPI|PRRTE|prterun", re.I)),
            ("intel", re.compile(r"Intel\(R\) MPI", re.I)), ("mpich", re.compile(r"HYDRA|MPICH", re.I)))


def ask(command, environment=None):
    """What a program says of itself, or nothing."""
    try:
        done = subprocess.run(list(map(str, command)), stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=20, check=False,
                              env=environment)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout + done.stderr


class Installed:
    """A library as the lab uses it: compilers and mpiexec of one installation."""

    def __init__(self, name, family, mpiexec, c_compiler, fortran_compiler=None):
        self.name, self.family = name, family
        self.mpiexec, self.c_compiler, self.fortran_compiler = Path(mpiexec), Path(c_compiler), fortran_compiler
        own, self.options = settings_of(family, self.mpiexec.resolve().parent.parent)
        if not (self.mpiexec.parent.parent / "lib").is_dir():
            own.pop("LD_LIBRARY_PATH", None)
        self.environment = dict(os.environ, **own)
        if family == "intel":
            self.environment.setdefault("I_MPI_CC", shutil.which("gcc") or "cc")

    @property
    def version(self):
        lines = [line.strip() for line in ask([self.mpiexec, "--version"], self.environment).splitlines() if re.search(r"\d", line)]
        return " ".join(lines[0].removeprefix("Version:").split()) if lines else "unknown"

    def compiler_for(self, source):
        if Path(source).suffix != ".f90":
            return self.c_compiler
        if self.fortran_compiler is None:
            raise Failed(f"{self.name} has no Fortran compiler (mpifort) beside its mpiexec")
        return self.fortran_compiler

    def start(self, program, ranks, arguments=(), *, threads=1, sharing=None, hosts=(), preload=None, options=(), settings=None):
        """Begins a job of `ranks` ranks with `threads` threads each. `preload` comes before the library in the ranks, and in nothing else."""
        environment = dict(self.environment, OMP_NUM_THREADS=str(threads), **SHARING.get(sharing, {}).get(self.family, {})) | (settings or {})
        words = [self.mpiexec, *(self.placement(hosts, ranks) if hosts else self.options), *options]
        if preload:
            words += ["-x", f"LD_PRELOAD={preload}"] if self.family == "openmpi" else ["-genv", "LD_PRELOAD", preload]
        return begin([*words, "-n", ranks, program, *arguments], environment)

    def placement(self, hosts, ranks):
        here = -(-ranks // len(hosts))
        if self.family == "openmpi":
            return ["--host", ",".join(f"{host}:{here}" for host in hosts), "--map-by", f"ppr:{here}:node:OVERSUBSCRIBE"]
        if self.family == "clump":
            return ["--host", ",".join(hosts), "-ppn", here]
        return ["-hosts", ",".join(hosts), "-ppn", here]


def family_of(mpiexec, environment=None):
    said = ask([mpiexec, "--version"], environment)
    return next((name for name, pattern in FAMILIES if pattern.search(said)), None)


def beside(mpiexec, *names):
    return next((path for path in (Path(mpiexec).parent / name for name in names) if path.exists()), None)


def installed_at(mpiexec, name=None):
    """The library whose mpiexec that is."""
    path = shutil.which(str(mpiexec))
    if path is None:
        raise NotFound(f"there is no program '{mpiexec}'")
    family = family_of(path)
    if family is None:
        raise NotFound(f"'{path} --version' does not say that it is Clump, MPICH, Open MPI or Intel MPI")
    suffix = path[path.rindex("."):] if Path(path).name.startswith("mpiexec.") else ""
    compiler = beside(path, f"mpicc{suffix}", "mpicc")
    if compiler is None:
        raise NotFound(f"there is no mpicc beside {path}: install the library's development files")
    return Installed(name or family, family, path, compiler, beside(path, f"mpifort{suffix}", "mpifort", "mpifc"))


def places_of(name):
    """Where a library of that name may be: named in the environment, among the peers of a source tree, as Debian names them."""
    yield os.environ.get(f"CLUMP_LAB_{name.upper()}")
    if "CLUMP_LAB_PEERS" in os.environ:
        yield Path(os.environ["CLUMP_LAB_PEERS"]) / name / "bin/mpiexec"
    yield Path(__file__).resolve().parents[2] / ".cache/peers" / name / "bin/mpiexec"
    if name == "intel" and "I_MPI_ROOT" in os.environ:
        yield Path(os.environ["I_MPI_ROOT"]) / "bin/mpiexec"
    yield f"mpiexec.{name}"


def find_all(names, own_prefix):
    """Those of a list, once each. Of two with one name, as two installations of a family have, the later one is called `name-2`."""
    found, seen = [], {}
    for name in dict.fromkeys(names):
        library = find(name, own_prefix)
        seen[library.name] = seen.get(library.name, 0) + 1
        if seen[library.name] > 1:
            library.name = f"{library.name}-{seen[library.name]}"
        found.append(library)
    return found


def find(name, own_prefix):
    """The library that the user means: clump, mpich, openmpi, intel, or a path to an mpiexec."""
    if name == "clump":
        return installed_at(Path(own_prefix) / "bin/mpiexec", "clump")
    if "/" in name:
        return installed_at(name)
    if name not in ("mpich", "openmpi", "intel"):
        raise NotFound(f"there is no library '{name}'; give clump, mpich, openmpi, intel, or the path of an mpiexec")
    for place in filter(None, places_of(name)):
        if shutil.which(str(place)):
            return installed_at(place, name)
    raise NotFound(f"no {name} is found: give the path of its mpiexec to --mpi, or set CLUMP_LAB_{name.upper()} to it")
