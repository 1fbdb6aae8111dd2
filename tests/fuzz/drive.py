#!/usr/bin/env python3
"""Runs parts of the fuzzer in many ways, and makes the plan of a seed that fails smaller.

    CLUMP_BUILD=build/release drive.py PART... [--rounds N | --seconds S] [--ways NAME+...] [--without KIND,...] [--table]

--rounds N     N batches of seeds in each way (default 1), from the seed of tests/launcher/seed.py: CLUMP_TEST_SEED chooses another one
--seconds S    batches in ways drawn at random, until the time is over
--ways         only these; --list prints them all
--without      these kinds of steps are left out (the programs' without=)
--words        more words for the programs: "plan=1"
--huge         part large moves 2 GB, too
--keep-going   all that fails, not the first only; with --seconds
--table        how many seeds and steps have passed in each way, at the end

With CLUMP_CLUSTER, the folder of hosts h0 to h3 of ../cluster/hosts.sh, the ways are those of several hosts, and without it those of one.

A batch is one job with several seeds. A seed that fails runs again, alone; what still fails is run with fewer ranks, threads, steps and bytes. The
smallest that fails is printed with its plan and its command line. A part whose failure does not come again is a failure all the same.
"""

import argparse
import collections
import os
import pathlib
import random
import re
import shlex
import subprocess
import sys
import tempfile
import time
from typing import NamedTuple

TESTS = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(TESTS / "launcher"), str(TESTS / "cluster")]
import hosts as cluster  # noqa: E402
import seed as test_seed  # noqa: E402

BUILD = pathlib.Path(os.environ.get("CLUMP_BUILD", "build/release")).resolve()
BIN = BUILD / "bin"
CLUSTER = os.environ.get("CLUMP_CLUSTER", "")
LIMIT = 60  # seconds of a batch, which takes few
ALONE = 20  # seconds of a seed alone
SHRINKING = 120  # seconds for a smaller plan
TRIES = 3  # how often a smaller plan has to pass before it counts as passing

PARTS = {"p2p": 5, "coll": 5, "rma": 10, "files": 5, "cycle": 15, "threads": 3, "beside": 2, "errors": 10, "rounding": 8, "large": 3, "sessions": 4}
REDUCING = {"coll", "rounding"}
# Parts that are about threads of ranks: --seed refuses these.
WITHOUT_SEED = {"threads", "beside"}


class Way(NamedTuple):
    """options of mpiexec, words for the program, variables; parts: only these."""

    options: tuple = ()
    words: tuple = ()
    parts: frozenset = frozenset(PARTS)
    special: str = ""


LIMITS = "limits"
SEEDED = "seed"
HOSTS = "hosts"
# Parts that look at one process, or at the memory of one machine, are not for hosts.
OF_HOSTS = frozenset({"p2p", "coll", "rma", "files", "cycle", "threads", "sessions"})
CHECKED = ("check=1",)
WAYS = {
    "fibers": Way(),
    "one worker": Way(("--workers", "1")),
    "four workers": Way(("--workers", "4")),
    "threads": Way(("--ranks", "threads")),
    "processes": Way(("--ranks", "processes")),
    "pairs": Way(("--per-process", "2")),
    "pairs as threads": Way(("--per-process", "2", "--scheduler", "threads")),
    "check": Way(("--check=error",), CHECKED),
    "check, processes": Way(("--check=error", "--ranks", "processes"), CHECKED),
    "check, pairs": Way(("--check=error", "--per-process", "2"), CHECKED),
    "seed": Way((), ("threads=1",), frozenset(PARTS) - WITHOUT_SEED, SEEDED),
    "seed, check": Way(("--check=error",), (*CHECKED, "threads=1"), frozenset(PARTS) - WITHOUT_SEED, SEEDED),
    "limits": Way((), (), frozenset(PARTS), LIMITS),
    "limits, processes": Way(("--ranks", "processes"), (), frozenset(PARTS), LIMITS),
    "reproducible": Way(("--reproducible", "--per-process", "3"), (), frozenset(REDUCING)),
    "profile": Way(("--profile=profile",)),
    "trace, processes": Way(("--trace", "trace.json", "--ranks", "processes")),
    "malloc of libc": Way(("--malloc", "libc")),
    "many": Way((), (), frozenset(PARTS), "many"),
    "algorithms": Way((), (), frozenset({"coll"}), "algorithms"),
    "algorithms, pairs": Way(("--per-process", "2"), (), frozenset({"coll"}), "algorithms"),
    "algorithms, processes": Way(("--ranks", "processes"), (), frozenset({"coll"}), "algorithms"),
    "rules": Way((), (), frozenset({"coll"}), "rules"),
    "beside fast": Way((), (), frozenset({"rounding"}), "fast"),
    "hosts": Way((), (), OF_HOSTS, HOSTS),
    "hosts, threads": Way(("--ranks", "threads"), (), OF_HOSTS, HOSTS),
    "hosts, processes": Way(("--ranks", "processes"), (), OF_HOSTS, HOSTS),
    "hosts, pairs": Way(("--per-process", "2"), (), OF_HOSTS, HOSTS),
    "hosts, limits": Way(("-x", "CLUMP_EAGER_LIMIT=64", "-x", "CLUMP_UNEXPECTED_LIMIT=1048576"), (), OF_HOSTS, HOSTS),
    "hosts, check": Way(("--check=error",), CHECKED, OF_HOSTS, HOSTS),
}


class Run(NamedTuple):
    """One job: what is varied to make it smaller."""

    part: str
    options: tuple
    words: tuple
    ranks: int
    seed: int
    seeds: int = 1
    steps: tuple = ()
    bytes: int = 0
    threads: int = 0

    def command(self, plan=False):
        words = [str(self.seed), str(self.seeds), *self.words]
        if self.steps:
            words.append("steps=" + ",".join(map(str, self.steps)))
        words += [f"bytes={self.bytes}"] if self.bytes else []
        words += [f"threads={self.threads}"] if self.threads else []
        words += ["plan=1"] if plan else []
        program = [str(BIN / f"fuzz_{self.part}"), *words]
        first = []
        if "fast=1" in self.words:  # beside a program that was linked with -ffast-math
            first = ["-n", "1", str(BIN / "fuzz_rounding_fast"), *words, ":"]
        mpiexec = cluster.Hosts(CLUSTER).on("h0", BIN / "mpiexec") if CLUSTER else [str(BIN / "mpiexec")]
        return [*mpiexec, *self.options, "--timeout", str(LIMIT if self.seeds > 1 else ALONE), *first, "-n", str(self.ranks), *program]


class Result(NamedTuple):
    code: int
    out: str
    seed: int  # the last one that began
    seeds: int
    steps: int
    seconds: float


def run(job, folder, plan=False):
    begin = time.monotonic()
    try:
        done = subprocess.run(job.command(plan), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", cwd=folder, timeout=LIMIT + 30)
        code, out = done.returncode, done.stdout
    except subprocess.TimeoutExpired as late:
        code, out = 124, (late.stdout or b"").decode(errors="replace")
    begun = re.findall(r"^seed (\d+) steps (\d+)", out, re.M)
    last, steps = int(begun[-1][0]) if begun else job.seed, sum(int(words[1]) for words in begun)
    return Result(code, out, last, len(begun), steps, time.monotonic() - begin)


def algorithms():
    """The names of --coll, as clump info --coll lists them."""
    out = subprocess.run([str(BIN / "clump"), "info", "--coll"], stdout=subprocess.PIPE, text=True, check=True).stdout
    found, name = {}, ""
    for line in out.splitlines():
        match = re.fullmatch(r"(\w+| ) {2,}(\S.*)", line)
        if not match:
            continue
        name = match[1].strip() or name
        how = re.split(r" {2,}", match[2])[0].strip()
        if name != "neighbours":  # these have no choice
            found.setdefault(name, set()).add(how.lower().replace(" ", "_").replace("-", "_"))
    for reductions in ("reduce", "allreduce"):
        found.setdefault(reductions, set()).add("ring")
    return {name: sorted(ways) for name, ways in found.items()}


def chosen(draw):
    """What --coll is: of one algorithm wherever it can be, or any for some collectives."""
    known = algorithms()
    one = draw.choice(sorted({way for ways in known.values() for way in ways}))
    how = {name: one for name, ways in known.items() if one in ways}
    for name in draw.sample(sorted(known), draw.choice([0, 2, len(known)])):
        how.setdefault(name, draw.choice(known[name]))
    return ",".join(f"{name}={way}" for name, way in how.items())


def rules(draw, folder):
    """A file of rules: for some collectives another algorithm for small data, from messages."""
    path = pathlib.Path(folder) / "rules"
    lines = []
    for name, ways in algorithms().items():
        simple = [way for way in ways if way in ("direct", "binomial_tree", "chain", "dissemination", "recursive_doubling", "ring", "prefix_doubling")]
        if simple and name != "barrier":
            commutes = ", the operation commutes" if "reduce" in name else ""
            lines.append(f"{name}  {draw.choice(simple).replace('_', ' ')}  from 2 ranks, below {draw.choice([1, 64])} KiB{commutes}")
    path.write_text("\n".join(lines) + "\n")
    return str(path)


def batch(part, way, draw, folder):
    """A job in this way."""
    options, words, special = list(way.options), list(way.words), way.special
    ranks = draw.choice([1, 2, 2, 3, 3, 4, 4, 5, 6, 7, 8, 9])
    if special == "many":
        ranks = draw.choice([12, 16, 17, 24, 30])
    if special == SEEDED:
        options += ["--seed", str(draw.randint(1, 10**6))]
    if special == LIMITS:
        for name, values in (("EAGER", (0, 1, 64, 1024, 1048576)), ("UNEXPECTED", (1048576,)), ("LANE", (0, 64, 1024, 131072))):
            options += ["-x", f"CLUMP_{name}_LIMIT={draw.choice(values)}"]
    if special == "algorithms":
        options += ["--coll", chosen(draw)]
    if special == "rules":
        options += ["--coll-rules", rules(draw, folder)]
    if special == "fast":
        words.append("fast=1")
    seeds = PARTS[part]
    if special == HOSTS:
        slots = [draw.choice([1, 1, 2, 3]) for _ in range(draw.randint(2, 4))]
        ranks = sum(slots)
        names = ",".join(f"h{host}:{number}" for host, number in zip(draw.sample(range(4), len(slots)), slots))
        options += ["--host", names]
        words.append(f"hosts={names}")
        seeds = (seeds + 2) // 3
    if part == "cycle" and (special == HOSTS or not any(word.split("=")[0] in ("processes", "--per-process", "--seed", "--profile", "--trace") for word in options)):
        words.append("spawn=1")  # of ranks that share one process; over hosts as a job of its own
    return Run(part, tuple(options), tuple(words), ranks, draw.randint(1, 10**8), seeds)


def fails(job, folder, until):
    """The result of a failing run, of as many as the time allows."""
    for _ in range(TRIES):
        result = run(job, folder)
        if result.code != 0:
            return result
        if time.monotonic() > until:
            return None
    return None


def smaller(job, steps):
    """Runs that are smaller than this one, the smallest of each kind first."""
    for ranks in sorted({1, 2, 3, job.ranks // 2, job.ranks - 1}):
        if 0 < ranks < job.ranks:
            yield job._replace(ranks=ranks)
    if "threads=1" not in job.words:
        for threads in (1, 2, 3):
            if not job.threads or threads < job.threads:
                yield job._replace(threads=threads)
    size = len(steps)
    piece = size
    while size > 1 and piece > 1:
        piece = (piece + 1) // 2
        for begin in range(0, size, piece):
            yield job._replace(steps=tuple(steps[begin:begin + piece]))
            yield job._replace(steps=tuple(steps[:begin] + steps[begin + piece:]))
    for most in (1, 64, 4096, 65536):
        if not job.bytes or most < job.bytes:
            yield job._replace(bytes=most)


def shrunken(job, result, folder):
    until = time.monotonic() + SHRINKING
    tried = set()
    changed = True
    while changed and time.monotonic() < until:
        changed = False
        count = max([int(steps) for steps in re.findall(r"^seed \d+ steps (\d+)", result.out, re.M)] or [1])
        for next_job in smaller(job, job.steps or tuple(range(count))):
            if next_job in tried or not (next_job.steps or next_job.steps == job.steps) or time.monotonic() > until:
                continue
            tried.add(next_job)
            failed = fails(next_job, folder, until)
            if failed:
                job, result, changed = next_job, failed, True
                break
    return job, result


def essence(out):
    """What a failure says, without the steps and seeds before it."""
    lines = [line for line in out.splitlines() if not re.match(r"seed \d+ steps|  step \d+:", line)]
    return "\n".join(lines[:25])


def explain(job, result, folder):
    """Prints the smallest run that fails like this batch."""
    print(f"FAILED: {job.part}, {job.ranks} ranks, seed {result.seed}, exit code {result.code}\n  {shlex.join(job.command())}\n{essence(result.out)}", flush=True)
    alone = job._replace(seed=result.seed, seeds=1)
    failed = fails(alone, folder, time.monotonic() + SHRINKING)
    if not failed:
        print(f"alone, seed {result.seed} passes {TRIES} times", flush=True)
        return
    small, _ = shrunken(alone, failed, folder)
    last = run(small, folder, plan=True)
    for _ in range(2 * TRIES):
        if last.code != 0:
            break
        last = run(small, folder, plan=True)
    plan = "\n".join(line for line in last.out.splitlines() if line.startswith("  step "))
    print(f"the smallest plan that fails:\n{plan}\n{essence(last.out)}\nto run it again, in a folder for its files:\n  {shlex.join(small.command(plan=True))}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--ways", default="")
    parser.add_argument("--without", default="")
    parser.add_argument("--huge", action="store_true")
    parser.add_argument("--words", default="")
    parser.add_argument("--keep-going", action="store_true")
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--list", action="store_true")
    args = parser.parse_args()
    if args.list:
        print("\n".join(WAYS))
        return 0
    names = args.ways.split("+") if args.ways else [name for name, way in WAYS.items() if (way.special == HOSTS) == bool(CLUSTER)]
    for unknown in set(args.parts) - set(PARTS) | set(names) - set(WAYS):
        parser.error(f"{unknown}: no such part or way; parts are {', '.join(PARTS)}; --list has the ways")
    draw = random.Random(test_seed.seed(20261128))
    begin, failures = time.monotonic(), 0
    table = collections.defaultdict(lambda: [0, 0, 0])
    todo = [(part, name) for part in args.parts or PARTS for name in names if part in WAYS[name].parts]

    def jobs():
        if args.seconds is None:
            yield from todo * args.rounds
        while args.seconds is not None and time.monotonic() - begin < args.seconds:
            yield draw.choice(todo)

    with tempfile.TemporaryDirectory(prefix="clump-fuzz-") as folder:
        for part, name in jobs():
            job = batch(part, WAYS[name], draw, folder)
            if args.huge and part == "large" and job.ranks < 4:
                job = job._replace(words=(*job.words, "huge=1"))
            if args.words:
                job = job._replace(words=(*job.words, *args.words.split()))
            if args.without:
                job = job._replace(words=(*job.words, f"without={args.without}"))
            result = run(job, folder)
            row = table[part, name]
            row[0] += result.seeds - (result.code != 0 and result.seeds > 0)
            row[1] += result.steps
            row[2] += result.code != 0
            if result.code == 0:
                continue
            failures += 1
            print(f"way: {name}; {time.monotonic() - begin:.1f} s and {sum(r[0] for r in table.values())} seeds after the start")
            if not args.keep_going:
                explain(job, result, folder)
                break
            print(f"FAILED: {shlex.join(job._replace(seed=result.seed, seeds=1).command())}\n{essence(result.out)}", flush=True)
    seconds = time.monotonic() - begin
    for (part, name), (seeds, steps, bad) in sorted(table.items() if args.table else ()):
        print(f"{part:9} {name:22} {seeds:6} seeds {steps:7} steps {bad:3} failed batches")
    seeds, steps = (sum(row[i] for row in table.values()) for i in (0, 1))
    print(f"{seeds} seeds, {steps} steps, {failures} failed batches in {seconds:.0f} s")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
