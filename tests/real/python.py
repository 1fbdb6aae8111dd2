"""What the programs in Python have in common: environments, sources from PyPI, and tests that are counted one by one.

They are run under Clump, and beside it under the MPI library that most take from PyPI, MPICH, in an environment of its own. mpi4py's own tests are
run under Clump with the wheel from PyPI, too, which is made for the ABIs of MPICH and of Open MPI.
"""

import fnmatch
import os
import shutil
import sys
from dataclasses import dataclass, field
from pathlib import Path

from checks import FAILED, SKIPPED, Check
from sources import run_quietly

MPI4PY = "mpi4py==4.1.2"
MPICH = "mpich==5.0.2"
OURS, PEER = "processes", "mpich"
WHEELS = {"mpich-abi": "mpich", "openmpi-abi": "openmpi"}  # ways, and what mpi4py's variable MPI4PY_MPIABI is then
RANKS = [1, 2, 3, 5, 8]
MOST_HOSTS = RANKS[-1]
LIMIT = 300  # seconds for what one command runs, usually a module of tests, however many ranks and cores there are
# More ranks than cores is what most of these runs are, and MPICH has settings for it, as bench/libraries.py gives them.
VARIABLES = {PEER: {"MPIR_CVAR_CH4_PROGRESS_THROTTLE": "1", "MPIR_CVAR_CH4_PROGRESS_THROTTLE_NO_PROGRESS_COUNT": "16"}}


@dataclass(frozen=True)
class Environment:
    """A virtual environment whose mpi4py uses one MPI library."""
    way: str
    folder: Path
    mpiexec: list                # how a command line that starts a job begins
    variables: dict = field(default_factory=dict)

    @property
    def python(self):
        return self.folder / "bin/python"

    def install(self, place, packages, **variables):
        """Packages by name, once. `variables` are for their compilation."""
        stamp = self.folder / ".installed"
        done = stamp.read_text().splitlines() if stamp.exists() else []
        wanted = [package for package in packages if package not in done]
        if not wanted:
            return
        place.say(f"installing {', '.join(wanted)} ({self.way})")
        run_quietly([self.python, "-m", "pip", "install", "-q", *wanted], place.logs / f"pip.{self.way}.txt",
                    env={**os.environ, **{name: str(value) for name, value in variables.items()}})
        stamp.write_text("\n".join(done + wanted) + "\n")


def environments(place):
    """Clump's and MPICH's, each with mpi4py; on hosts Clump's alone."""
    top, ours, peer = place.folder.parent / "python", [place.bin / "mpiexec"], []
    if place.hosts:
        ours = [*place.hosts.on("h0", *ours), "--host", ",".join(place.hosts.names())]
    else:
        peer = [Environment(PEER, top / "mpich", [top / "mpich/bin/mpiexec"])]
    made = [Environment(OURS, top / "clump", ours), *peer]
    for environment in made:
        if not environment.python.exists():
            run_quietly([sys.executable, "-m", "venv", environment.folder], place.logs / "venv.txt")
    # The wheels on PyPI are for the ABIs of MPICH and Open MPI; built from its sources with our mpicc, mpi4py uses the standard ABI.
    made[0].install(place, ["numpy", "pytest", MPI4PY], PIP_NO_BINARY="mpi4py", MPICC=place.bin / "mpicc", CFLAGS="-O1")
    for environment in peer:
        environment.install(place, ["numpy", "pytest", MPICH, MPI4PY])
    return made


def wheels(place):
    """Clump's, with mpi4py as PyPI has it, built for other libraries."""
    if place.hosts:
        return []
    made = [Environment(way, place.folder.parent / "python/wheel", [place.bin / "mpiexec"], {"MPI4PY_MPIABI": abi}) for way, abi in WHEELS.items()]
    if not made[0].python.exists():
        run_quietly([sys.executable, "-m", "venv", made[0].folder], place.logs / "venv.txt")
    made[0].install(place, ["numpy", "pytest", MPI4PY])
    return made


def ranks_on(hosts, usual):
    """On how many ranks something is run that is usually run on these. On hosts: one on each, and more, unevenly, if that is not too many."""
    return [n for n in (hosts.number, 2 * hosts.number + 1) if n <= usual[-1]] if hosts else usual


def sources(place, requirement, **variables):
    """The unpacked source distribution of a package that is pinned to a version, as (folder, version)."""
    name, version = requirement.split("==")
    stamp = place.folder / ".unpacked"
    if not stamp.exists() or stamp.read_text() != version:
        downloads = place.folder.parent / "python/downloads"
        downloads.mkdir(parents=True, exist_ok=True)
        run_quietly([sys.executable, "-m", "pip", "download", "-q", "--no-deps", f"--no-binary={name}", "-d", downloads, requirement],
                    place.logs / "download.txt", env={**os.environ, **{name: str(value) for name, value in variables.items()}})
        tarball = max(downloads.glob(f"{name.replace('-', '?')}-{version}.tar.gz"))
        shutil.rmtree(place.folder, ignore_errors=True)
        place.folder.mkdir(parents=True)
        run_quietly(["tar", "-xf", tarball, "-C", place.folder, "--strip-components", "1"], place.logs / "unpack.txt")
        stamp.write_text(version)
    return place.folder, version


@dataclass(frozen=True)
class Difference:
    """Why tests fail under Clump."""
    pattern: str
    reason: str
    run: bool                    # false: its ranks would wait for each other, so it is not
    way: str                     # the one way in which they do; "": in all


@dataclass(frozen=True)
class Tests:
    """What is run as one check: tests that one command line runs in each rank."""
    name: str
    how: list                    # the arguments of rank_report.py
    folder: Path                 # where they are run
    differences: list            # [Difference]
    variables: dict

    def check(self, place, environment, ranks):
        group = f"{ranks} ranks" if ranks > 1 else "1 rank"
        if place.hosts:
            group += f" on {place.hosts.number} hosts"
        reports = place.logs / "reports" / f"{environment.way}.{group.replace(' ', '.')}.{self.name}"
        # What was there before is of another run.
        script = 'rm -rf "$0" && mkdir -p "$0" && exec "$@"'
        command = ["sh", "-c", script, reports, *environment.mpiexec, "-n", ranks, environment.python,
                   Path(__file__).with_name("rank_report.py"), reports, *self.how]
        differences = [one for one in self.differences if environment.way != PEER and one.way in ("", environment.way)]
        command += [word for one in differences if not one.run for word in ("-x", one.pattern)]
        return Check(group, self.name, command, self.folder,
                     lambda code, text: judge(reports, ranks, differences, code), timeout=LIMIT, way=environment.way,
                     environment={**self.variables, **environment.variables, **VARIABLES.get(environment.way, {}), "PYTHONUNBUFFERED": "1"},
                     tests=lambda: outcomes(reports, differences))


def read_reports(reports):
    """[{test: (verdict, why)}], one for each rank that has said "end", and one for each that has not; and how many have."""
    ranks, ended = [], 0
    for path in sorted(reports.glob("*.txt")):
        found = {}
        for line in path.read_text(encoding="utf-8").splitlines():
            what, test, why = (line.split("\t") + ["", ""])[:3]
            if what == "end":
                ended += 1
            elif what == "begin":
                found[test] = (FAILED, "did not end")
            elif found.get(test, (FAILED, "did not end")) == (FAILED, "did not end") or what == "failed":
                found[test] = (what, why)
        ranks.append(found)
    return ranks, ended


def outcomes(reports, differences):
    """{test: (verdict, why)} over all ranks: failed in one is failed, passed in one is passed."""
    merged = {}
    for found in read_reports(reports)[0]:
        for test, (verdict, why) in found.items():
            before = merged.get(test, (SKIPPED, ""))[0]
            if verdict == FAILED or before == SKIPPED:
                merged[test] = (verdict, why)
    for test, (verdict, _) in merged.items():
        difference = next((one for one in differences if fnmatch.fnmatchcase(test, one.pattern)), None)
        if verdict == FAILED and difference is not None:
            merged[test] = (SKIPPED, difference.reason)
    return merged


def judge(reports, ranks, differences, code):
    """Why the check failed, "" if it passed. The exit code is that of a test program of which some tests may fail."""
    ended = read_reports(reports)[1]
    if ended < ranks:
        return f"{ranks - ended} of {ranks} ranks did not get to the end of their tests; exit code {code}"
    failed = [f"{test}: {why}" for test, (verdict, why) in outcomes(reports, differences).items() if verdict == FAILED]
    return f"{len(failed)} failed: {'; '.join(failed[:3])}" if failed else ""


def read_differences(name):
    """[Difference] of the lines "[!][way:]pattern  reason"; with "!" a test is not run."""
    lines = Path(__file__).with_name(name).read_text().splitlines()
    words = [line.partition(" ") for line in lines if line and line[0] != "#"]
    found = [(*pattern.lstrip("!").rpartition(":"), reason.strip(), not pattern.startswith("!")) for pattern, _, reason in words]
    return [Difference(pattern, reason, run, way) for way, _, pattern, reason, run in found]
