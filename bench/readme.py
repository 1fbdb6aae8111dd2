#!/usr/bin/env python3
"""Writes the table of speed in README.md, between two comments, from the newest of docs/results/*.json.

usage: readme.py README.md              writes the table
       readme.py README.md --check      fails where it is not what would be written

docs/results has copies of what ./dev bench wrote (build/bench/results.json): one for each machine and day that is worth to be kept."""

import argparse
import json
import re
import statistics
import sys
import time
from pathlib import Path

from report import digits, ratio_text, shown_as

RESULTS = Path(__file__).resolve().parent.parent / "docs" / "results"
BEGIN, END = "<!-- speed: written by bench/readme.py -->", "<!-- speed: end -->"
NAMES = {"mpich": "MPICH", "openmpi": "Open MPI", "intel": "Intel MPI"}

# What is shown, the bad with the good: (measurement, operation, bytes) and what that is, in words.
ROWS = [
    (("pingpong-2", "pingpong", 8), "message of 8 bytes, 2 ranks"),
    (("onecore-2", "pingpong", 8), "the same, both on one core"),
    (("pingpong-2", "pingpong", 64 << 10), "messages of 64 KB"),
    (("pingpong-2", "pingpong", 4 << 20), "messages of 4 MB"),
    (("threads-2", "threads-own", 4), "small messages of 4 threads a rank"),
    (("small-16", "barrier", 0), "barrier, 16 ranks"),
    (("small-16", "allreduce", 8), "allreduce of 8 bytes, 16 ranks"),
    (("halo-16", "halo", 64), "exchange with two neighbours, 16 ranks"),
    (("matmul-2", "matmul", 0), "matrix product, 2 ranks"),
    (("matmul-8", "matmul", 0), "the same matrices, 8 ranks"),
    (("startup-64", "startup", 0), "start and end of 64 ranks"),
    (("many-16", "waiting", 0), "processor time while 16 ranks wait"),
    (("many-16", "memory", 0), "memory a rank, 16 ranks"),
]


def newest(folder):
    return max(folder.glob("*.json"), key=lambda file: (json.loads(file.read_text())["date"], file.name))


def row(key, words, medians):
    _, (unit, convert, more_is_better) = shown_as(key[1], key[2])
    shown = {name: convert(value, key[2]) for name, value in medians.items()}
    peers = {name: value for name, value in shown.items() if name in NAMES}
    best = (max if more_is_better else min)(peers, key=peers.get)
    ratio = ratio_text(shown["clump"], list(peers.values()), more_is_better)
    return f"| {words} | {digits(shown['clump'])} {unit} | {digits(peers[best])} {unit} ({NAMES[best]}) | {ratio} |"


def table(results):
    medians = {(value["measurement"], value["operation"], value["bytes"]): {name: statistics.median(numbers)
                                                                             for name, numbers in value["libraries"].items()}
               for value in results["values"]}
    day = time.strptime(results["date"][:10], "%Y-%m-%d")
    rounds = "one round" if results["rounds"] == 1 else f"medians of {results['rounds']} rounds"
    lines = ["| | Clump | best of MPICH, Open MPI and Intel MPI | times better |", "|---|---|---|---|"]
    lines += [row(key, words, medians[key]) for key, words in ROWS if len(medians.get(key, {})) > 1]
    lines.append(f"\n{results['machine']}; {day.tm_mday} {time.strftime('%B %Y', day)}, {rounds}. Below 1 another library is better.")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("readme", type=Path)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    old = options.readme.read_text()
    if BEGIN not in old or END not in old:
        sys.exit(f"readme.py: {options.readme} has no lines '{BEGIN}' and '{END}'")
    new = re.sub(f"{re.escape(BEGIN)}.*?{re.escape(END)}",
                 lambda _: f"{BEGIN}\n{table(json.loads(newest(RESULTS).read_text()))}\n{END}", old, flags=re.DOTALL)
    if options.check and new != old:
        print("the table of README.md is not that of docs/results; './dev docs --update' writes it again")
        return 1
    if new != old:
        options.readme.write_text(new)
        print(f"written: {options.readme}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
