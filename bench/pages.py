#!/usr/bin/env python3
"""Writes tables of speed into Markdown files, between two comments, from the newest of docs/results/*.json.

usage: pages.py FILE...              writes the tables
       pages.py FILE... --check      fails where they are not what would be written

Between `<!-- results: written by bench/pages.py -->` and `<!-- results: end -->` comes all that was measured; between the same with `imbalance`
for `results` what docs/results/imbalance says of examples/imbalance.c. docs/results has copies of what ./dev bench wrote (build/bench/results.json): one for each machine and day that is worth to be kept."""

import argparse
import json
import re
import signal
import statistics
import sys
import time
from pathlib import Path

import report

RESULTS = Path(__file__).resolve().parent.parent / "docs" / "results"
MARKED = re.compile(r"(<!-- (results|imbalance): written by bench/pages\.py -->\n).*?(<!-- \2: end -->)", re.DOTALL)
NAMES = {"mpich": "MPICH", "openmpi": "Open MPI", "intel": "Intel MPI"}


def newest(folder):
    return max(folder.glob("*.json"), key=lambda file: (json.loads(file.read_text())["date"], file.name))


def medians_of(results):
    return {(value["measurement"], value["operation"], value["bytes"]):
            {name: statistics.median(numbers) for name, numbers in value["libraries"].items()} for value in results["values"]}


def heading(results):
    day = time.strptime(results["date"][:10], "%Y-%m-%d")
    rounds = "one round" if results["rounds"] == 1 else f"medians of {results['rounds']} rounds"
    return f"{results['machine']}; {day.tm_mday} {time.strftime('%B %Y', day)}, {rounds}."


def whole_table(results):
    medians = medians_of(results)
    names = [name for name in ("clump", *NAMES) if any(name in by_library for by_library in medians.values())]
    failures = {(failure["measurement"], failure["library"]): failure["reason"] for failure in results["failures"]}
    _, _, table = report.markdown("", names, medians, failures).partition("\n\n\n")
    return f"{heading(results)}\n\n{table.strip()}"


def imbalance_table(results):
    """How many times the perfect balance of its work an iteration takes; cores: those of each measurement."""
    medians = medians_of(results)
    names = [name for name in ("clump", *NAMES) if any(name in by_library for by_library in medians.values())]
    lines = ["| ranks | longest rank's work | " + " | ".join(NAMES.get(name, "Clump") for name in names) + " |", "|---|---|" + "---|" * len(names)]
    for ranks, times in sorted((int(measurement.rpartition("-")[2]), times) for (measurement, operation, _), times in medians.items() if operation == "balance"):
        longest = medians[f"imbalance-{ranks}", "longest", 0]
        cells = [f"{times[name]:.2f}" if name in times else "failed" for name in names]
        lines.append(f"| {ranks} | {statistics.median(longest.values()):.2f} | " + " | ".join(cells) + " |")
    return "\n".join([*lines, "", f"Work and times are multiples of the perfect balance: all work divided by the number of cores. {heading(results)}"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    results = json.loads(newest(RESULTS).read_text())
    tables = {"results": whole_table(results), "imbalance": imbalance_table(json.loads(newest(RESULTS / "imbalance").read_text()))}
    differ = False
    for file in options.files:
        old = file.read_text()
        new, found = MARKED.subn(lambda match: match[1] + tables[match[2]] + "\n" + match[3], old)
        if found == 0:
            sys.exit(f"pages.py: {file} has no line '<!-- results: written by bench/pages.py -->' and none that ends the table")
        if new == old:
            continue
        differ = True
        if options.check:
            print(f"{file}: its table is not that of docs/results; './dev docs --update' writes it again")
        else:
            file.write_text(new)
            print(f"written: {file}")
    return 1 if options.check and differ else 0


if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # so that `head` ends it without a word
    sys.exit(main())
