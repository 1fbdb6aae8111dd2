"""What the rest of this package knows of a program."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Callable


@dataclass(frozen=True)
class Run:
    """What a run has left, for the program's check."""
    ranks: int
    output: str              # both of its outputs together
    folder: Path             # where it ran

    def read(self, name):
        path = self.folder / name
        return path.read_text(errors="replace") if path.exists() else ""


@dataclass(frozen=True)
class Program:
    name: str
    what: str                # a few words for the page
    origin: str              # the Debian package with its sources, or where they are here
    build: Callable          # build(place, wrapper) -> the executable; sources.Missing says what is lacking
    arguments: Callable      # arguments(ranks, inputs) -> its arguments; `inputs` is the folder of what `inputs` has made
    check: Callable          # check(Run) -> why the result is wrong, "" if it is right
    answer: Callable = lambda run: []          # numbers that have to be the same under each library
    tolerance: float = 1e-6                    # relative, of these numbers
    inputs: dict = None      # {file: function without arguments -> its text}, made once
    files: Callable = lambda ranks: {}         # {file: text} that each run finds in its folder
    fortran: bool = False    # it calls MPI in Fortran


def numbers(pattern, text):
    """What the pattern's group is, in each place where it fits."""
    return [float(found) for found in re.findall(pattern, text, re.M)]


def says(*patterns, never=None):
    """A check: the output has a line for each pattern, and none for `never`."""
    def check(run):
        wrong = re.search(never, run.output, re.M) if never else None
        if wrong:
            return wrong[0].strip()[:160]
        return next((f"its output has nothing like {pattern}" for pattern in patterns if not re.search(pattern, run.output, re.M)), "")
    return check


def grid(ranks, dimensions):
    """The most even box of ranks, the longest side first."""
    sides = [1] * dimensions
    factor, factors = 2, []
    while ranks > 1:
        while ranks % factor == 0:
            factors.append(factor)
            ranks //= factor
        factor += 1
    for factor in reversed(factors):
        sides[sides.index(min(sides))] *= factor
    return sorted(sides, reverse=True)
