#!/usr/bin/env python3
"""Measures what our own tools cost: a ping-pong, the block matrix product, Jacobi, and HPCC if `./dev real --build hpcc` was called, as they
are, under --profile, --trace and --check, in turn. Prints medians, and each way's time as a multiple of the first one's, and writes them to
overhead.md. `./dev bench --overhead` calls this.
"""

import argparse
import re
import statistics
import sys
import tempfile
from pathlib import Path

from libraries import Failed, Library, begin, compile_standard_programs, finish  # which says where clump_lab is
from clump_lab import printing  # noqa: I001
from measurements import JACOBI, MATMUL, Measurement, numbers_in, run_example
from run import describe_machine

HPCC_GRID, HPCC_ORDER = ("2", "2"), "4000"


def run_pingpong(library, measurement, options):
    """8 bytes alone: what a call costs, not what it moves."""
    numbers = numbers_in(finish(library.start(measurement, [options.batch_seconds, 8]), options.timeout).splitlines())
    return {("8 B", 0): numbers["pingpong", 8]}


def settings_of_hpcc(text, order, rows, columns):
    for name, number in (("Ns", order), ("Ps", rows), ("Qs", columns)):
        text = re.sub(rf"^\d+( +{name})$", rf"{number}\1", text, flags=re.M)
    return text


def run_hpcc(library, measurement, options):
    """Seconds of those parts that communicate, as its report gives them; of the FFT, for a floating-point operation. The measurement's
    arguments are the order of the matrix and the grid's rows and columns."""
    folder = options.hpcc.absolute()
    with tempfile.TemporaryDirectory() as there:
        (Path(there) / "hpccinf.txt").write_text(settings_of_hpcc((folder / "_hpccinf.txt").read_text(), *measurement.arguments))
        command = [f"{library.home}/bin/mpiexec", *library.options, "--wdir", there, "-n", measurement.ranks, folder / "hpcc"]
        finish(begin(command, library.environment), options.timeout)
        report = dict(re.findall(r"^(\w+)=(.*)$", (Path(there) / "hpccoutf.txt").read_text(), flags=re.M))
    if report.get("Success") != "1":
        raise Failed("its report does not end with Success=1")
    return {("HPL", 0): float(report["HPL_time"]), ("PTRANS", 0): float(report["PTRANS_time"]),
            ("MPIRandomAccess", 0): float(report["MPIRandomAccess_time"]), ("MPIFFT", 0): 1e-9 / float(report["MPIFFT_Gflops"]),
            ("ring, 8 B", 0): 1e-6 * float(report["RandomlyOrderedRingLatency_usec"])}


MEASUREMENTS = [
    Measurement("onecore-2", "pingpong", run_pingpong, cores=1),
    Measurement("pingpong-2", "pingpong", run_pingpong),
    Measurement("matmul-2", "matmul", run_example, MATMUL),
    Measurement("matmul-8", "matmul", run_example, MATMUL),
    Measurement("jacobi-2", "jacobi", run_example, JACOBI),
    Measurement("jacobi-8", "jacobi", run_example, JACOBI),
    Measurement("hpcc-4", "hpcc", run_hpcc, (HPCC_ORDER, *HPCC_GRID)),
]


def ways_in(folder):
    return {"as it is": [], "--profile": [f"--profile={folder}/profile"], "--trace": ["--trace", f"{folder}/trace.json"], "--check": ["--check"]}


def measure(libraries, measurements, options):
    """{(measurement, part): {way: [seconds, ...]}}"""
    values = {}
    for round_number in range(options.rounds):
        for measurement in measurements:
            if measurement.program == "hpcc" and not (options.hpcc / "hpcc").exists():
                continue
            print(f"    round {round_number + 1} of {options.rounds}: {measurement.name}", flush=True)
            for way, library in libraries.items():
                for (part, size), seconds in measurement.run(library, measurement, options).items():
                    name = measurement.name if part == measurement.program and not size else f"{measurement.name}, {size or part}"
                    values.setdefault(name, {}).setdefault(way, []).append(seconds)
    return values


def table(values, ways):
    lines = ["| | " + " | ".join(ways) + " |", "|---" * (len(ways) + 1) + "|"]
    for name, by_way in values.items():
        first, *others = (statistics.median(by_way[way]) for way in ways)
        lines.append(f"| {name} | {first * 1e6:.4g} µs | " + " | ".join(f"{other / first:.3f}" for other in others) + " |")
    return "\n".join(lines) + "\n"


def report(name, ways, measurements, options):
    """Measures, prints the table, and writes it to NAME.md. Ends the program if a run fails."""
    try:
        values = measure(ways, measurements, options)
    except Failed as failure:
        sys.exit(f"./dev bench --{name}: {failure}")
    text = f"{describe_machine()}; medians of {options.rounds} rounds\n\n" + table(values, list(ways))
    (options.out / f"{name}.md").write_text(text)
    print(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, required=True, help="our build directory")
    parser.add_argument("--peers-dir", type=Path, required=True, help="where MPICH's compiler of standard programs is")
    parser.add_argument("--hpcc", type=Path, required=True, help="where HPCC is, if it is")
    parser.add_argument("--out", type=Path, required=True, help="where programs and table go")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    options.batch_seconds, options.timeout = 0.1, 120
    programs = compile_standard_programs(options.peers_dir, options.out)
    with tempfile.TemporaryDirectory() as folder:
        ways = {way: Library("clump", options.build, programs, words) for way, words in ways_in(folder).items()}
        report("overhead", ways, MEASUREMENTS, options)


if __name__ == "__main__":
    printing.run(main)
