"""Builds programs of others once for each ABI and times them under Clump and other MPI libraries in turn. `./dev bench --programs` calls this.

In each round every program runs with each number of ranks under every library, another one first each time. The page shows medians."""

import argparse
import contextlib
import json
import re
import shutil
import signal
import statistics
import sys
import tempfile
import time
from pathlib import Path

from . import page, start, timing, ways
from .catalogue import PROGRAMS
from .place import Archive, Missing, Place
from .program import Run
from .summary import Measured, time_limit

from clump_lab import facts, printing  # isort: skip  -- ways.py says where it is


def regex(text):
    try:
        return re.compile(text)
    except re.error as problem:
        raise argparse.ArgumentTypeError(f"'{text}' is no regular expression: {problem}; for all programs leave it out") from None


def ranks_of(text):
    try:
        ranks = [int(word) for word in text.split(",")]
    except ValueError:
        ranks = []
    if not ranks or min(ranks) < 1:
        raise argparse.ArgumentTypeError(f"'{text}' is no list of numbers of ranks, such as 2,16")
    return ranks


def rounds_of(text):
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"'{text}' is no number of rounds: give 1 or more")
    return int(text)


def above_zero(text):
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not number > 0:
        raise argparse.ArgumentTypeError(f"'{text}' is no number above 0")
    return number


def parse_options():
    parser = argparse.ArgumentParser(prog="./dev bench --programs", usage="./dev bench --programs [options]; ./dev bench --help tells them",
                                     description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, required=True, help="our build directory")
    parser.add_argument("--peers-dir", type=Path, required=True, help="where the other libraries are installed, a folder each")
    parser.add_argument("--cache", type=Path, required=True, help="where sources are fetched to and programs are built")
    parser.add_argument("--out", type=Path, required=True, help="where programs.md, its charts and programs.json go")
    parser.add_argument("--jobs", type=int, default=1, help="how many jobs `make` may have")
    parser.add_argument("--only", type=regex, default=re.compile(""), metavar="REGEX", help="programs whose names match")
    parser.add_argument("--ways", type=regex, default=re.compile(""), metavar="REGEX",
                        help=f"ways whose names match: {', '.join((*ways.OURS, *ways.PEERS))}")
    parser.add_argument("--ranks", type=ranks_of, metavar="N,...", help="default: 1,2,4,16,64")
    parser.add_argument("--rounds", type=rounds_of, help="default: 3")
    parser.add_argument("--quick", action="store_true", help="one round with 2 and 16 ranks")
    parser.add_argument("--limit", type=above_zero, default=60, metavar="SECONDS", help="for one run; default: 60")
    parser.add_argument("--patience", type=above_zero, metavar="TIMES",
                        help="end a run of another library after so many times what Clump took with fibers, but not within 10 s; default: --limit alone")
    parser.add_argument("--seconds", type=above_zero, default=float("inf"), metavar="SECONDS", help="begin no further program after so many")
    parser.add_argument("--intel", type=Path, help="where Intel MPI is installed, if not below --peers-dir")
    parser.add_argument("--scratch", type=Path, help="runs have their folders here; default: /dev/shm, or --out where that is missing")
    parser.add_argument("--add", action="store_true", help="keep the numbers that --out has from before and add to them")
    parser.add_argument("--only-build", action="store_true", help="build the programs, run nothing")
    parser.add_argument("--check-options", action="store_true", help="look at the options, do nothing")
    parser.add_argument("--list", action="store_true", help="print the names of the programs")
    parser.add_argument("--page", type=Path, metavar="JSON", help="write the page of an earlier run again, next to this file and named like it")
    options = parser.parse_args()
    for name in ("build", "peers_dir", "cache", "out", "intel", "scratch"):  # runs have folders of their own
        given = getattr(options, name)
        setattr(options, name, given and given.absolute())
    options.ranks = options.ranks or ([2, 16] if options.quick else [1, 2, 4, 16, 64])
    options.rounds = options.rounds or (1 if options.quick else 3)
    options.programs = [program for program in PROGRAMS if options.only.search(program.name)]
    if not options.programs:
        parser.error(f"--only: no program matches '{options.only.pattern}'; there are {', '.join(program.name for program in PROGRAMS)}")
    if not any(options.ways.search(name) for name in (*ways.OURS, *ways.PEERS)):
        parser.error(f"--ways: nothing matches '{options.ways.pattern}'; there are {', '.join((*ways.OURS, *ways.PEERS))}")
    written = options.out / "programs/programs.json"
    options.kept = (read_results(parser, "--page", options.page) if options.page
                    else read_results(parser, "--add", written) if options.add and written.exists() else None)
    if options.scratch is None:
        options.scratch = Path("/dev/shm") if Path("/dev/shm").is_dir() else options.out
    return options


def read_results(parser, option, path):
    """What an earlier run has written."""
    try:
        results = json.loads(path.read_text())
    except OSError as problem:
        parser.error(f"{option} {path}: {problem.strerror}; give the programs.json of an earlier run")
    except ValueError as problem:
        parser.error(f"{option} {path} is no JSON ({problem}); give the programs.json of an earlier run")
    if not isinstance(results, dict) or not {"values", "gaps", "date", "machine", "busy", "versions", "absent", "cores", "programs"} <= results.keys():
        parser.error(f"{option} {path} was not written by this command; give the programs.json of an earlier run")
    return results


def without_folders(text):
    """A reason as it is kept: without the folders of this machine."""
    return re.sub(r"/\S*/", "", text)


class Bench:
    """The programs as they are built, and the ways in which they run."""

    def __init__(self, options):
        self.options = options
        homes = {name: options.peers_dir / name for name in ways.PEERS}
        if options.intel:
            homes["intel"] = options.intel
        found, self.absent = ways.find(options.build, homes)
        self.ways = [way for way in found if options.ways.search(way.name)]
        self.wrappers = {ways.STANDARD: ways.standard_wrapper(options.build, homes["mpich"]), ways.OPENMPI: ways.openmpi_wrapper(homes["openmpi"])}
        self.place = Place(options.cache / "programs", Archive(options.cache / "apt"), options.jobs)
        self.cores = len(timing.os.sched_getaffinity(0))
        self.executables = {}      # {(program, abi): path or the reason why there is none}
        self.measured = Measured()
        self.answers = {}          # {(program, ranks): (way, numbers) of the first run}
        self.busy = []

    def build(self, programs):
        for program in programs:
            for abi in dict.fromkeys(way.abi for way in self.ways):
                begin = time.monotonic()
                try:
                    self.executables[program.name, abi] = self.place.built(program, self.wrappers[abi])
                except Missing as problem:
                    self.executables[program.name, abi] = str(problem).splitlines()[0][:200]
                    print(f"    {program.name} ({abi}) cannot be built: {problem}", flush=True)
                else:
                    if time.monotonic() - begin > 1:
                        print(f"    built: {program.name} ({abi}), {time.monotonic() - begin:.0f} s", flush=True)
            self.place.inputs(program)

    def run_once(self, program, ranks, way):
        executable = self.executables[program.name, way.abi]
        if isinstance(executable, str):
            raise timing.Failed(f"not built: {executable}")
        folder = Path(tempfile.mkdtemp(prefix="clump-bench-", dir=self.options.scratch))
        try:
            for name, text in program.files(ranks).items():
                (folder / name).write_text(text)
            command = way.command(ranks, executable, program.arguments(ranks, self.place.inputs(program)), program.fortran)
            limit = time_limit(self.measured, program.name, ranks, way.name, self.options.limit, self.options.patience)
            timed = timing.run(command, folder, way.variables(ranks, self.cores), limit)
            self.judge(program, Run(ranks, timed.output, folder), way)
            return timed
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def judge(self, program, run, way):
        wrong = program.check(run)
        if wrong:
            raise timing.Failed(f"wrong result: {wrong}")
        numbers = program.answer(run)
        first, wanted = self.answers.setdefault((program.name, run.ranks), (way.name, numbers))
        if len(numbers) != len(wanted) or any(abs(one - other) > program.tolerance * abs(other) for one, other in zip(numbers, wanted)):
            raise timing.Failed(f"wrong result: {numbers} where {first} has {wanted}")

    def measure(self, program, ranks, round_number):
        shift = round_number % len(self.ways)
        said = []
        for way in self.ways[shift:] + self.ways[:shift]:
            if (program.name, ranks, way.name) in self.measured.gaps:
                continue
            try:
                timed = self.run_once(program, ranks, way)
            except timing.Failed as failure:
                self.measured.gaps[program.name, ranks, way.name] = without_folders(str(failure))
                said.append(f"{way.name} FAILED: {failure}")
            else:
                self.measured.add(program.name, ranks, way.name, timed)
                if program.fortran and way.fortran_launcher:
                    self.measured.other_launcher.add((program.name, way.name))
                said.append(f"{way.name} {timed.seconds:.2f} ({timed.processor:.2f})")
        print(f"    round {round_number + 1}, {ranks:2} ranks, {program.name}: {', '.join(said)}", flush=True)

    def measure_all(self, programs):
        begin = time.monotonic()
        for round_number in range(self.options.rounds):
            self.busy.append(facts.busy_part())
            for ranks in self.options.ranks:
                for program in [start.PROGRAM, *programs]:
                    if time.monotonic() - begin < self.options.seconds:
                        self.measure(program, ranks, round_number)

    def results(self, programs):
        described = ways.versions(self.ways)
        programs = [program for program in PROGRAMS if program in programs or program.name in self.measured.programs()]
        return {"machine": facts.in_words(facts.describe()), "cores": self.cores, "date": time.strftime("%Y-%m-%dT%H:%M:%S"),
                "busy": statistics.median_high(self.busy), "versions": described, "absent": self.absent,
                "programs": [[program.name, program.what, program.origin] for program in programs],
                "unit": "seconds; wall: of mpiexec; processor: of it and all that it starts", **self.measured.as_json()}


def main():
    options = parse_options()
    if options.list:
        print("\n".join(program.name for program in PROGRAMS))
        return 0
    if options.page:
        print(page.write(options.kept, options.page.parent, options.page.stem))
        return 0
    if options.check_options:
        return 0
    programs = options.programs
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that what runs is ended
    timing.adopt_orphans()
    bench = Bench(options)
    if not bench.ways:
        sys.exit(f"./dev bench --programs: of '{options.ways.pattern}' nothing is installed")
    bench.build([start.PROGRAM, *programs])
    if options.only_build:
        return 0 if all(isinstance(executable, Path) for executable in bench.executables.values()) else 1
    folder = options.out / "programs"
    folder.mkdir(parents=True, exist_ok=True)
    kept = folder / "programs.json"
    if options.kept:
        bench.measured = Measured.from_json(options.kept)
        tried = {program.name for program in [start.PROGRAM, *programs]}
        for gap in [gap for gap in bench.measured.gaps if gap[0] in tried and gap[1] in options.ranks]:
            del bench.measured.gaps[gap]
    with contextlib.suppress(KeyboardInterrupt):  # what there is so far is written
        bench.measure_all(programs)
    if not bench.measured.wall:
        sys.exit("./dev bench --programs: nothing was measured")
    results = bench.results(programs)
    if options.kept:
        results["busy"] = max(results["busy"], options.kept["busy"])
        results["versions"] = options.kept["versions"] | results["versions"]
    kept.write_text(json.dumps(results, indent=1) + "\n")
    print(page.write(results, folder))
    return 1 if any(way in ways.OURS for _, _, way in bench.measured.gaps) else 0


if __name__ == "__main__":
    printing.run(main)
