"""Builds the programs for each library, runs them in turns, and keeps what they say in DIR/results.json."""

import json
import subprocess
import sys
import time
from pathlib import Path

from . import facts, printing
from .libraries import Failed, finish, in_front

LAB = facts.LAB
TWOSTAGE = "programs/twostage.c"


OPENMP = "-fopenmp"


def compiler_flags(source, smoke):
    """Trying out must not wait for the compiler."""
    optimise = ["-O1"] if smoke else ["-O3", "-march=native"]
    return optimise if source.suffix == ".f90" else [*optimise, OPENMP, "-ffp-contract=fast"]


def without_openmp(program):
    """Why it has no threads: what the compiler said of them. None if it has."""
    try:
        return program.with_name(program.name + ".no-openmp").read_text()
    except FileNotFoundError:
        return None


def build(library, source, folder, smoke=False):
    """The program of lab/SOURCE for this library; compiled again if the source is newer, and without OpenMP where the compiler has none. Failed with the
    compiler's first error."""
    source = LAB / source
    is_library = str(source).endswith(TWOSTAGE)
    printing.own_folder(folder)
    target = folder / ("libclump_twostage.so" if is_library else source.stem)
    newest = max(path.stat().st_mtime for path in [source, *(LAB / "programs").glob("*.h"), *(LAB / "nas").glob("*.inc")])
    if target.exists() and target.stat().st_mtime >= newest:
        return target
    compiler = Path(library.compiler_for(source)).absolute()
    shared = ["-shared", "-fPIC"] if is_library else []
    environment = dict(library.environment, PATH=in_front(compiler.parent, "PATH"))
    words = [compiler, *compiler_flags(source, smoke), *shared, source, "-o", target.resolve(), "-lm"]
    serial = target.with_name(target.name + ".no-openmp")
    serial.unlink(missing_ok=True)
    said = compile_with(words, environment, folder)
    if said is not None and OPENMP in words and compile_with([word for word in words if word != OPENMP], environment, folder) is None:
        printing.write_file(serial, said)
        said = None
    if said is not None:
        raise Failed(f"{compiler} does not compile {source.name}: {said}")
    return target


def compile_with(words, environment, folder):
    """None, or the compiler's first error. A Fortran compiler leaves files of modules where it is started."""
    done = subprocess.run(list(map(str, words)), env=environment, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL, cwd=folder)
    if done.returncode == 0:
        return None
    lines = [line for line in done.stderr.splitlines() if "error" in line.lower()] or done.stderr.splitlines() or ["no message"]
    return lines[0][:160]


def rows_of(output):
    """The lines of JSON among what a program prints. Anything else is of the library."""
    rows = []
    for line in output.splitlines():
        if line.startswith("{"):
            try:
                rows.append(json.loads(line))
            except ValueError:
                raise Failed(f"printed a line that is no JSON: {line[:120]}") from None
    return rows


class Progress:
    """One line on standard error: what runs, and how long the rest will take, from what has been seen so far."""

    def __init__(self, expected):
        self.left, self.begin, self.done = expected, time.monotonic(), 0.0
        self.terminal = sys.stderr.isatty()

    def show(self, words):
        spent = time.monotonic() - self.begin
        pace = spent / self.done if self.done > 0 else 1
        rest = time.strftime("%H:%M:%S", time.gmtime(self.left * pace))
        end = "\x1b[K\r" if self.terminal else "\n"
        print(printing.printable(f"[{rest} left] {words}"), end=end, file=sys.stderr, flush=True)

    def finished(self, expected):
        self.done += expected
        self.left -= expected

    def close(self):
        if self.terminal:
            print("\x1b[K", end="", file=sys.stderr, flush=True)


class Laboratory:
    """One `clump lab run`."""

    def __init__(self, experiments, libraries, context, options):
        self.experiments, self.libraries, self.context, self.options = experiments, libraries, context, options
        self.folder = Path(options.out)
        date = time.strftime("%Y-%m-%dT%H:%M:%S")
        self.results = {"clump_lab": 1, "date": date, "machine": facts.describe(), "size": context.size,
                        "hosts": list(context.hosts), "rounds": options.rounds, "busy": [],
                        "libraries": {library.name: {"family": library.family, "version": library.version} for library in libraries},
                        "experiments": {experiment.name: {"runs": [], "gaps": [], "dates": dict.fromkeys((library.name for library in libraries), date)} for experiment in experiments}}
        self.programs, self.given_up = {}, set()
        self.take_over()

    def take_over(self):
        """What the folder has of other experiments, or of other libraries, stays, if it was measured on this machine in the same way."""
        try:
            old = json.loads((self.folder / "results.json").read_text())
            same = all(old[key] == self.results[key] for key in ("clump_lab", "size", "hosts"))
            same = same and all(old["machine"][key] == self.results["machine"][key] for key in ("cores", "processor", "system"))
        except (OSError, ValueError, KeyError, TypeError):
            return
        if same:
            for name, part in self.results["experiments"].items():
                self.keep(part, old["experiments"].get(name, {}), old["date"])
            self.results["experiments"] = {**old["experiments"], **self.results["experiments"]}
            self.results["libraries"] = {**old["libraries"], **self.results["libraries"]}
            self.results["busy"] = old["busy"] + self.results["busy"]

    def keep(self, part, before, date):
        """Measurements of the same experiment under libraries that are not measured now, with the time when they were made."""
        now = {library.name for library in self.libraries}
        for key in ("runs", "gaps"):
            part[key] = [entry for entry in before.get(key, []) if entry["library"] not in now]
        part["dates"] |= {entry["library"]: before.get("dates", {}).get(entry["library"], date) for entry in part["runs"]}

    def gap(self, experiment, library, label, reason):
        gaps = self.results["experiments"][experiment.name]["gaps"]
        entry = {"library": library.name, "label": label, "reason": reason}
        if entry not in gaps:
            gaps.append(entry)
        print(printing.printable(f"clump lab: {experiment.name}, {label}, {library.name}: {reason}"), file=sys.stderr, flush=True)

    def build_all(self):
        smoke = self.context.size == "smoke"
        folder = "programs-smoke" if smoke else "programs"
        for library in self.libraries:
            for experiment in self.experiments:
                for source in experiment.programs:
                    stem = Path(source).stem
                    if (library.name, stem) in self.programs or (library.name, stem) in self.given_up:
                        continue
                    try:
                        self.programs[library.name, stem] = build(library, source, self.folder / folder / printing.file_name(library.name), smoke)
                    except (Failed, OSError) as failure:
                        self.given_up.add((library.name, stem))
                        self.gap(experiment, library, stem, str(failure))

    def takes_part(self, library, run, round_number):
        if run.only and library.family not in run.only or run.alone and round_number > 0:
            return False
        return (library.name, run.program) in self.programs and (not run.twostage or (library.name, "twostage") in self.programs)

    def work(self):
        """[(round, experiment, library, run), ...]: all libraries after each other within a round, and another one first in each."""
        plans = [(experiment, experiment.plan(self.context)) for experiment in self.experiments]
        for round_number in range(self.options.rounds):
            shift = round_number % len(self.libraries)
            for experiment, runs in plans:
                for run in runs:
                    for library in self.libraries[shift:] + self.libraries[:shift]:
                        if self.takes_part(library, run, round_number):
                            yield round_number, experiment, library, run

    def run_one(self, round_number, experiment, library, run):
        preload, serial = self.programs[library.name, "twostage"] if run.twostage else None, without_openmp(self.programs[library.name, run.program])
        if run.threads > 1 and serial:
            raise Failed(f"needs threads, and its compiler has no OpenMP: {serial}")
        begin = time.monotonic()
        process = library.start(self.programs[library.name, run.program], run.ranks, run.arguments, threads=run.threads,
                                sharing=run.sharing(self.context.cores), hosts=self.context.hosts[:run.nodes or None], preload=preload,
                                options=run.options.get(library.family, ()), settings=run.settings.get(library.family, {}))
        rows = (run.read or rows_of)(finish(process, self.options.timeout))
        if not rows:
            raise Failed("printed no measurement")
        self.results["experiments"][experiment.name]["runs"].append(
            {"library": library.name, "label": run.label, "round": round_number, "wall_seconds": round(time.monotonic() - begin, 3), "rows": rows})

    def run(self):
        printing.own_folder(self.folder)
        self.build_all()
        work = list(self.work())
        progress, last_round = Progress(sum(run.expected for *_, run in work)), None
        try:
            for round_number, experiment, library, run in work:
                if round_number != last_round:
                    self.results["busy"].append(round(facts.busy_part(), 3))
                    last_round = round_number
                key = (experiment.name, library.name, run.label, run.arguments)
                if key not in self.given_up:
                    progress.show(f"round {round_number + 1} of {self.options.rounds}: {experiment.name}, {run.label}, {library.name}")
                    try:
                        self.run_one(round_number, experiment, library, run)
                    except (Failed, OSError) as failure:
                        self.given_up.add(key)
                        self.gap(experiment, library, run.label, str(failure))
                    self.save()
                progress.finished(run.expected)
        finally:
            progress.close()
            self.save()
        return self.results

    def save(self):
        path = self.folder / "results.json"
        printing.write_file(path, json.dumps(self.results, indent=1) + "\n")
