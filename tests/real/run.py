#!/usr/bin/env python3
"""Builds programs that nobody here wrote with our compiler wrappers, and runs their own checks with our mpiexec under both schedulers;
programs in Python, whose ranks are processes, under Clump and beside it under MPICH, or with --hosts under Clump on several hosts; and
Debian's MPI programs as they are, under Clump and beside it under the library that they are made for.

`./dev real` calls this. Each program is a module with NAME, build(place), which returns the version, and checks(place), which yields the
checks. It may have report(place, [(check, way, outcome)]), the lines of a table of its own, which is written to build/real/NAME.md.
"""

import argparse
import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path

import hpcc
import boost_mpi
import debian
import fftw
import hdf5
import mpi4py_fft_tests
import mpi4py_tests
import mpich_tests
import numba_mpi_tests
import pnetcdf
import romio
from checks import FAILED, PASSED, SCHEDULERS, SKIPPED, run
from python import MOST_HOSTS, OURS, PEER, WHEELS
from sources import Archive, Missing

sys.path[:0] = [str(Path(__file__).resolve().parents[up] / folder) for up, folder in ((1, "cluster"), (2, "lab"))]
from clump_lab import printing  # noqa: E402
from hosts import Hosts, Unavailable  # noqa: E402

IN_PYTHON = {module.NAME: module for module in (mpi4py_tests, numba_mpi_tests, mpi4py_fft_tests)}
PROGRAMS = {module.NAME: module for module in (hpcc, boost_mpi, fftw, hdf5, pnetcdf, romio, *mpich_tests.SUITES)} | IN_PYTHON | {debian.NAME: debian}

WAYS = tuple(dict.fromkeys((*SCHEDULERS, OURS, PEER, *WHEELS, debian.OURS, *debian.PEERS)))
PEERS = (PEER, *debian.PEERS)  # other MPI libraries; what fails under them is no failure of Clump's


@dataclass
class Place:
    """What a program's module needs to know."""
    name: str
    bin: Path          # our mpicc, mpiexec
    folder: Path       # where the program's sources lie and are built
    archive: Archive
    missing: set       # MPI functions without a body
    jobs: int
    peers: Path        # a folder with an environment for each other MPI library
    hosts: Hosts = None  # on which its ranks are; None: on this machine

    @property
    def logs(self):
        path = self.folder.parent / "logs" / self.name
        path.mkdir(parents=True, exist_ok=True)
        return path

    def say(self, text):
        print(f"==> {self.name}: {text}", flush=True)


def functions_without_body(bin_folder):
    text = subprocess.run([bin_folder / "clump", "info", "--missing"], capture_output=True, text=True, check=True).stdout
    return set(re.findall(r"\bMPI_\w+", text))


@dataclass
class Results:
    """Of all programs, so far: what is there when the run is interrupted."""
    versions: dict = field(default_factory=dict)   # {program: version}
    outcomes: list = field(default_factory=list)   # [(program, way, check, outcome)]
    unbuilt: int = 0
    reports: dict = field(default_factory=dict)    # {program: lines of its own table}

    def of(self, *verdicts, **where):
        """How many tests had one of these verdicts."""
        return sum(outcome.count(verdict) for verdict in verdicts for outcome in self.chosen(**where))

    def chosen(self, **where):
        return [outcome for program, way, check, outcome in self.outcomes
                if where.items() <= {"program": program, "way": way, "group": check.group}.items()]

    def table(self):
        """Lines of a markdown table: a row for each part and way."""
        yield "| program | part | ranks as | passed | failed | skipped | not ended |"
        yield "|---|---|---|---|---|---|---|"
        for program, group, way in dict.fromkeys((program, check.group, way) for program, way, check, _ in self.outcomes):
            where = {"program": program, "group": group, "way": way}
            numbers = [self.of(verdict, **where) for verdict in (PASSED, FAILED, SKIPPED)]
            numbers.append(sum(not outcome.ended for outcome in self.chosen(**where)))
            yield f"| {program} {self.versions[program]} | {group} | {way} | " + " | ".join(map(str, numbers)) + " |"

    def apart(self):
        """Lines: what passed under MPICH and did not under Clump, by the reason."""
        tests = {}
        for program, way, check, outcome in self.outcomes:
            for test, (verdict, why) in (outcome.tests or {}).items():
                tests[program, check.group, way, test] = verdict, why
        both = {(program, group) for program, group, way, _ in tests if way == OURS}
        reasons = {}
        for (program, group, way, test), (verdict, _) in tests.items():
            ours, why = tests.get((program, group, OURS, test), ("not run", "its module cannot be loaded, or did not come to it"))
            if (program, group) in both and way == PEER and verdict == PASSED and ours != PASSED:
                reasons.setdefault((program, group, ours, why), []).append(test)
        for (program, group, verdict, why), names in reasons.items():
            yield f"{program}, {group}: {len(names)} {verdict}: {why}"
            yield from (f"    {name}" for name in names)

    def write(self, folder):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "results.md").write_text("\n".join(self.table()) + "\n")
        (folder / "apart.txt").write_text("".join(line + "\n" for line in self.apart()))
        for name, lines in self.reports.items():
            (folder / f"{name}.md").write_text("\n".join(lines) + "\n")
        details = {name: [{"group": check.group, "check": check.name, "way": way, **asdict(outcome)}
                          for program, way, check, outcome in self.outcomes if program == name] for name in self.versions}
        (folder / "results.json").write_text(json.dumps(details, indent=1) + "\n")

    def failed(self):
        """Tests under Clump that failed; runs that failed as a whole count as one."""
        ours = [outcome for _, way, _, outcome in self.outcomes if way not in PEERS]
        return sum(outcome.count(FAILED) or int(outcome.verdict == FAILED) for outcome in ours) + self.unbuilt

    def last_line(self):
        ours = [outcome for _, way, _, outcome in self.outcomes if way not in PEERS]
        passed, skipped = (sum(outcome.count(verdict) for outcome in ours) for verdict in (PASSED, SKIPPED))
        return f"{passed} passed, {self.failed()} failed, {skipped} skipped"


def run_checks(module, place, options, results):
    """Failures are named as they come."""
    wanted = [check for check in module.checks(place) if re.search(options.only, f"{check.group}/{check.name}")]
    shown = begun = time.monotonic()
    for number, check in enumerate(wanted):
        for way in [check.way] if check.way else SCHEDULERS:
            if way not in options.ways:
                continue
            log = place.logs / f"{check.group.replace('/', '.')}.{check.name}.{way}.txt"
            outcome = run(check, way, log, place.say)
            results.outcomes.append((module.NAME, way, check, outcome))
            if outcome.verdict == FAILED:
                print(f"    FAILED {check.group}/{check.name} ({way}): {outcome.reason}\n           {log}", flush=True)
        if time.monotonic() - shown > 10:
            shown = time.monotonic()
            place.say(f"{number + 1} of {len(wanted)} checks, {shown - begun:.0f} s")


def run_program(name, place, options, results):
    try:
        results.versions[name] = PROGRAMS[name].build(place)
    except Missing as problem:
        print(f"    FAILED {name}: {problem}", flush=True)
        results.unbuilt += 1
        return
    if not options.build:
        try:
            run_checks(PROGRAMS[name], place, options, results)
        finally:  # also of what there is when it is interrupted
            if hasattr(PROGRAMS[name], "report"):
                mine = [(check, way, outcome) for program, way, check, outcome in results.outcomes if program == name]
                results.reports[name] = list(PROGRAMS[name].report(place, mine))
    for way in dict.fromkeys(way for program, way, _, _ in results.outcomes if program == name):
        numbers = ", ".join(f"{results.of(verdict, program=name, way=way)} {verdict}" for verdict in (PASSED, FAILED, SKIPPED))
        print(f"{name} {results.versions[name]} ({way}): {numbers}", flush=True)


def interrupt(*_):
    raise KeyboardInterrupt


def parse_options(arguments=None):
    parser = argparse.ArgumentParser(prog="./dev real", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", nargs="*", metavar="NAME", help=f"which ones (default: all): {', '.join(PROGRAMS)}")
    parser.add_argument("--bin", type=Path, required=True, help=argparse.SUPPRESS)
    parser.add_argument("--cache", type=Path, required=True, help=argparse.SUPPRESS)
    parser.add_argument("--out", type=Path, required=True, help=argparse.SUPPRESS)
    parser.add_argument("--peers", type=Path, required=True, help=argparse.SUPPRESS)
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help=argparse.SUPPRESS)
    parser.add_argument("--only", default="", metavar="REGEX", help="only checks whose group/name matches")
    parser.add_argument("--way", dest="ways", action="append", choices=WAYS, help="these ways alone")
    parser.add_argument("--build", action="store_true", help="fetch and build, but run nothing")
    parser.add_argument("--hosts", type=int, metavar="N", help="programs in Python under Clump, on N hosts made of network namespaces; needs root")
    options = parser.parse_args(arguments)
    programs, ways, where = (IN_PYTHON, (OURS,), " that run on several hosts") if options.hosts is not None else (PROGRAMS, WAYS, "")
    if options.hosts is not None and not 2 <= options.hosts <= MOST_HOSTS:
        parser.error(f"--hosts takes 2 to {MOST_HOSTS}, not {options.hosts}")
    for given, known, what in (options.programs, programs, "programs"), (options.ways or [], ways, "ways"):
        unknown = [name for name in given if name not in known]
        if unknown:
            parser.error(f"'{unknown[0]}' is none of the {what}{where}: {', '.join(known)}")
    options.programs, options.ways = options.programs or list(programs), options.ways or ways
    if options.hosts is not None:
        options.out /= f"hosts-{options.hosts}"
    return options


def run_programs(options, results):
    """Whatever ends this, the hosts are removed."""
    archive, missing = Archive(options.cache / "apt"), functions_without_body(options.bin)
    with contextlib.ExitStack() as stack:
        hosts = stack.enter_context(Hosts(options.out / "hosts", options.hosts)) if options.hosts else None
        for name in options.programs:
            place = Place(name, options.bin, options.cache / name, archive, missing, options.jobs, options.peers, hosts)
            run_program(name, place, options, results)


def main():
    options = parse_options()
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) != signal.SIG_IGN:  # as nohup has it
            signal.signal(number, interrupt)
    results, interrupted = Results(), False
    try:
        run_programs(options, results)
    except Unavailable as problem:
        sys.exit(f"./dev real: {problem}")
    except KeyboardInterrupt:
        interrupted = True
    results.write(options.out)
    for lines in (*results.reports.values(), results.table()):
        print("", *lines, "", sep="\n")
    print(results.last_line() + (" (interrupted)" if interrupted else ""))
    return 130 if interrupted else 1 if results.failed() else 0


if __name__ == "__main__":
    printing.run(main)
