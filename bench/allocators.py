#!/usr/bin/env python3
"""Measures the two allocators that a rank can have, for ranks that share a process and for ranks that are processes, in turn: first touch of
fresh memory, the block matrix product, Jacobi, and HPCC if `./dev real --build hpcc` was called. Prints medians, and each way's time as a
multiple of the first one's, and writes them to allocators.md. `./dev bench --allocators` calls this.
"""

import argparse
import os
from pathlib import Path

from libraries import Library, compile_programs, finish  # which says where clump_lab is
from clump_lab import printing  # noqa: I001
from measurements import JACOBI, MATMUL, Measurement, numbers_in, run_example
from overhead import HPCC_ORDER, report, run_hpcc

RANKS = (1, 2, 16, 64)
MEGABYTES = {1: 256, 2: 128, 16: 32, 64: 16}  # a rank
BLOCKS = ("4096", "65536", "1048576")
WAYS = {  # the first one is what the others are compared with
    "processes, libc": ["--ranks", "processes", "--malloc", "libc"],
    "fibers, mimalloc": ["--ranks", "fibers", "--malloc", "mimalloc"],
    "fibers, libc": ["--ranks", "fibers", "--malloc", "libc"],
    "processes, mimalloc": ["--ranks", "processes", "--malloc", "mimalloc"],
}


def run_first_touch(library, measurement, options):
    return numbers_in(finish(library.start(measurement, measurement.arguments), options.timeout).splitlines())


def measurements(cores):
    found = []
    for ranks in RANKS:
        found.append(Measurement(f"first-touch-{ranks}", "first_touch", run_first_touch, (str(MEGABYTES[ranks]), *BLOCKS), cores))
    for ranks in RANKS:
        found.append(Measurement(f"matmul-{ranks}", "matmul", run_example, MATMUL, cores))
        found.append(Measurement(f"jacobi-{ranks}", "jacobi", run_example, JACOBI, cores))
    for rows, columns in ((1, 1), (1, 2), (4, 4), (8, 8)):
        found.append(Measurement(f"hpcc-{rows * columns}", "hpcc", run_hpcc, (HPCC_ORDER, str(rows), str(columns)), cores))
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, required=True, help="our build directory")
    parser.add_argument("--hpcc", type=Path, required=True, help="where HPCC is, if it is")
    parser.add_argument("--out", type=Path, required=True, help="where programs and table go")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", default="", help="measurements, separated by commas")
    options = parser.parse_args()
    options.batch_seconds, options.timeout = 0.1, 240
    programs = compile_programs({".c": options.build / "bin/mpicc", ".cc": options.build / "bin/mpicxx"}, options.out / "programs-own")
    ways = {way: Library("clump", options.build, programs, words) for way, words in WAYS.items()}
    wanted = [each for each in measurements(len(os.sched_getaffinity(0))) if not options.only or each.name in options.only.split(",")]
    report("allocators", ways, wanted, options)


if __name__ == "__main__":
    printing.run(main)
