#!/usr/bin/env python3
"""Measures Clump and other MPI libraries in turn, and writes a table of medians and ratios (markdown) and all numbers (JSON).

The programs of this folder are compiled once against the standard ABI, with the mpicc_abi of the PyPI package mpich: that one binary runs
under Clump, MPICH and Intel MPI. For Open MPI, which has an ABI of its own, they are compiled again. Every round runs every measurement
under every library before the next round begins, so that a slow spell of the machine hits all of them; what is printed is the median of
the rounds. `./dev bench` calls this.
"""

import argparse
import dataclasses
import json
import os
import platform
import signal
import statistics
import subprocess
import sys
import time
from pathlib import Path

import report

HERE = Path(__file__).resolve().parent
PROGRAMS = ["pingpong", "rate", "collectives", "startup", "memory"]
PEERS = ["mpich", "openmpi", "intel"]


@dataclasses.dataclass
class Measurement:
    name: str      # also of its program, up to the first '-'
    ranks: int
    run: object    # run(library, measurement, options) -> {(operation, bytes): seconds or bytes}

    @property
    def program(self):
        return self.name.split("-")[0]


class Failed(Exception):
    pass


class Library:
    """How one MPI library compiles and starts a program."""

    def __init__(self, name, home, programs):
        self.name, self.home, self.programs = name, home, programs
        self.environment = dict(os.environ)
        if name == "mpich":
            self.environment["LD_LIBRARY_PATH"] = f"{home}/lib"
        elif name == "intel":
            self.environment |= {"LD_LIBRARY_PATH": f"{home}/lib", "I_MPI_ROOT": str(home), "FI_PROVIDER_PATH": f"{home}/lib"}
        elif name == "openmpi":
            self.environment |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}

    def command(self, ranks, program, arguments):
        oversubscribe = ["--map-by", ":OVERSUBSCRIBE"] if self.name == "openmpi" else []
        return [f"{self.home}/bin/mpiexec", *oversubscribe, "-n", str(ranks), str(self.programs / program), *map(str, arguments)]

    def start(self, measurement, arguments=()):
        # A session of its own: what a broken launcher leaves behind can be ended with it.
        return subprocess.Popen(self.command(measurement.ranks, measurement.program, arguments), env=self.environment,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)


def finish(process, timeout):
    """The output of a run; Failed with its reason if it did not end well."""
    try:
        output, errors = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        raise Failed(f"did not end within {timeout} s") from None
    if process.returncode != 0:
        lines = [line.strip() for line in (errors + output).splitlines() if any(c.isalpha() for c in line)]
        raise Failed(f"exit code {process.returncode}" + (f": {lines[0][:160]}" if lines else ""))
    return output


def run_timed_program(library, measurement, options):
    output = finish(library.start(measurement, [options.batch_seconds]), options.timeout)
    numbers = {}
    for line in output.splitlines():
        name, size, seconds = line.split()
        numbers[name, int(size)] = float(seconds)
    return numbers


def run_startup(library, measurement, options):
    """Wall time of mpiexec; the shortest of three, because anything else on the machine only adds."""
    times = []
    for _ in range(3):
        begin = time.perf_counter()
        finish(library.start(measurement), options.timeout)
        times.append(time.perf_counter() - begin)
    return {("startup", 0): min(times)}


def descendants(pid):
    """pid and all processes below it."""
    parents = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except (FileNotFoundError, ProcessLookupError):
                continue
    found = [pid]
    for candidate in found:
        found += [child for child, parent in parents.items() if parent == candidate]
    return found


def proportional_set_size(pid):
    """Bytes of memory of a process, shared pages divided by the number of those that share them."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except (FileNotFoundError, ProcessLookupError):
        return 0
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:"))


def run_memory(library, measurement, options):
    """PSS of all processes of the job, mpiexec and its helpers included, per rank."""
    process = library.start(measurement, [3])
    for line in process.stdout:
        if line.strip() == "ready":
            total = sum(map(proportional_set_size, descendants(process.pid)))
            finish(process, options.timeout)
            return {("memory", 0): total / measurement.ranks}
    finish(process, options.timeout)
    raise Failed("ended without having said 'ready'")


MEASUREMENTS = [
    Measurement("pingpong-2", 2, run_timed_program),
    Measurement("pingpong-16", 16, run_timed_program),
    Measurement("rate-2", 2, run_timed_program),
    Measurement("rate-16", 16, run_timed_program),
    Measurement("collectives-2", 2, run_timed_program),
    Measurement("collectives-16", 16, run_timed_program),
    Measurement("startup-2", 2, run_startup),
    Measurement("startup-16", 16, run_startup),
    Measurement("startup-64", 64, run_startup),
    Measurement("memory-64", 64, run_memory),
]


def compile_programs(compiler, folder):
    folder.mkdir(parents=True, exist_ok=True)
    environment = dict(os.environ, PATH=f"{compiler.parent}:{os.environ['PATH']}")
    for program in PROGRAMS:
        source, target = HERE / f"{program}.c", folder / program
        newest = max(source.stat().st_mtime, (HERE / "measure.h").stat().st_mtime)
        if not target.exists() or target.stat().st_mtime < newest:
            subprocess.run([compiler, "-O2", source, "-o", target], env=environment, check=True)
    return folder


def libraries(options):
    standard = compile_programs(options.peers_dir / "mpich/bin/mpicc_abi", options.out / "programs-abi")
    found = [Library("clump", options.build, standard)]
    for peer in options.peers:
        programs = standard
        if peer == "openmpi":
            programs = compile_programs(options.peers_dir / "openmpi/bin/mpicc", options.out / "programs-openmpi")
        found.append(Library(peer, options.peers_dir / peer, programs))
    return found


def describe_machine():
    model = next((line.partition(":")[2].strip() for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")),
                 platform.machine())
    return f"{len(os.sched_getaffinity(0))} cores of {model}, Linux {platform.release()}"


def measure(all_libraries, wanted, options):
    """{(measurement, operation, bytes): {library: [value, ...]}} and {(measurement, library): reason}."""
    values, failures = {}, {}
    for round_number in range(options.rounds):
        for measurement in wanted:
            print(f"    round {round_number + 1} of {options.rounds}: {measurement.name}", flush=True)
            shift = round_number % len(all_libraries)
            for library in all_libraries[shift:] + all_libraries[:shift]:
                if (measurement.name, library.name) in failures:
                    continue
                try:
                    numbers = measurement.run(library, measurement, options)
                except Failed as failure:
                    failures[measurement.name, library.name] = str(failure)
                    print(f"      {library.name} failed: {failure}", flush=True)
                    continue
                for (operation, size), number in numbers.items():
                    values.setdefault((measurement.name, operation, size), {}).setdefault(library.name, []).append(number)
    return values, failures


def parse_options():
    def names(text):
        return [] if text == "none" else text.split(",")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, help="our build directory")
    parser.add_argument("--peers-dir", type=Path, help="where the other libraries are installed, a folder each")
    parser.add_argument("--out", type=Path, help="where programs, table and numbers go")
    parser.add_argument("--quick", action="store_true", help="one round, short batches")
    parser.add_argument("--rounds", type=int)
    parser.add_argument("--only", type=names, help="measurements, separated by commas")
    parser.add_argument("--peers", type=names, default=PEERS, help="libraries beside ours, separated by commas; none for ours alone")
    parser.add_argument("--list", action="store_true", help="print the names of the measurements")
    options = parser.parse_args()
    known = [measurement.name for measurement in MEASUREMENTS]
    if options.list:
        print("\n".join(known))
        sys.exit(0)
    for what, given, choices in (("measurement", options.only or [], known), ("library", options.peers, PEERS)):
        for name in given:
            if name not in choices:
                parser.error(f"unknown {what} '{name}'; there are {', '.join(choices)}")
    if None in (options.build, options.peers_dir, options.out):
        parser.error("--build, --peers-dir and --out are needed; './dev bench' gives them")
    options.rounds = options.rounds or (1 if options.quick else 5)
    options.batch_seconds = 0.02 if options.quick else 0.1
    options.timeout = 120
    return options


def main():
    options = parse_options()
    wanted = [m for m in MEASUREMENTS if options.only is None or m.name in options.only]
    found = libraries(options)
    begin = time.time()
    values, failures = measure(found, wanted, options)
    medians = {key: {name: statistics.median(numbers) for name, numbers in by_library.items()} for key, by_library in values.items()}
    heading = f"{describe_machine()}; medians of {options.rounds} rounds; {time.strftime('%Y-%m-%d')}"
    table = report.markdown(heading, [library.name for library in found], medians, failures)
    (options.out / "results.md").write_text(table)
    (options.out / "results.json").write_text(json.dumps({
        "machine": describe_machine(), "date": time.strftime("%Y-%m-%dT%H:%M:%S"), "rounds": options.rounds,
        "seconds": round(time.time() - begin), "unit": "seconds per operation; memory: bytes per rank",
        "values": [{"measurement": key[0], "operation": key[1], "bytes": key[2], "libraries": by_library}
                   for key, by_library in values.items()],
        "failures": [{"measurement": key[0], "library": key[1], "reason": reason} for key, reason in failures.items()],
    }, indent=1) + "\n")
    print(table)
    print(f"written to {options.out}/results.md and results.json")
    return 1 if any(library == "clump" for _, library in failures) else 0


if __name__ == "__main__":
    sys.exit(main())
