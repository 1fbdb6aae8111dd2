#!/usr/bin/env python3
"""Measures Clump and other MPI libraries in turn, and writes a table of medians and ratios (markdown) and all numbers (JSON).

Every round runs every measurement under every library before the next round begins, so that a slow spell of the machine hits all of them;
what is printed is the median of the rounds. What the machine can do without MPI (limits.cc) is measured in every round as well, and whether
its cores stay near each other (nearness.py).
`./dev bench` calls this. libraries.py says how the libraries are run, measurements.py what is measured, targets.py what is wanted;
cluster.py has all this for several hosts.
"""

import argparse
import contextlib
import functools
import json
import signal
import statistics
import sys
import time
from pathlib import Path

import cluster
import report
from libraries import PEERS, Failed, compile_limits, libraries  # which says where clump_lab is
from clump_lab import facts, printing  # noqa: I001
from measurements import COLLECTIVES, MEASUREMENTS, run_limits
from nearness import Nearness
from targets import CLUSTER_TARGETS, COLLECTIVE_TARGETS, PROCESS_TARGETS, TARGETS, measurements_for, verdicts

QUIET = 0.1  # more than this part of the machine's time for others is worth a word


def describe_machine():
    return facts.in_words(facts.describe())


def libraries_for(measurement, all_libraries, round_number):
    """Another one begins in every round."""
    shift = round_number % len(all_libraries)
    turn = all_libraries[shift:] + all_libraries[:shift]
    def takes_part(library):
        if library.name == "clump-flat":
            return measurement.also_flat
        return library.name == "clump" or not measurement.ours_alone
    return [library for library in turn if takes_part(library)]


def measure(all_libraries, wanted, limits, nearness, options):
    """{(measurement, operation, bytes): {library: [value, ...]}}, {(measurement, library): reason}, and how busy the machine was without
    us at the beginning of each round."""
    values, failures, busy = {}, {}, []

    def note(measurement, library, numbers):
        for (operation, size), number in numbers.items():
            values.setdefault((measurement, operation, size), {}).setdefault(library, []).append(number)

    for round_number in range(options.rounds):
        busy.append(facts.busy_part())
        if limits:
            note("limits", "machine", nearness.run(functools.partial(run_limits, limits, options)))
        for measurement in wanted:
            if round_number >= measurement.most_rounds:
                continue
            print(f"    round {round_number + 1} of {options.rounds}: {measurement.name}", flush=True)
            for library in libraries_for(measurement, all_libraries, round_number):
                if (measurement.name, library.name) in failures:
                    continue
                try:
                    note(measurement.name, library.name, nearness.run(functools.partial(measurement.run, library, measurement, options)))
                except Failed as failure:
                    failures[measurement.name, library.name] = str(failure)
                    print(f"      {library.name} failed: {failure}", flush=True)
    return values, failures, busy


def parse_options():
    def names(text):
        return [] if text == "none" else text.split(",")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, help="our build directory")
    parser.add_argument("--peers-dir", type=Path, help="where the other libraries are installed, a folder each")
    parser.add_argument("--out", type=Path, help="where programs, table and numbers go")
    parser.add_argument("--quick", action="store_true", help="one round, short batches")
    parser.add_argument("--shows", action="store_true", help="only what the targets need")
    other = parser.add_mutually_exclusive_group()
    other.add_argument("--cluster", action="store_true", help="between hosts, which are network namespaces; needs root")
    other.add_argument("--collectives", action="store_true", help="collective operations of all sizes, beside what the memory allows")
    parser.add_argument("--rate", default="none", help="with --cluster: what limits each host's network (tc, e.g. 1gbit)")
    parser.add_argument("--rounds", type=int)
    parser.add_argument("--only", type=names, help="measurements, separated by commas")
    parser.add_argument("--peers", type=names, help="libraries beside ours, separated by commas; none for ours alone")
    parser.add_argument("--ranks", choices=("fibers", "threads", "processes"), help="what our ranks are")
    parser.add_argument("--list", action="store_true", help="print the names of the measurements")
    options = parser.parse_args()
    options.measurements = cluster.MEASUREMENTS if options.cluster else COLLECTIVES if options.collectives else MEASUREMENTS
    known = [measurement.name for measurement in options.measurements]
    if options.list:
        print("\n".join(known))
        sys.exit(0)
    known_peers = cluster.PEERS if options.cluster else PEERS
    options.peers = known_peers if options.peers is None else options.peers
    for what, given, choices in (("measurement", options.only or [], known), ("library", options.peers, known_peers)):
        for name in given:
            if name not in choices:
                parser.error(f"unknown {what} '{name}'; there are {', '.join(choices)}")
    if None in (options.build, options.peers_dir, options.out):
        parser.error("--build, --peers-dir and --out are needed; './dev bench' gives them")
    options.rounds = options.rounds or (1 if options.quick else 3 if options.shows or options.cluster or options.collectives else 5)
    options.results = "collectives" if options.collectives else "results"
    if options.ranks not in (None, "fibers"):
        options.results += f"-{options.ranks}"
    options.targets = COLLECTIVE_TARGETS if options.collectives else PROCESS_TARGETS if options.ranks == "processes" else TARGETS
    if options.cluster:
        options.results = "cluster" if options.rate == "none" else f"cluster-{options.rate}"
        options.targets = CLUSTER_TARGETS
    options.batch_seconds = 0.02 if options.quick else 0.1
    options.timeout = 60
    return options


def is_wanted(measurement, options):
    if options.only is not None:
        return measurement.name in options.only
    if options.ranks == "processes":
        return measurement.name in measurements_for(options.targets) or not options.shows
    return measurement.for_targets or not options.shows


def write_results(options, heading, names, values, failures, seconds):
    medians = {key: {name: statistics.median(numbers) for name, numbers in by_library.items()} for key, by_library in values.items()}
    text = report.markdown(heading, names, medians, failures)
    if options.only is None or options.shows or options.cluster or options.collectives:
        text += "\n" + report.targets_table(verdicts(names, medians, options.targets))
    (options.out / f"{options.results}.md").write_text(text)
    (options.out / f"{options.results}.json").write_text(json.dumps({
        "machine": heading.partition(";")[0], "date": time.strftime("%Y-%m-%dT%H:%M:%S"), "rounds": options.rounds, "seconds": round(seconds),
        "unit": "seconds per operation; memory: bytes per rank; waiting: part of a core; hidden-*: part of the operation's time; "
                "threads-*: the number of threads stands for bytes",
        "values": [{"measurement": key[0], "operation": key[1], "bytes": key[2], "libraries": by_library}
                   for key, by_library in values.items()],
        "failures": [{"measurement": key[0], "library": key[1], "reason": reason} for key, reason in failures.items()],
    }, indent=1) + "\n")
    return text


def main():
    options = parse_options()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that what runs is ended
    wanted = [measurement for measurement in options.measurements if is_wanted(measurement, options)]
    begin, machine = time.time(), describe_machine()
    with contextlib.ExitStack() as stack:
        if options.cluster:
            try:
                hosts = stack.enter_context(cluster.make_hosts(options))
            except cluster.Unavailable as problem:
                sys.exit(f"./dev bench: {problem}")
            machine += f", {cluster.describe(hosts)}"
            found, limits = cluster.libraries(hosts, options), None
        else:
            our_options = ["--ranks", options.ranks] if options.ranks else []
            found = libraries(options.build, options.peers_dir, options.out, options.peers, our_options)
            limits = compile_limits(options.out)
        nearness = Nearness(limits or compile_limits(options.out))
        values, failures, busy = measure(found, wanted, limits, nearness, options)
    rounds = "1 round" if options.rounds == 1 else f"medians of {options.rounds} rounds"
    heading = f"{machine}; {rounds}; {time.strftime('%Y-%m-%d')}"
    if max(busy) > QUIET:
        heading += f"; NOT QUIET: others used up to {100 * max(busy):.0f} % of the machine"
    if nearness.describe():
        heading += f"; {nearness.describe()}"
    if options.ranks:
        heading += f"; clump with --ranks {options.ranks}"
    print(write_results(options, heading, [library.name for library in found], values, failures, time.time() - begin))
    print(f"written to {options.out}/{options.results}.md and {options.results}.json")
    return 1 if any(library == "clump" for _, library in failures) else 0


if __name__ == "__main__":
    printing.run(main)
