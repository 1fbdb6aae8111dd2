"""The command line of `clump lab`."""

import argparse
import os
import signal
import sys
from pathlib import Path

from . import printing, report
from .experiments import Context, all_experiments
from .libraries import NotFound, find_all
from .measured import SIZES
from .runner import Laboratory


def words(text):
    return [word for word in text.split(",") if word]


def make_parser():
    parser = argparse.ArgumentParser(prog="clump lab", description="The measurements of five papers on clusters of multiprocessors, under any MPI library.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="list | run | report | advise")
    commands.add_parser("list", help="say what can be measured")
    run = commands.add_parser("run", help="measure, and write a report")
    run.add_argument("names", nargs="+", metavar="NAME", help="experiments (clump lab list), or 'all'")
    run.add_argument("--mpi", type=words, default=["clump"], help="libraries, separated by commas: clump, mpich, openmpi, intel, or the path of an mpiexec")
    run.add_argument("--out", default="lab-report", help="folder for results, programs and report (lab-report)")
    run.add_argument("--size", choices=SIZES, default="quick", help="how much is measured: smoke is for trying out (quick)")
    run.add_argument("--rounds", type=int, default=3, help="how often each run is repeated, in turns (3)")
    run.add_argument("--timeout", type=float, default=120, help="seconds after which a run is given up (120)")
    run.add_argument("--host", type=words, default=[], help="hosts, which are then the nodes; otherwise ranks of this host are divided into nodes")
    run.add_argument("--cores", type=int, help="cores of a node to be used (all)")
    shown = commands.add_parser("report", help="write the report of a folder again")
    shown.add_argument("folder", metavar="DIR", help="what 'clump lab run --out' wrote")
    advise = commands.add_parser("advise", help="say which style suits a program on the machine that was measured")
    advise.add_argument("folder", metavar="DIR", nargs="?", help="a folder of 'clump lab run', with the experiments machine, ring, exchange and styles")
    advise.add_argument("--machine", metavar="NAME", help="one of the papers' machines instead ('list' names them)")
    advise.add_argument("--profile", metavar="FILE", help="what 'mpiexec --profile=FILE.json' wrote of the program")
    advise.add_argument("--library", help="the library whose measurements count (the first one of the report)")
    advise.add_argument("--f", type=float, help="the program's part of communication in its time, 0 to 1, instead of a profile")
    advise.add_argument("--inside", type=float, help="part of the program's bytes that stay within a node with pure MPI (0.5)")
    advise.add_argument("--check", action="store_true", help="compare advice and measurement for all Jacobi and matrix products of the report")
    advise.add_argument("--message", type=float, help="bytes of a usual message with pure MPI: with it latencies count")
    return parser


def list_experiments():
    experiments = all_experiments()
    width = max(map(len, experiments))
    for experiment in experiments.values():
        print(f"{experiment.name:{width}}  {experiment.paper}  {experiment.what}")
    return 0


def chosen(parser, names):
    experiments = all_experiments()
    if "all" in names:
        return list(experiments.values())
    for name in names:
        if name not in experiments:
            parser.error(f"there is no experiment '{name}'; there are {', '.join(experiments)}, and 'all'")
    return [experiments[name] for name in dict.fromkeys(names)]


def run(parser, options):
    experiments = chosen(parser, options.names)
    if options.rounds < 1 or options.timeout <= 0 or (options.cores is not None and options.cores < 1):
        parser.error("--rounds and --cores are at least 1, and --timeout is more than 0")
    try:
        libraries = find_all(options.mpi, os.environ.get("CLUMP_LAB_PREFIX", Path(__file__).resolve().parents[3]))
    except NotFound as problem:
        sys.exit(f"clump lab: {problem}")
    if not libraries:
        parser.error("--mpi names no library")
    cores = options.cores or len(os.sched_getaffinity(0))
    context = Context(cores=cores, size=options.size, hosts=tuple(options.host))
    laboratory = Laboratory(experiments, libraries, context, options)
    try:
        results = laboratory.run()
    except printing.NotOurs as problem:
        sys.exit(f"clump lab: --out: {problem}")
    report.write(results, options.out)
    gaps = sum(len(part["gaps"]) for part in results["experiments"].values())
    print(f"{options.out}/report.html, report.md" + (f"; {gaps} gaps, which the report lists" if gaps else ""))
    return 0 if any(part["runs"] for part in results["experiments"].values()) else 1


def main():
    parser = make_parser()
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that what runs is ended
    if options.command == "list":
        return list_experiments()
    if options.command == "run":
        return run(parser, options)
    if options.command == "report":
        results = report.load(options.folder)
        report.write(results, options.folder)
        print(f"{options.folder}/report.html, report.md")
        return 0
    from . import advise  # pylint: disable=import-outside-toplevel  -- the others need none of it
    return advise.main(parser, options)


if __name__ == "__main__":
    printing.run(main)
