#!/usr/bin/env python3
"""Builds programs that nobody here wrote with our compiler wrappers, and runs their own checks with our mpiexec under both schedulers;
programs in Python, whose ranks are processes, under Clump and beside it under MPICH.

`./dev real` calls this. Each program is a module with NAME, build(place), which returns the version, and checks(place), which yields the
checks.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path

import hpcc
import boost_mpi
import fftw
import mpi4py_fft_tests
import mpi4py_tests
import mpich_tests
import numba_mpi_tests
from checks import FAILED, PASSED, SCHEDULERS, SKIPPED, run
from python import OURS, PEER
from sources import Archive, Missing

PROGRAMS = {module.NAME: module for module in (hpcc, boost_mpi, fftw, mpich_tests, mpi4py_tests, numba_mpi_tests, mpi4py_fft_tests)}

WAYS = (*SCHEDULERS, OURS, PEER)


@dataclass
class Place:
    """What a program's module needs to know."""
    name: str
    bin: Path          # our mpicc, mpiexec
    folder: Path       # where the program's sources lie and are built
    archive: Archive
    missing: set       # MPI functions without a body
    jobs: int

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


def run_checks(module, place, options):
    """[(way, check, outcome)]; failures are named as they come."""
    outcomes = []
    wanted = [check for check in module.checks(place) if re.search(options.only, f"{check.group}/{check.name}")]
    shown = time.monotonic()
    for number, check in enumerate(wanted):
        for way in [check.way] if check.way else SCHEDULERS:
            if way not in options.ways:
                continue
            log = place.logs / f"{check.group.replace('/', '.')}.{check.name}.{way}.txt"
            outcome = run(check, way, log)
            outcomes.append((way, check, outcome))
            if outcome.verdict == FAILED:
                print(f"    FAILED {check.group}/{check.name} ({way}): {outcome.reason}\n           {log}", flush=True)
        if time.monotonic() - shown > 10:
            shown = time.monotonic()
            place.say(f"{number + 1} of {len(wanted)} checks")
    return outcomes


def count(outcomes, verdict, **where):
    return sum(outcome.count(verdict) for way, check, outcome in outcomes
               if where.get("way", way) == way and where.get("group", check.group) == check.group)


def table(name, version, outcomes):
    """Lines of a markdown table: a row for each group and way."""
    for group in dict.fromkeys(check.group for _, check, _ in outcomes):
        for way in dict.fromkeys(way for way, _, _ in outcomes):
            numbers = [count(outcomes, verdict, group=group, way=way) for verdict in (PASSED, FAILED, SKIPPED)]
            if any(numbers):
                yield f"| {name} {version} | {group} | {way} | " + " | ".join(map(str, numbers)) + " |"


def main():
    parser = argparse.ArgumentParser(prog="./dev real", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", nargs="*", metavar="NAME", help=f"which ones (default: all): {', '.join(PROGRAMS)}")
    parser.add_argument("--bin", type=Path, required=True, help=argparse.SUPPRESS)
    parser.add_argument("--cache", type=Path, required=True, help=argparse.SUPPRESS)
    parser.add_argument("--out", type=Path, required=True, help=argparse.SUPPRESS)
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help=argparse.SUPPRESS)
    parser.add_argument("--only", default="", metavar="REGEX", help="only checks whose group/name matches")
    parser.add_argument("--way", dest="ways", action="append", choices=WAYS, help="these ways alone")
    parser.add_argument("--build", action="store_true", help="fetch and build, but run nothing")
    options = parser.parse_args()
    options.ways = options.ways or WAYS
    unknown = [name for name in options.programs if name not in PROGRAMS]
    if unknown:
        parser.error(f"'{unknown[0]}' is none of the programs: {', '.join(PROGRAMS)}")

    archive, missing = Archive(options.cache / "apt"), functions_without_body(options.bin)
    rows, details, all_outcomes, unbuilt = [], {}, [], 0
    for name in options.programs or PROGRAMS:
        place = Place(name, options.bin, options.cache / name, archive, missing, options.jobs)
        try:
            version = PROGRAMS[name].build(place)
        except Missing as problem:
            print(f"    FAILED {name}: {problem}", flush=True)
            unbuilt += 1
            continue
        if options.build:
            continue
        outcomes = run_checks(PROGRAMS[name], place, options)
        all_outcomes += outcomes
        rows += table(name, version, outcomes)
        details[name] = [{"group": check.group, "check": check.name, "way": way, **asdict(outcome)} for way, check, outcome in outcomes]
        for way in dict.fromkeys(way for way, _, _ in outcomes):
            numbers = ", ".join(f"{count(outcomes, verdict, way=way)} {verdict}" for verdict in (PASSED, FAILED, SKIPPED))
            print(f"{name} {version} ({way}): {numbers}", flush=True)
    options.out.mkdir(parents=True, exist_ok=True)
    header = ["| program | part | ranks as | passed | failed | skipped |", "|---|---|---|---|---|---|"]
    (options.out / "results.md").write_text("\n".join(header + rows) + "\n")
    (options.out / "results.json").write_text(json.dumps(details, indent=1) + "\n")
    ours = [outcome for outcome in all_outcomes if outcome[0] != PEER]
    failed = count(ours, FAILED) + sum(outcome.verdict == FAILED and outcome.count(FAILED) == 0 for _, _, outcome in ours) + unbuilt
    print(f"{count(ours, PASSED)} passed, {failed} failed, {count(ours, SKIPPED)} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
