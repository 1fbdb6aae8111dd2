#!/usr/bin/env python3
"""Tables about the kernels in this folder from `mpiexec --profile` alone, in Markdown: efficiency, computation and communication by number of
ranks (Figures 1 to 5 of paper 003), messages between and inside nodes of 2 and 4 ranks (its Table 3), sizes of messages (its Figures 7 and 8).

    python3 lab/nas/profiles.py --bin build/release/bin --class S
"""

import argparse
import json
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
# Table 3 of paper 003: {(kernel, ranks of a node): outside and inside, of a processor, on 4, 8 and 16}.
PRINTED = {("mg", 2): ("2:3", "4:1", "6:1"), ("cg", 2): ("1:2", "2:3", "3:2"), ("mg", 4): ("0:8", "4:4", "8:4"), ("cg", 4): ("0:5", "2:6", "3:5")}


def profile(options, kernel, ranks, *how):
    """The profile of one run, whose result must be the specification's."""
    path = options.folder / f"{kernel}.{ranks}.{'.'.join(how)}.json"
    done = subprocess.run([options.bin / "mpiexec", f"--profile={path}", *how, "-n", str(ranks), options.folder / kernel, options.size],
                          capture_output=True, text=True, check=False, timeout=options.timeout)
    if done.returncode != 0 or "verification: successful" not in done.stdout:
        sys.exit(f"{kernel} on {ranks} ranks did not verify (exit code {done.returncode}):\n{done.stdout}{done.stderr}")
    return json.loads(path.read_text())


def mean(found, *parts):
    """Seconds of a rank in these parts of its time; in all of it if none is named."""
    return sum(sum(rank["times"][part] for part in parts) if parts else rank["seconds"] for rank in found["ranks"]) / len(found["ranks"])


def efficiency(found):
    """Lines of a table, a row for each number of ranks. `found`: {ranks: profiles}; of each time the least counts."""
    yield "| ranks | time, s | efficiency | computing | all ranks' computing to that of one | in MPI | of that waiting | waiting for a core |"
    yield "|---|---|---|---|---|---|---|---|"
    first = min(found)
    best = {ranks: min(profiles, key=mean) for ranks, profiles in found.items()}
    for ranks, one in best.items():
        total, compute = mean(one), mean(one, "compute")
        inside = mean(one, "messages", "completion", "collectives", "other", "waiting")
        work = ranks * compute / (first * mean(best[first], "compute"))
        yield (f"| {ranks} | {total:.3f} | {first * mean(best[first]) / (ranks * total):.2f} | {compute:.3f} | {work:.2f} | {inside:.3f} | "
               f"{mean(one, 'waiting'):.3f} | {mean(one, 'no_core'):.3f} |")


def crossings(found):
    """Messages between and inside nodes, of all ranks."""
    inside = found["distances"]["within_process"]["messages"]
    return sum(way["messages"] for way in found["distances"].values()) - inside, inside


def sizes(found):
    """Lines: how many messages of which sizes, by number of ranks."""
    classes = {ranks: {} for ranks in found}
    for ranks, profiles in found.items():
        for rank in profiles[0]["ranks"]:
            for least, number, _ in rank["message_sizes"]:
                classes[ranks][least] = classes[ranks].get(least, 0) + number
    every = sorted({least for of_ranks in classes.values() for least in of_ranks})
    yield "| ranks | " + " | ".join(f"{least} B" if least < 1024 else f"{least // 1024} KiB" for least in every) + " |"
    yield "|---|" + "---|" * len(every)
    for ranks, counted in classes.items():
        yield f"| {ranks} | " + " | ".join(f"{counted[least]:,}" if least in counted else "" for least in every) + " |"


def report(options):
    """Lines of Markdown, as they come."""
    for kernel in options.kernels:
        subprocess.run([options.bin / "mpifort", "-O3", "-g", "-J", options.folder, HERE / f"{kernel}.f90", "-o", options.folder / kernel], check=True)
    found = {kernel: {} for kernel in options.kernels}
    for _ in range(options.runs):  # in turns
        for kernel in options.kernels:
            for ranks in options.ranks:
                found[kernel].setdefault(ranks, []).append(profile(options, kernel, ranks))
    for kernel, profiles in found.items():
        yield from ["", f"**{kernel.upper()}, class {options.size}**, the best of {options.runs} runs", "", *efficiency(profiles)]
    for kernel, profiles in found.items():
        yield from ["", f"**{kernel.upper()}, class {options.size}: messages by size**, each column up to the next one's size", "", *sizes(profiles)]
    numbers = [ranks for ranks in options.ranks if ranks in (4, 8, 16)]
    yield from ["", "**Messages outside : inside of nodes**, of all ranks; in brackets the paper's, of a processor", ""]
    yield "| kernel, ranks of a node | " + " | ".join(f"{ranks} ranks" for ranks in numbers) + " |"
    yield "|---|" + "---|" * len(numbers)
    for kernel in options.kernels:
        for node in 2, 4:
            cells = []
            for ranks in numbers:
                outside, inside = crossings(profile(options, kernel, ranks, "--per-process", str(node)))
                printed = PRINTED.get((kernel, node))
                cells.append(f"{outside:,} : {inside:,}" + (f" ({printed[(4, 8, 16).index(ranks)]})" if printed else ""))
            yield f"| {kernel.upper()}, {node} | " + " | ".join(cells) + " |"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=Path, required=True, help="the folder of mpiexec and mpifort")
    parser.add_argument("--class", dest="size", default="S", help="of the problem: S, W or A")
    parser.add_argument("--kernels", nargs="+", default=["cg", "mg"], choices=sorted(path.stem for path in HERE.glob("*.f90")))
    parser.add_argument("--ranks", nargs="+", type=int, default=[1, 2, 4, 8, 16])
    parser.add_argument("--runs", type=int, default=3, help="of each, in turns")
    parser.add_argument("--timeout", type=float, default=600, help="seconds of a run")
    options = parser.parse_args()
    options.bin = options.bin.resolve()
    with tempfile.TemporaryDirectory() as folder:
        options.folder = Path(folder)
        for line in report(options):
            print(line, flush=True)


if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # so that `head` ends it without a word
    main()
