"""The page docs/known-failures.md: what was tried, each failure that is left, and what was looked for. Its data are in tests/real: tried.csv,
known_failures.csv, looked_for.csv, and the lists of tests that the runs there leave out, with their reasons."""

import csv
from pathlib import Path
from typing import Dict, List, Tuple

ROOT = Path(__file__).resolve().parents[2]
REAL = ROOT / "tests" / "real"
LISTS = {"MPICH's tests": "mpich_differences.txt", "mpi4py": "mpi4py_differences.txt"}


def rows(name: str) -> List[Dict[str, str]]:
    with open(REAL / name, newline="") as file:
        return list(csv.DictReader(file))


def left_out(name: str) -> List[Tuple[str, str]]:
    """The entries of a list: a pattern of tests, and why. '!' and the way that they hold for stay with the pattern."""
    lines = [line for line in (REAL / name).read_text().splitlines() if line and not line.startswith("#")]
    return [(pattern, why) for pattern, why in (line.split(None, 1) for line in lines)]


def code(pattern: str) -> str:
    """In two parts where it is long, so that a table may break the line between them."""
    head, dot, tail = pattern.rpartition(".")
    return f"`{head}` `{dot}{tail}`" if len(pattern) > 36 and head else f"`{pattern}`"


def cell(text: str) -> str:
    return text.replace("|", "\\|")


def table(titles: Tuple[str, ...], lines) -> List[str]:
    return ["| " + " | ".join(titles) + " |", "|" + "---|" * len(titles), *("| " + " | ".join(map(cell, line)) + " |" for line in lines)]


def page(note: str) -> str:
    tried, failures = rows("tried.csv"), rows("known_failures.csv")
    text = ["# Known failures", "", note,
            "Programs and suites that were tried, and what is left of each. `./dev real` runs most of them again; [programs of others](real-programs.md) has the details. Clump's own "
            "tests (`./dev test`, `--all`, `--nightly`) are all meant to pass.",
            "", "## What was tried", "",
            *table(("program", "version", "tried", "ranks and ways", "right"), (tuple(row.values()) for row in tried)),
            "", "## What is left", "",
            "Whose it is: a *limit* is Clump's, reported as the text says; *the test* or *the program* does what MPI does not allow or does not promise.", "",
            *table(("program", "failure", "whose", "why"), (tuple(row.values()) for row in failures)),
            "", "## What was looked for", "",
            "Programs of users have shown faults of these kinds. Each kind was looked for with programs of its own, in fibers, threads, processes and two ranks a process; the tests remain.", "",
            *table(("kind", "looked for"), ((row["kind"], f"{row['looked for']}. Tests: {row['tests']}") for row in rows("looked_for.csv")))]
    for program, name in LISTS.items():
        text += ["", f"## Tests of {program} that are not counted", "",
                 f"From `tests/real/{name}`, whose head says what the signs before a pattern mean.", "",
                 *table(("tests", "why"), ((code(pattern), why) for pattern, why in left_out(name)))]  # fmt: skip
    return "\n".join(text) + "\n"
